// MPI_Bcast (MPI 4.0, 6.4).
#include "collectives/mpi/arguments.hpp"
#include "collectives/mpi/note_call.hpp"
#include "collectives/select/perform.hpp"
#include "mpi_adi/mpi/binding.hpp"

using namespace margay::mpi_adi;
using namespace margay::collectives;

namespace {

int bcast(Call& call, void* buffer, std::int64_t count, MPI_Datatype datatype, int root, MPI_Comm comm) {
  Communicator* communicator = call.collective_communicator(comm);
  call.count(count);
  Datatype* type = call.datatype(datatype, count);
  call.buffer(buffer, count, type);
  call.root(communicator, root);
  if (!call.ok()) return call.failed();
  note_call(call, *communicator, {.root = root, .count = count, .type = type});
  TreePortal& portal = collectives_of(call);
  if (communicator->rank() == root) {
    const TypedData data(static_cast<const void*>(buffer), count, *type);
    note_error(call, perform_bcast(portal, *communicator, root, data.region()));
  } else {
    const TypedData data(buffer, count, *type);
    note_error(call, perform_bcast(portal, *communicator, root, data.region()));
  }
  return call.done();
}

}  // namespace

extern "C" int PMPI_Bcast(void* buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm) {
  Call call(call_name<"MPI_Bcast">);
  return bcast(call, buffer, count, datatype, root, comm);
}
MARGAY_ALIAS(Bcast)

extern "C" int PMPI_Bcast_c(void* buffer, MPI_Count count, MPI_Datatype datatype, int root, MPI_Comm comm) {
  Call call(call_name<"MPI_Bcast_c">);
  return bcast(call, buffer, count, datatype, root, comm);
}
MARGAY_ALIAS(Bcast_c)
