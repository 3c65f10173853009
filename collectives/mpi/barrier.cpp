// MPI_Barrier (MPI 4.0, 6.3).
#include "collectives/algorithm/barrier_tree.hpp"
#include "collectives/mpi/arguments.hpp"
#include "mpi_adi/mpi/binding.hpp"
#include "mpi_adi/mpi/call.hpp"

using namespace margay::mpi_adi;
using namespace margay::collectives;

extern "C" int PMPI_Barrier(MPI_Comm comm) {
  Call call(call_name<"MPI_Barrier">);
  Communicator* communicator = call.communicator(comm);
  if (!call.ok()) return call.failed();
  Collective collective(call.rank(), *communicator);
  barrier_tree(collective);
  note_error(call, collective);
  return call.done();
}
MARGAY_ALIAS(Barrier)
