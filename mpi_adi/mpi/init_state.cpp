#include "mpi_adi/mpi/init_state.hpp"

namespace margay::mpi_adi {

namespace {

// A mutable global: MPI_Initialized and MPI_Finalized may be asked when there is no rank. Set twice in a process's
// life, by the thread that initializes.
InitState the_state = InitState::before;

}  // namespace

InitState init_state() {
  return the_state;
}
void set_init_state(InitState state) {
  the_state = state;
}

}  // namespace margay::mpi_adi
