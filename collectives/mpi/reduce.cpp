// MPI_Reduce, MPI_Allreduce and MPI_Reduce_local (MPI 4.0, 6.9).
#include "collectives/mpi/arguments.hpp"
#include "collectives/mpi/note_call.hpp"
#include "collectives/mpi/operands.hpp"
#include "collectives/select/perform.hpp"
#include "mpi_adi/mpi/binding.hpp"

using namespace margay::mpi_adi;
using namespace margay::collectives;

namespace {

int reduce_local(Call& call, const void* in, void* inout, std::int64_t count, MPI_Datatype datatype, MPI_Op op) {
  call.count(count);
  Datatype* type = call.datatype(datatype);
  call.buffer(in, count, type, "inbuf");
  call.buffer(inout, count, type, "inoutbuf");
  if (call.ok() && count > 0 && (in == MPI_IN_PLACE || inout == MPI_IN_PLACE)) {
    call.error(MPI_ERR_BUFFER, "a buffer is MPI_IN_PLACE, which has no meaning here");
  }
  if (call.ok() && count > 0 && in == inout) {
    call.error(MPI_ERR_BUFFER, "inbuf and inoutbuf are the same");
  }
  const Operands operands(call, op, type, count);
  if (!call.ok()) return call.failed();
  operands.combine(in, inout);
  return call.done();
}

int reduce(Call& call, const void* sendbuf, void* recvbuf, std::int64_t count, MPI_Datatype datatype, MPI_Op op,
           int root, MPI_Comm comm) {
  Communicator* communicator = call.collective_communicator(comm);
  call.count(count);
  Datatype* type = call.datatype(datatype);
  call.root(communicator, root);
  if (type != nullptr) static_cast<void>(call.elements(count, *type));
  Operands operands(call, op, type, count);
  if (!call.ok()) return call.failed();
  const bool is_root = communicator->rank() == root;
  if (is_root) check_buffers(call, sendbuf, recvbuf, count);
  if (is_root) call.buffer(recvbuf, count, type, "recvbuf");
  if (!is_root && sendbuf == MPI_IN_PLACE) {
    call.error(MPI_ERR_BUFFER, "the send buffer is MPI_IN_PLACE; that is for the root only");
  }
  call.buffer(sendbuf, count, type, "sendbuf");
  if (!call.ok()) return call.failed();

  note_call(call, *communicator, {.root = root, .operation = op, .count = count, .type = type});
  const Reduction reduction = operands.begin(sendbuf, is_root ? recvbuf : nullptr);
  note_error(call, perform_reduce(collectives_of(call), *communicator, root, reduction));
  if (is_root && call.ok()) operands.finish(recvbuf);
  return call.done();
}

int allreduce(Call& call, const void* sendbuf, void* recvbuf, std::int64_t count, MPI_Datatype datatype, MPI_Op op,
              MPI_Comm comm) {
  Communicator* communicator = call.collective_communicator(comm);
  call.count(count);
  Datatype* type = call.datatype(datatype);
  if (type != nullptr) static_cast<void>(call.elements(count, *type));
  Operands operands(call, op, type, count);
  check_buffers(call, sendbuf, recvbuf, count);
  call.buffer(sendbuf, count, type, "sendbuf");
  call.buffer(recvbuf, count, type, "recvbuf");
  if (!call.ok()) return call.failed();

  note_call(call, *communicator, {.operation = op, .count = count, .type = type});
  const Reduction reduction = operands.begin(sendbuf, recvbuf);
  note_error(call, perform_allreduce(collectives_of(call), *communicator, reduction));
  if (call.ok()) operands.finish(recvbuf);
  return call.done();
}

}  // namespace

extern "C" int PMPI_Reduce(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op, int root,
                           MPI_Comm comm) {
  Call call(call_name<"MPI_Reduce">);
  return reduce(call, sendbuf, recvbuf, count, datatype, op, root, comm);
}
MARGAY_ALIAS(Reduce)

extern "C" int PMPI_Reduce_c(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op,
                             int root, MPI_Comm comm) {
  Call call(call_name<"MPI_Reduce_c">);
  return reduce(call, sendbuf, recvbuf, count, datatype, op, root, comm);
}
MARGAY_ALIAS(Reduce_c)

extern "C" int PMPI_Allreduce(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
                              MPI_Comm comm) {
  Call call(call_name<"MPI_Allreduce">);
  return allreduce(call, sendbuf, recvbuf, count, datatype, op, comm);
}
MARGAY_ALIAS(Allreduce)

extern "C" int PMPI_Allreduce_c(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op,
                                MPI_Comm comm) {
  Call call(call_name<"MPI_Allreduce_c">);
  return allreduce(call, sendbuf, recvbuf, count, datatype, op, comm);
}
MARGAY_ALIAS(Allreduce_c)

extern "C" int PMPI_Reduce_local(const void* inbuf, void* inoutbuf, int count, MPI_Datatype datatype, MPI_Op op) {
  Call call(call_name<"MPI_Reduce_local">);
  return reduce_local(call, inbuf, inoutbuf, count, datatype, op);
}
MARGAY_ALIAS(Reduce_local)

extern "C" int PMPI_Reduce_local_c(const void* inbuf, void* inoutbuf, MPI_Count count, MPI_Datatype datatype,
                                   MPI_Op op) {
  Call call(call_name<"MPI_Reduce_local_c">);
  return reduce_local(call, inbuf, inoutbuf, count, datatype, op);
}
MARGAY_ALIAS(Reduce_local_c)
