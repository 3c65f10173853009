// Creation and destruction of windows: the steps in which all members take part (MPI 4.0, 12.2). Under the process
// lock.
#pragma once

#include "collectives/comm/construct.hpp"
#include "mpi_adi/rma/window.hpp"

namespace margay::collectives {

// The memory that this member exposes.
struct Exposed {
  // The call: MPI_WIN_FLAVOR_CREATE, _ALLOCATE, _DYNAMIC or _SHARED.
  int flavor = MPI_WIN_FLAVOR_CREATE;
  // The program's memory; null if the window allocates its own.
  void* base = nullptr;
  // Bytes of the memory, and the displacement unit in bytes (disp_unit).
  MPI_Aint size = 0;
  MPI_Aint unit = 1;
  // A window of the interface of 1996 (paper 001, section 4). The program names it by the window's communicator, and
  // all accesses to it are messages.
  bool of_1996 = false;
  // For MPI_Win_allocate: the least alignment requested, a power of two.
  std::size_t alignment = 0;
  // For MPI_Win_allocate_shared: whether each member's memory begins where the previous one's ends.
  bool contiguous = true;
};

// The result of make_window(). `window` null: error_class is the reason.
struct MadeWindow {
  mpi_adi::Window* window = nullptr;
  int error_class = 0;
};
// Makes a window of the members of `parent`, with a communicator of its own. The members exchange descriptions of their
// memory, by which each chooses its method of access to every other one. Collective. Error classes: those of Made;
// MPI_ERR_NO_MEM, a member lacks memory; MPI_ERR_RMA_SHARED, the members cannot share memory. If one member fails with
// either of the last two, all members do.
[[nodiscard]] MadeWindow make_window(mpi_adi::MpiRank& rank, mpi_adi::Communicator& parent, const Exposed& exposed);
// Destroys the window and the memory that it allocated. Requires: no operation on it is in progress on any member.
void destroy_window(mpi_adi::MpiRank& rank, mpi_adi::Window& window);
// Makes destroy_window() leave the window's memory allocated until the process ends, because other members may still
// use it.
void keep_memory(mpi_adi::Window& window);
// Destroys the windows of a session that the program did not free; session 0: the world model.
void destroy_windows(mpi_adi::MpiRank& rank, std::uint32_t session);

}  // namespace margay::collectives
