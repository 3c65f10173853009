// Generalized requests (MPI 4.0, 13.2), and MPICH's extension of them.
#include "mpi_adi/request/generalized.hpp"
#include "mpi/call/binding.hpp"
#include "mpi/call/call.hpp"
#include "mpi_adi/rank/object_tables.hpp"

using namespace margay::mpi;

namespace {

// The request behind a handle, and `generalized` if it is an incomplete generalized request; otherwise sets the error.
// Returns nullptr for an invalid handle only, so callers test the error.
UserRequest* find(Call& call, MPI_Request handle, GeneralizedRequest*& generalized) {
  UserRequest* const found = call.request(handle);
  if (!call.ok()) return nullptr;
  generalized = generalized_of(found->device);
  if (generalized == nullptr) {
    call.error(MPI_ERR_REQUEST, "the request is not a generalized one (MPI_Grequest_start)");
  } else if (generalized->complete) {
    call.error(MPI_ERR_REQUEST, "the generalized request is complete already");
  }
  return found;
}

// All three functions are required (MPI 4.0, 13.2).
void check_functions(Call& call, const RequestClass& functions) {
  const auto given = [&call](bool is, const char* what) {
    if (!is) call.error(MPI_ERR_ARG, std::string(what) + " is a null pointer");
  };
  given(functions.query != nullptr, "query_fn");
  given(functions.free != nullptr, "free_fn");
  given(functions.cancel != nullptr, "cancel_fn");
}

int start(Call& call, const RequestClass& functions, void* extra_state, MPIX_Grequest_class group,
          MPI_Request* request) {
  call.not_null(request, "request");
  if (!call.ok()) return call.failed();
  // A generalized request belongs to no communicator; it counts as MPI_COMM_SELF's.
  UserRequest* const made = add_request_handle(call, call.rank().worlds().self());
  if (!call.ok()) return call.failed();
  // Owned by the handle, which deletes it when the request ends.
  made->device = new GeneralizedRequest(call.rank(), functions, extra_state, group);
  *request = made->handle;
  return MPI_SUCCESS;
}

}  // namespace

extern "C" int PMPI_Grequest_start(MPI_Grequest_query_function* query_fn, MPI_Grequest_free_function* free_fn,
                                   MPI_Grequest_cancel_function* cancel_fn, void* extra_state, MPI_Request* request) {
  Call call(call_name<"MPI_Grequest_start">);
  const RequestClass functions{query_fn, free_fn, cancel_fn};
  check_functions(call, functions);
  return start(call, functions, extra_state, 0, request);
}
MARGAY_ALIAS(Grequest_start)

extern "C" int PMPI_Grequest_complete(MPI_Request request) {
  Call call(call_name<"MPI_Grequest_complete">);
  GeneralizedRequest* generalized = nullptr;
  UserRequest* const found = find(call, request, generalized);
  if (!call.ok()) return call.failed();
  // MPI_Request_free was called before, and left the handle for this call to free.
  if (generalized->given_up()) call.rank().handles().free_request(*found);
  std::string text;
  const int code = generalized->completed(call.rank(), text);
  if (code == MPI_SUCCESS) return MPI_SUCCESS;
  call.set_error_origin(Call::ErrorOrigin::program);
  call.error(code, std::move(text));
  return call.failed();
}
MARGAY_ALIAS(Grequest_complete)

extern "C" int PMPIX_Grequest_start(MPI_Grequest_query_function* query_fn, MPI_Grequest_free_function* free_fn,
                                    MPI_Grequest_cancel_function* cancel_fn, MPIX_Grequest_poll_function* poll_fn,
                                    MPIX_Grequest_wait_function* wait_fn, void* extra_state, MPI_Request* request) {
  Call call(call_name<"MPIX_Grequest_start">);
  const RequestClass functions{query_fn, free_fn, cancel_fn, poll_fn, wait_fn};
  check_functions(call, functions);
  return start(call, functions, extra_state, 0, request);
}
MARGAY_ALIAS_MPIX(Grequest_start)

extern "C" int PMPIX_Grequest_class_create(MPI_Grequest_query_function* query_fn, MPI_Grequest_free_function* free_fn,
                                           MPI_Grequest_cancel_function* cancel_fn,
                                           MPIX_Grequest_poll_function* poll_fn, MPIX_Grequest_wait_function* wait_fn,
                                           MPIX_Grequest_class* greq_class) {
  Call call(call_name<"MPIX_Grequest_class_create">);
  const RequestClass functions{query_fn, free_fn, cancel_fn, poll_fn, wait_fn};
  check_functions(call, functions);
  call.not_null(greq_class, "greq_class");
  if (!call.ok()) return call.failed();
  // Classes are never freed: MPICH has no function for that.
  std::vector<RequestClass>& classes = call.rank().tables().request_classes;
  classes.push_back(functions);
  *greq_class = static_cast<MPIX_Grequest_class>(classes.size());
  return MPI_SUCCESS;
}
MARGAY_ALIAS_MPIX(Grequest_class_create)

extern "C" int PMPIX_Grequest_class_allocate(MPIX_Grequest_class greq_class, void* extra_state, MPI_Request* request) {
  Call call(call_name<"MPIX_Grequest_class_allocate">);
  const std::vector<RequestClass>& classes = call.rank().tables().request_classes;
  // The number of a class is its index plus 1. The number 0 (no class) becomes the largest index, which is rejected.
  const auto index = static_cast<std::size_t>(greq_class) - 1;
  if (index < classes.size()) return start(call, classes[index], extra_state, greq_class, request);
  call.error(MPI_ERR_ARG,
             "greq_class " + std::to_string(greq_class) + " is not a class made by MPIX_Grequest_class_create");
  return call.failed();
}
MARGAY_ALIAS_MPIX(Grequest_class_allocate)
