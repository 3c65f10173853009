// MPI_Reduce and MPI_Allreduce (MPI 4.0, 6.9).
#include <cstring>
#include <memory>

#include "collectives/mpi/arguments.hpp"
#include "collectives/select/perform.hpp"
#include "mpi_adi/mpi/binding.hpp"

using namespace margay::mpi_adi;
using namespace margay::collectives;

namespace {

// Elements as they lie in memory: an operation's types are predefined, and a pair's padding travels with it.
std::uint64_t row_bytes(const Datatype& type, int count) {
  return static_cast<std::uint64_t>(type.extent) * static_cast<std::uint64_t>(count);
}

Reduction reduction(std::byte* partial, int count, const Datatype& type, Combine combine) {
  return {partial, static_cast<std::size_t>(count), static_cast<std::size_t>(type.extent), combine};
}

}  // namespace

extern "C" int PMPI_Reduce(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op, int root,
                           MPI_Comm comm) {
  Call call(call_name<"MPI_Reduce">);
  Communicator* communicator = call.intracommunicator(comm);
  call.count(count);
  Datatype* type = call.datatype(datatype);
  call.root(communicator, root);
  Combine combine = check_operation(call, op, type);
  if (!call.ok()) return call.failed();
  const bool is_root = communicator->rank() == root;
  if (is_root) check_buffers(call, sendbuf, recvbuf, count);
  if (is_root) call.buffer(recvbuf, count, type);
  if (!is_root && sendbuf == MPI_IN_PLACE) {
    call.error(MPI_ERR_BUFFER, "the send buffer is MPI_IN_PLACE; that is for the root only");
  }
  call.buffer(sendbuf, count, type);
  if (!call.ok()) return call.failed();

  const std::uint64_t bytes = row_bytes(*type, count);
  std::unique_ptr<std::byte[]> own;
  auto* partial = static_cast<std::byte*>(recvbuf);
  if (!is_root) {
    own = std::make_unique_for_overwrite<std::byte[]>(bytes);
    partial = own.get();
  }
  if (sendbuf != MPI_IN_PLACE && bytes > 0) std::memcpy(partial, sendbuf, bytes);
  note_error(call,
             perform_reduce(collectives_of(call), *communicator, root, reduction(partial, count, *type, combine)));
  return call.done();
}
MARGAY_ALIAS(Reduce)

extern "C" int PMPI_Allreduce(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
                              MPI_Comm comm) {
  Call call(call_name<"MPI_Allreduce">);
  Communicator* communicator = call.intracommunicator(comm);
  call.count(count);
  Datatype* type = call.datatype(datatype);
  Combine combine = check_operation(call, op, type);
  check_buffers(call, sendbuf, recvbuf, count);
  call.buffer(sendbuf, count, type);
  call.buffer(recvbuf, count, type);
  if (!call.ok()) return call.failed();

  const std::uint64_t bytes = row_bytes(*type, count);
  auto* partial = static_cast<std::byte*>(recvbuf);
  if (sendbuf != MPI_IN_PLACE && bytes > 0) std::memcpy(partial, sendbuf, bytes);
  note_error(call, perform_allreduce(collectives_of(call), *communicator, reduction(partial, count, *type, combine)));
  return call.done();
}
MARGAY_ALIAS(Allreduce)
