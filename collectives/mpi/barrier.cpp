// MPI_Barrier (MPI 4.0, 6.3).
#include "collectives/mpi/arguments.hpp"
#include "collectives/mpi/note_call.hpp"
#include "collectives/select/perform.hpp"
#include "mpi_adi/mpi/binding.hpp"
#include "mpi_adi/mpi/call.hpp"

using namespace margay::mpi_adi;
using namespace margay::collectives;

extern "C" int PMPI_Barrier(MPI_Comm comm) {
  Call call(call_name<"MPI_Barrier">);
  Communicator* communicator = call.collective_communicator(comm);
  if (!call.ok()) return call.failed();
  note_call(call, *communicator);
  note_error(call, perform_barrier(collectives_of(call), *communicator));
  return call.done();
}
MARGAY_ALIAS(Barrier)
