// Making and ending windows: what all members do together.
#pragma once

#include <string>

#include "collectives/comm/construct.hpp"
#include "mpi_adi/rma/window.hpp"

namespace margay::collectives {

// What this member exposes.
struct Exposed {
  int flavor = MPI_WIN_FLAVOR_CREATE;
  void* base = nullptr;  // the program's; null where the window is to have memory of its own
  MPI_Aint size = 0;
  MPI_Aint unit = 1;
  bool of_1996 = false;       // reached through its communicator, which the program has, and by messages only
  std::size_t alignment = 0;  // of MPI_Win_allocate: the least that is asked for, a power of two
  bool contiguous = true;     // of MPI_Win_allocate_shared: each member's memory begins where the last one's ends
};

// `window` null: error_class says why, and perhaps words.
struct MadeWindow {
  mpi_adi::Window* window = nullptr;
  int error_class = 0;
  std::string words = {};
};
// A window of the members of `parent`, with a communicator of its own, and what each exposes known to all. Collective.
// Error classes as Made's; MPI_ERR_NO_MEM, MPI_ERR_RMA_SHARED on all members where one has none.
[[nodiscard]] MadeWindow make_window(mpi_adi::MpiRank& rank, mpi_adi::Communicator& parent, const Exposed& exposed);
// The window goes, and memory that it has of its own. Requires: nothing is under way on it anywhere.
void destroy_window(mpi_adi::MpiRank& rank, mpi_adi::Window& window);
// Of a window that others may not have left: memory that it has of its own stays until the process ends.
void keep_memory(mpi_adi::Window& window);
// Those that the program did not free, when their session ends; 0: the world model.
void destroy_windows(mpi_adi::MpiRank& rank, std::uint32_t session);

}  // namespace margay::collectives
