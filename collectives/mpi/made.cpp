#include "collectives/mpi/made.hpp"

#include "collectives/mpi/arguments.hpp"
#include "mpi_adi/mpi/attribute_callbacks.hpp"

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

int give_duplicate(mpi_adi::Call& call, mpi_adi::Communicator& parent, Made made, MPI_Comm* handle,
                   const mpi_adi::Info* hints) {
  if (made.communicator != nullptr) {
    if (hints != nullptr) made.communicator->hints.set_from(*hints);
    if (!copy_attributes(call, parent, *made.communicator)) {
      call.rank().free_communicator(*made.communicator);
      made = {};
    }
  }
  return give_communicator(call, made, handle);
}

}  // namespace margay::collectives
