// Making and ending windows: what all members do together.
#pragma once

#include "collectives/comm/construct.hpp"
#include "mpi_adi/rma/window.hpp"

namespace margay::collectives {

// What this member exposes.
struct Exposed {
  int flavor = MPI_WIN_FLAVOR_CREATE;
  void* base = nullptr;
  MPI_Aint size = 0;
  MPI_Aint unit = 1;
};

// `window` null: error_class says why, as with Made.
struct MadeWindow {
  mpi_adi::Window* window = nullptr;
  int error_class = 0;
};
// A window of the members of `parent`, with a communicator of its own, and what each exposes known to all. Collective.
[[nodiscard]] MadeWindow make_window(mpi_adi::MpiRank& rank, mpi_adi::Communicator& parent, const Exposed& exposed);
// The window's memory, if it has any of its own, and the window go. Requires: nothing is under way on it anywhere.
void destroy_window(mpi_adi::MpiRank& rank, mpi_adi::Window& window);

}  // namespace margay::collectives
