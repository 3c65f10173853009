#include "mpi_adi/mpi/init_state.hpp"

#include "sim/shm/published.hpp"

namespace margay::mpi_adi {

namespace {

// A mutable global: MPI_Initialized and MPI_Finalized may be asked when there is no rank. Set twice in a process's
// life, by the thread that initializes, and asked by any.
constinit sim::Published<InitState> the_state(InitState::before);

}  // namespace

InitState init_state() {
  return the_state.get();
}
void set_init_state(InitState state) {
  the_state.set(state);
}

}  // namespace margay::mpi_adi
