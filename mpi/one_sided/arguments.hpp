// What the bindings of windows share: lookups, checks, and what waits for accesses.
#pragma once

#include "mpi/call/call.hpp"
#include "mpi_adi/rank/wait.hpp"
#include "mpi_adi/rma/rma.hpp"

namespace margay::mpi {

// The window behind a handle; nullptr after an error. Errors from here on go to the window's handler.
[[nodiscard]] Window* checked_window(Call& call, MPI_Win handle);
// A member that accesses may name; false: MPI_PROC_NULL, where nothing happens, or an error.
[[nodiscard]] bool checked_target(Call& call, const Window* window, int rank);
// MPI_ERR_RMA_SYNC with the sentence, unless it is null.
void wrong_epoch(Call& call, const char* sentence);
// What ended badly since the last synchronisation.
void tell_errors(Call& call, Window& window);

enum class Direction : std::uint8_t { put, get };

// An access's arguments as the program gave them.
struct AccessArguments {
  const void* origin;
  std::int64_t origin_count;
  MPI_Datatype origin_type;
  int target;
  MPI_Aint displacement;
  std::int64_t target_count;
  MPI_Datatype target_type;
  MPI_Win window;
  bool origin_is_result = false;  // of an accumulate without operands
};
// An accumulate's operands as the program named them; with MPI_NO_OP nobody reads them. `buffer` may be MPI_BOTTOM.
struct OriginData {
  const void* buffer = nullptr;
  std::int64_t count = 0;
  const Datatype* type = nullptr;
};
// Looked up and checked, but for the epoch. False: an error, or nothing to do.
[[nodiscard]] bool check_access(Call& call, const AccessArguments& arguments, Window*& window, Access& access);
// Last of the checks, because it uses the epoch: that this allows the access. A lock that it still lacks is there
// afterwards, and room for the access. False: an error.
[[nodiscard]] bool enter_epoch(Call& call, Window& window, int target);
// Until an access may begin: those under way have a bound (kAccessMessagesMax).
void wait_for_room(Call& call);
// Bytes from the window's beginning where `count` elements of `type` begin, if they are all in it.
[[nodiscard]] bool check_range(Call& call, const Window& window, int target, MPI_Aint displacement, std::int64_t count,
                               const Datatype& type, std::uint64_t& offset);

// Until `done()`, or the target is lost; what that leaves open ends.
template <typename Done>
void wait_for_target(Call& call, const WindowTarget& target, Done done) {
  if (done()) return;
  const sim::Kernel& kernel = call.device().kernel();
  // Noted when the wait ends: another thread of this rank may begin an access before this one goes on.
  bool is_lost = false;
  const auto over = [&] {
    if (done()) return true;
    is_lost = kernel.initiator().gone(target.world_rank) && target.awaited.none() && target.sending.none();
    return is_lost;
  };
  wait_until(call.rank(), over);
  if (is_lost) call.error(MPIX_ERR_PROC_FAILED, {});
}
// With --check-rma: what was completed is told where it was announced. For `all`, after all is done there.
void complete_checked(Call& call, Window& window, int target, Completed what);
inline void complete_announced(Call& call, Window& window, int target, Completed what) {
  if (window.check != nullptr) [[unlikely]]
    complete_checked(call, window, target, what);
}
// What was put has left; answers may still be on their way.
void wait_until_sent(Call& call, WindowTarget& target);
// Those begun before have left, and their answers are here: another thread may go on beginning others.
void wait_for_accesses(Call& call, Window& window, int target);
// Accesses to the target are over at this origin; at the target as well.
void flush_local(Call& call, Window& window, int target);
void flush(Call& call, Window& window, int target);
void flush_all(Call& call, Window& window);
// The epoch of MPI_Win_start ends, where the target is about to be told: what it finds when it hears of it is whole.
void complete_start(Call& call, Window& window, int target);
// Waits for a lock that was asked for.
void wait_for_lock(Call& call, Window& window, int target);

}  // namespace margay::mpi
