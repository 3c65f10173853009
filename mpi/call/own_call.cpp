#include "mpi/call/own_call.hpp"

namespace margay::mpi {

UserRequest* add_own_request(Call& call, Communicator& communicator) {
  UserRequest* const made = call.rank().handles().add_request(nullptr, communicator);
  if (made == nullptr) call.error(MPI_ERR_OTHER, "too many requests are alive (2^18); complete or free some first");
  return made;
}

}  // namespace margay::mpi
