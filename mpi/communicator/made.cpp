#include "mpi/communicator/made.hpp"

#include "mpi/collective/arguments.hpp"
#include "mpi/communicator/attribute_callbacks.hpp"

namespace margay::mpi {

int give_communicator(Call& call, const Made& made, MPI_Comm* handle) {
  if (made.error_class == MPI_ERR_OTHER) {
    call.error(MPI_ERR_OTHER, kContextsUsedUp);
  } else {
    note_error(call, made.error_class);
  }
  *handle = made.communicator == nullptr ? MPI_COMM_NULL : made.communicator->handle;
  return call.done();
}

int give_duplicate(Call& call, Communicator& parent, Made made, MPI_Comm* handle, const Info* hints) {
  if (made.communicator != nullptr) {
    if (hints != nullptr) made.communicator->hints.set_from(*hints);
    if (!copy_attributes(call, parent, *made.communicator)) {
      call.rank().free_communicator(*made.communicator);
      made = {};
    }
  }
  return give_communicator(call, made, handle);
}

}  // namespace margay::mpi
