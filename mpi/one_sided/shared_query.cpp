// Where the memory of another member is, of a window that shares it (MPI 4.0, 12.2.3).
#include "mpi/call/binding.hpp"
#include "mpi/one_sided/arguments.hpp"

using namespace margay::mpi;

namespace {

// The first member that has any memory, where none is named.
int member_of(const Window& window, int rank) {
  if (rank != MPI_PROC_NULL) return rank;
  for (int member = 0; member < window.members(); ++member) {
    if (window.targets[static_cast<std::size_t>(member)].bytes != 0) return member;
  }
  return 0;
}

template <typename Unit>
int query(const Invocation& name, MPI_Win win, int rank, MPI_Aint* size, Unit* unit, void* baseptr) {
  Call call(name);
  Window* const window = checked_window(call, win);
  call.not_null(size, "size");
  call.not_null(unit, "disp_unit");
  call.not_null(baseptr, "baseptr");
  if (window != nullptr && window->flavor != MPI_WIN_FLAVOR_SHARED) {
    call.error(MPI_ERR_RMA_FLAVOR, "the window was not made by MPI_Win_allocate_shared");
  }
  if (rank != MPI_PROC_NULL && !checked_target(call, window, rank)) return call.done();
  if (!call.ok()) return call.failed();
  const WindowTarget& target = window->target(member_of(*window, rank));
  *size = static_cast<MPI_Aint>(target.bytes);
  *unit = static_cast<Unit>(target.unit);
  // A member without bytes has a place between its neighbors', as MPI_Win_allocate_shared returned it.
  *static_cast<void**>(baseptr) = target.base;
  return call.done();
}

}  // namespace

MARGAY_TWINS(Win_shared_query, (MPI_Win win, int rank, MPI_Aint* size, Displacement* disp_unit, void* baseptr),
             { return query(called, win, rank, size, disp_unit, baseptr); })
