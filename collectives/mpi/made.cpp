#include "collectives/mpi/made.hpp"

#include "collectives/mpi/arguments.hpp"

namespace margay::collectives {

int give_communicator(mpi_adi::Call& call, const Made& made, MPI_Comm* handle) {
  if (made.error_class == MPI_ERR_OTHER) {
    call.error(MPI_ERR_OTHER, mpi_adi::kContextsUsedUp);
  } else {
    note_error(call, made.error_class);
  }
  *handle = made.communicator == nullptr ? MPI_COMM_NULL : made.communicator->handle;
  return call.done();
}

}  // namespace margay::collectives
