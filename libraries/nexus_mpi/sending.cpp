// MPI's sends. Nexus copies each message before its send returns, so that standard, buffered and ready sends are
// complete at once. A ready send whose receive is not posted is an ordinary send. A synchronous send waits for an
// answer.
#include <utility>

#include "libraries/nexus_mpi/matching.hpp"
#include "libraries/nexus_mpi/serve.hpp"

namespace margay::nexus_mpi {
namespace {

// The communicator if the layer carries the message; nullptr: margay's MPI gets the call, which sends it, completes it
// (MPI_PROC_NULL), or reports the invalid argument.
Communicator* carrier(const void* base, MPI_Count count, MPI_Datatype type, int destination, int tag,
                      MPI_Comm communicator) {
  Communicator* const found = find(communicator);
  if (found == nullptr || destination < 0 || std::cmp_greater_equal(destination, found->worlds.size())) return nullptr;
  if (tag < 0 || tag > layer->tag_most || count < 0 || type == MPI_DATATYPE_NULL) return nullptr;
  if (base == nullptr && count != 0 && is_plain(type)) return nullptr;
  return found;
}

// `ours`: the layer's send; `others`: the same call of margay's MPI.
template <typename Others>
int send(const char* call, const void* base, MPI_Count count, MPI_Datatype type, int destination, int tag,
         MPI_Comm communicator, Others others) {
  Communicator* const found = carrier(base, count, type, destination, tag, communicator);
  if (found == nullptr) return others();
  return guarded(communicator, call, [&] {
    send_message(*found, call, {const_cast<void*>(base), count, type}, destination, tag, 0);
    send_answers();
    return MPI_SUCCESS;
  });
}

std::unique_ptr<Request> make_send(MPI_Comm communicator) {
  auto request = std::make_unique<Request>();
  request->handle = communicator;
  return request;
}

template <typename Others>
int begin(const char* call, const void* base, MPI_Count count, MPI_Datatype type, int destination, int tag,
          MPI_Comm communicator, MPI_Request* request, bool is_synchronous, Others others) {
  Communicator* const found = carrier(base, count, type, destination, tag, communicator);
  if (found == nullptr || request == nullptr) return others();
  return guarded(communicator, call, [&] {
    MPI_Request handle = add_request(make_send(communicator));
    if (!is_synchronous) find_request(handle)->is_complete = true;
    send_message(*found, call, {const_cast<void*>(base), count, type}, destination, tag,
                 is_synchronous ? number_of(handle) : 0);
    send_answers();
    *request = handle;
    return MPI_SUCCESS;
  });
}

template <typename Others>
int send_synchronously(const char* call, const void* base, MPI_Count count, MPI_Datatype type, int destination, int tag,
                       MPI_Comm communicator, Others others) {
  Communicator* const found = carrier(base, count, type, destination, tag, communicator);
  if (found == nullptr) return others();
  return guarded(communicator, call, [&] {
    MPI_Request handle = add_request(make_send(communicator));
    Request& request = *find_request(handle);
    send_message(*found, call, {const_cast<void*>(base), count, type}, destination, tag, number_of(handle));
    serve_until([&request] { return request.is_complete; });
    remove_request(handle);
    return MPI_SUCCESS;
  });
}

}  // namespace
}  // namespace margay::nexus_mpi

using margay::nexus_mpi::begin;
using margay::nexus_mpi::send;
using margay::nexus_mpi::send_synchronously;

// The functions of one mode, for counts of both kinds.
#define MARGAY_SEND(NAME, COUNT, SUFFIX, FUNCTION)                                                            \
  int MPI_##NAME##SUFFIX(const void* buf, COUNT count, MPI_Datatype type, int dest, int tag, MPI_Comm comm) { \
    return FUNCTION("MPI_" #NAME, buf, count, type, dest, tag, comm,                                          \
                    [&] { return PMPI_##NAME##SUFFIX(buf, count, type, dest, tag, comm); });                  \
  }
#define MARGAY_ISEND(NAME, COUNT, SUFFIX, SYNCHRONOUS)                                                      \
  int MPI_##NAME##SUFFIX(const void* buf, COUNT count, MPI_Datatype type, int dest, int tag, MPI_Comm comm, \
                         MPI_Request* request) {                                                            \
    return begin("MPI_" #NAME, buf, count, type, dest, tag, comm, request, SYNCHRONOUS,                     \
                 [&] { return PMPI_##NAME##SUFFIX(buf, count, type, dest, tag, comm, request); });          \
  }

extern "C" {

MARGAY_SEND(Send, int, , send)
MARGAY_SEND(Send, MPI_Count, _c, send)
MARGAY_SEND(Bsend, int, , send)
MARGAY_SEND(Bsend, MPI_Count, _c, send)
MARGAY_SEND(Rsend, int, , send)
MARGAY_SEND(Rsend, MPI_Count, _c, send)
MARGAY_SEND(Ssend, int, , send_synchronously)
MARGAY_SEND(Ssend, MPI_Count, _c, send_synchronously)
MARGAY_ISEND(Isend, int, , false)
MARGAY_ISEND(Isend, MPI_Count, _c, false)
MARGAY_ISEND(Ibsend, int, , false)
MARGAY_ISEND(Ibsend, MPI_Count, _c, false)
MARGAY_ISEND(Irsend, int, , false)
MARGAY_ISEND(Irsend, MPI_Count, _c, false)
MARGAY_ISEND(Issend, int, , true)
MARGAY_ISEND(Issend, MPI_Count, _c, true)

}  // extern "C"
