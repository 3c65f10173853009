// Lookups and checks that the bindings of windows share, and the waits for accesses. After an error each check does
// nothing.
#pragma once

#include "mpi/call/call.hpp"
#include "mpi_adi/rank/wait.hpp"
#include "mpi_adi/rma/rma.hpp"

namespace margay::mpi {

// The window of a handle; nullptr after an error (MPI_ERR_WIN). Errors from here on, and earlier ones of the call, go
// to the window's handler.
[[nodiscard]] Window* checked_window(Call& call, MPI_Win handle);
// Checks a target (MPI_ERR_RANK). Returns false for MPI_PROC_NULL, where the call has no effect, and after an error.
[[nodiscard]] bool checked_target(Call& call, const Window* window, int rank);
// Sets MPI_ERR_RMA_SYNC with the message, unless the message is null.
void wrong_epoch(Call& call, const char* sentence);
// If accesses have failed since the last synchronisation, sets their error in the call, and clears it in the window.
void report_errors(Call& call, Window& window);

// The direction of an access, seen from the origin.
enum class Direction : std::uint8_t { put, get };

// An access's arguments as the program passed them.
struct AccessArguments {
  const void* origin;
  std::int64_t origin_count;
  MPI_Datatype origin_type;
  int target;
  // In displacement units of the target's window; for a dynamic window an address.
  MPI_Aint displacement;
  std::int64_t target_count;
  MPI_Datatype target_type;
  MPI_Win window;
  bool origin_is_result = false;  // an accumulate without operands
};
// An accumulate's operands as the program passed them; not read with MPI_NO_OP. `buffer` may be MPI_BOTTOM.
struct OriginData {
  const void* buffer = nullptr;
  std::int64_t count = 0;
  const Datatype* type = nullptr;
};
// Looks up and checks an access's arguments, except the epoch. Sets `window` and fills `access`, which refers to the
// program's buffer and datatypes. Returns false after an error, and for the target MPI_PROC_NULL.
[[nodiscard]] bool check_access(Call& call, const AccessArguments& arguments, Window*& window, Access& access);
// Checks that the epoch allows the access. It is the last check, because it marks the epoch as used. Waits for a lock
// that is still missing, and for room for the access. Returns false after an error.
[[nodiscard]] bool enter_epoch(Call& call, Window& window, int target);
// Waits until an access may begin: the messages of accesses in progress are bounded (kAccessMessagesMax). An origin at
// the bound waits until at most half as many are in progress, so that it does not wait again at the next access.
void wait_for_room(Call& call);
// Computes `offset`, in bytes from the window's beginning, of `count` elements of `type`. Returns false, with
// MPI_ERR_RMA_RANGE set, unless all lie in the window. For a dynamic window the offset is the address; the target
// checks it.
[[nodiscard]] bool check_range(Call& call, const Window& window, int target, MPI_Aint displacement, std::int64_t count,
                               const Datatype& type, std::uint64_t& offset);

// Waits until `done()`; ends with MPIX_ERR_PROC_FAILED if the target is lost and its open accesses have ended.
template <typename Done>
void wait_for_target(Call& call, const WindowTarget& target, Done done) {
  if (done()) return;
  const sim::Kernel& kernel = call.device().kernel();
  // Recorded inside the wait, because another thread of this rank may begin an access before this one resumes.
  bool is_lost = false;
  const auto over = [&] {
    if (done()) return true;
    is_lost = kernel.initiator().is_unreachable(target.world_rank) && target.awaited.none() && target.sending.none();
    return is_lost;
  };
  wait_until(call.rank(), over);
  if (is_lost) call.error(MPIX_ERR_PROC_FAILED, {});
}
// With --check-rma: reports completed accesses to the target that they were announced to. For Completed::all it must be
// called after all accesses have reached the target.
void complete_checked(Call& call, Window& window, int target, Completed what);
inline void complete_announced(Call& call, Window& window, int target, Completed what) {
  if (window.check != nullptr) [[unlikely]]
    complete_checked(call, window, target, what);
}
// Waits until the messages of puts have left; answers may still be on their way.
void wait_until_sent(Call& call, WindowTarget& target);
// Waits until earlier accesses have left and their answers have arrived; another thread may begin later ones meanwhile.
void wait_for_accesses(Call& call, Window& window, int target);
// Complete the accesses to a target at this origin (flush_local), or also at the target. flush() costs a round trip if
// puts have gone without answers of their own; flush_all() starts all round trips before it waits for the first.
void flush_local(Call& call, Window& window, int target);
void flush(Call& call, Window& window, int target);
void flush_all(Call& call, Window& window);
// Completes the accesses of an MPI_Win_start epoch to one target. The caller notifies the target afterwards, so the
// data is complete when the notification arrives.
void complete_start(Call& call, Window& window, int target);
// Waits for a requested lock. A lock of MPI_Win_lock_all that is not requested yet is requested first.
void wait_for_lock(Call& call, Window& window, int target);

}  // namespace margay::mpi
