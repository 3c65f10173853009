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
    try {
      send_message(*found, call, {const_cast<void*>(base), count, type}, destination, tag,
                   is_synchronous ? number_of(handle) : 0);
    } catch (...) {
      remove_request(handle);
      throw;
    }
    *request = handle;
    send_answers();
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
    try {
      send_message(*found, call, {const_cast<void*>(base), count, type}, destination, tag, number_of(handle));
      serve_until([&request] { return request.is_complete; });
    } catch (...) {
      // The number is not used again before its answer has come.
      request.is_freed = true;
      throw;
    }
    remove_request(handle);
    return MPI_SUCCESS;
  });
}

}  // namespace
}  // namespace margay::nexus_mpi

using margay::nexus_mpi::begin;
using margay::nexus_mpi::send;
using margay::nexus_mpi::send_synchronously;

extern "C" {

int MPI_Send(const void* buf, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm) {
  return send("MPI_Send", buf, count, type, dest, tag, comm,
              [&] { return PMPI_Send(buf, count, type, dest, tag, comm); });
}

int MPI_Send_c(const void* buf, MPI_Count count, MPI_Datatype type, int dest, int tag, MPI_Comm comm) {
  return send("MPI_Send", buf, count, type, dest, tag, comm,
              [&] { return PMPI_Send_c(buf, count, type, dest, tag, comm); });
}

int MPI_Bsend(const void* buf, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm) {
  return send("MPI_Bsend", buf, count, type, dest, tag, comm,
              [&] { return PMPI_Bsend(buf, count, type, dest, tag, comm); });
}

int MPI_Bsend_c(const void* buf, MPI_Count count, MPI_Datatype type, int dest, int tag, MPI_Comm comm) {
  return send("MPI_Bsend", buf, count, type, dest, tag, comm,
              [&] { return PMPI_Bsend_c(buf, count, type, dest, tag, comm); });
}

int MPI_Rsend(const void* buf, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm) {
  return send("MPI_Rsend", buf, count, type, dest, tag, comm,
              [&] { return PMPI_Rsend(buf, count, type, dest, tag, comm); });
}

int MPI_Rsend_c(const void* buf, MPI_Count count, MPI_Datatype type, int dest, int tag, MPI_Comm comm) {
  return send("MPI_Rsend", buf, count, type, dest, tag, comm,
              [&] { return PMPI_Rsend_c(buf, count, type, dest, tag, comm); });
}

int MPI_Ssend(const void* buf, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm) {
  return send_synchronously("MPI_Ssend", buf, count, type, dest, tag, comm,
                            [&] { return PMPI_Ssend(buf, count, type, dest, tag, comm); });
}

int MPI_Ssend_c(const void* buf, MPI_Count count, MPI_Datatype type, int dest, int tag, MPI_Comm comm) {
  return send_synchronously("MPI_Ssend", buf, count, type, dest, tag, comm,
                            [&] { return PMPI_Ssend_c(buf, count, type, dest, tag, comm); });
}

int MPI_Isend(const void* buf, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm, MPI_Request* request) {
  return begin("MPI_Isend", buf, count, type, dest, tag, comm, request, false,
               [&] { return PMPI_Isend(buf, count, type, dest, tag, comm, request); });
}

int MPI_Isend_c(const void* buf, MPI_Count count, MPI_Datatype type, int dest, int tag, MPI_Comm comm,
                MPI_Request* request) {
  return begin("MPI_Isend", buf, count, type, dest, tag, comm, request, false,
               [&] { return PMPI_Isend_c(buf, count, type, dest, tag, comm, request); });
}

int MPI_Ibsend(const void* buf, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm, MPI_Request* request) {
  return begin("MPI_Ibsend", buf, count, type, dest, tag, comm, request, false,
               [&] { return PMPI_Ibsend(buf, count, type, dest, tag, comm, request); });
}

int MPI_Ibsend_c(const void* buf, MPI_Count count, MPI_Datatype type, int dest, int tag, MPI_Comm comm,
                 MPI_Request* request) {
  return begin("MPI_Ibsend", buf, count, type, dest, tag, comm, request, false,
               [&] { return PMPI_Ibsend_c(buf, count, type, dest, tag, comm, request); });
}

int MPI_Irsend(const void* buf, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm, MPI_Request* request) {
  return begin("MPI_Irsend", buf, count, type, dest, tag, comm, request, false,
               [&] { return PMPI_Irsend(buf, count, type, dest, tag, comm, request); });
}

int MPI_Irsend_c(const void* buf, MPI_Count count, MPI_Datatype type, int dest, int tag, MPI_Comm comm,
                 MPI_Request* request) {
  return begin("MPI_Irsend", buf, count, type, dest, tag, comm, request, false,
               [&] { return PMPI_Irsend_c(buf, count, type, dest, tag, comm, request); });
}

int MPI_Issend(const void* buf, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm, MPI_Request* request) {
  return begin("MPI_Issend", buf, count, type, dest, tag, comm, request, true,
               [&] { return PMPI_Issend(buf, count, type, dest, tag, comm, request); });
}

int MPI_Issend_c(const void* buf, MPI_Count count, MPI_Datatype type, int dest, int tag, MPI_Comm comm,
                 MPI_Request* request) {
  return begin("MPI_Issend", buf, count, type, dest, tag, comm, request, true,
               [&] { return PMPI_Issend_c(buf, count, type, dest, tag, comm, request); });
}

}  // extern "C"
