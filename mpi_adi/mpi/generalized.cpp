// Generalized requests (MPI 4.0, 13.2).
#include "mpi_adi/request/generalized.hpp"

#include "mpi_adi/mpi/binding.hpp"
#include "mpi_adi/mpi/own_call.hpp"

using namespace margay::mpi_adi;

namespace {

// The living generalized request, or nullptr and an error.
UserRequest* find(Call& call, MPI_Request handle, GeneralizedRequest*& generalized) {
  UserRequest* const found = call.request(handle);
  if (!call.ok()) return nullptr;
  const bool own = found->device != nullptr && found->device->kind == RequestKind::own;
  generalized = own ? dynamic_cast<GeneralizedRequest*>(static_cast<OwnRequest*>(found->device)) : nullptr;
  if (generalized == nullptr) {
    call.error(MPI_ERR_REQUEST, "the request is not a generalized one (MPI_Grequest_start)");
  } else if (generalized->complete) {
    call.error(MPI_ERR_REQUEST, "the generalized request is complete already");
  }
  return found;
}

}  // namespace

extern "C" int PMPI_Grequest_start(MPI_Grequest_query_function* query_fn, MPI_Grequest_free_function* free_fn,
                                   MPI_Grequest_cancel_function* cancel_fn, void* extra_state, MPI_Request* request) {
  Call call(call_name<"MPI_Grequest_start">);
  const auto given = [&call](bool is, const char* what) {
    if (!is) call.error(MPI_ERR_ARG, std::string(what) + " is a null pointer");
  };
  given(query_fn != nullptr, "query_fn");
  given(free_fn != nullptr, "free_fn");
  given(cancel_fn != nullptr, "cancel_fn");
  call.not_null(request, "request");
  if (!call.ok()) return call.failed();
  UserRequest* const made = add_own_request(call, call.rank().self());
  if (!call.ok()) return call.failed();
  made->device = new GeneralizedRequest({query_fn, free_fn, cancel_fn, extra_state});
  *request = made->handle;
  return MPI_SUCCESS;
}
MARGAY_ALIAS(Grequest_start)

extern "C" int PMPI_Grequest_complete(MPI_Request request) {
  Call call(call_name<"MPI_Grequest_complete">);
  GeneralizedRequest* generalized = nullptr;
  UserRequest* const found = find(call, request, generalized);
  if (!call.ok()) return call.failed();
  if (generalized->given_up()) call.rank().free_request(*found);
  generalized->completed(call.rank());
  return MPI_SUCCESS;
}
MARGAY_ALIAS(Grequest_complete)
