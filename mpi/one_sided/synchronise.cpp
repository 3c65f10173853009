// Synchronisation of one origin with its targets: locks and flushes, and epochs between groups (MPI 4.0, 12.5.2 to
// 12.5.4). MPI_Win_fence is a collective call: mpi/one_sided/window.cpp.
#include "mpi/call/binding.hpp"
#include "mpi/communicator/arguments.hpp"
#include "mpi/one_sided/arguments.hpp"
#include "mpi/one_sided/fast_path.hpp"
#include "mpi_adi/object/group_ops.hpp"
#include "mpi_adi/rma/epoch.hpp"

using namespace margay::mpi;
using margay::sim::TraceSync;

namespace {

// All assertions of MPI 4.0, 12.5.5; each call allows some of them.
constexpr int kAssertions =
    MPI_MODE_NOCHECK | MPI_MODE_NOSTORE | MPI_MODE_NOPUT | MPI_MODE_NOPRECEDE | MPI_MODE_NOSUCCEED;

// Sets an error for an assertion that the call does not allow. margay uses only MPI_MODE_NOCHECK and
// MPI_MODE_NOSUCCEED; it accepts the others without effect.
void check_assertion(Call& call, int assertion, int allowed) {
  if ((assertion & ~(kAssertions & allowed)) != 0) {
    call.error(MPI_ERR_ASSERT,
               "assert is " + std::to_string(assertion) + ", with assertions that this call does not take");
  }
}

// For each member of a group, its rank in the window. A member that is not in the window's group is an error. Costs a
// search of the window's members for each member of the group.
std::vector<int> ranks_in(Call& call, const Window& window, const GroupPtr& group) {
  std::vector<int> ranks;
  for (int member = 0; member < group->size(); ++member) {
    const std::uint32_t world = group->world_ranks[static_cast<std::size_t>(member)];
    int rank = 0;
    while (rank < window.members() && window.targets[static_cast<std::size_t>(rank)].world_rank != world) ++rank;
    if (rank == window.members()) {
      call.error(MPI_ERR_GROUP, "a member of the group is not in the window's group");
      break;
    }
    ranks.push_back(rank);
  }
  return ranks;
}

// Completes the accesses to a target and unlocks it. If the unlock is a message that follows all accesses on their
// wire, no flush is needed.
void unlock_one(Call& call, Window& window, int target) {
  if (Rma::can_unlock_by_message(window, window.target(target))) {
    call.rank().rma().unlock(window, target);
    return wait_for_accesses(call, window, target);
  }
  flush(call, window, target);
  call.rank().rma().unlock(window, target);
}

// Runs a round of progress and yields, in some of the calls. Without this, a program that polls for data of other
// ranks, by calls that never wait, would receive no messages.
void look_at_times(Call& call) {
  if (!call.rank().rma().needs_progress()) return;
  look_once(call);
  yield_processor(call);
}

// The end of a call that completed accesses: records the synchronisation and sets the accesses' errors.
void end_synchronisation(Call& call, Window& window, TraceSync what, int target = -1) {
  look_at_times(call);
  call.rank().rma().record_synchronisation(window, what, target);
  report_errors(call, window);
}

}  // namespace

extern "C" int PMPI_Win_lock(int lock_type, int rank, int assert, MPI_Win win) {
  Call call(call_name<"MPI_Win_lock">);
  Window* const window = checked_window(call, win);
  if (lock_type != MPI_LOCK_SHARED && lock_type != MPI_LOCK_EXCLUSIVE) {
    call.error(MPI_ERR_LOCKTYPE,
               "lock_type is " + std::to_string(lock_type) + ", neither MPI_LOCK_SHARED nor MPI_LOCK_EXCLUSIVE");
  }
  check_assertion(call, assert, MPI_MODE_NOCHECK);
  if (!checked_target(call, window, rank)) return call.done();
  wrong_epoch(call, check_lock(*window, rank));
  WindowTarget& target = window->target(rank);
  // The memory of a dead member may still be mapped here, with a lock that is free and would be granted.
  if (call.device().kernel().initiator().is_unreachable(target.world_rank)) call.error(MPIX_ERR_PROC_FAILED, {});
  if (!call.ok()) return call.failed();
  // Ends the access epoch of a fence, which no access has used (check_lock).
  window->fence = Window::Fence::none;
  target.lock = lock_type == MPI_LOCK_EXCLUSIVE ? LockKind::exclusive : LockKind::shared;
  // Counted before the wait, in which another thread of the rank may use the window.
  ++window->locks;
  if ((assert& MPI_MODE_NOCHECK) == 0) call.rank().rma().request_lock(*window, rank, target.lock);
  wait_for_lock(call, *window, rank);
  if (!call.ok()) {
    // The target was lost: the epoch does not begin.
    --window->locks;
    call.rank().rma().unlock(*window, rank);
    return call.done();
  }
  call.rank().rma().record_synchronisation(*window, TraceSync::lock, rank);
  return call.done();
}
MARGAY_ALIAS(Win_lock)

extern "C" int PMPI_Win_unlock(int rank, MPI_Win win) {
  Call call(call_name<"MPI_Win_unlock">);
  Window* const window = checked_window(call, win);
  if (!checked_target(call, window, rank)) return call.done();
  // A lock of MPI_Win_lock_all ends with MPI_Win_unlock_all.
  if (window->target(rank).lock == LockKind::none || window->lock_all) {
    wrong_epoch(call, "the target is not locked by MPI_Win_lock");
    return call.failed();
  }
  unlock_one(call, *window, rank);
  --window->locks;
  end_synchronisation(call, *window, TraceSync::unlock, rank);
  return call.done();
}
MARGAY_ALIAS(Win_unlock)

extern "C" int PMPI_Win_lock_all(int assert, MPI_Win win) {
  Call call(call_name<"MPI_Win_lock_all">);
  Window* const window = checked_window(call, win);
  check_assertion(call, assert, MPI_MODE_NOCHECK);
  if (window != nullptr) wrong_epoch(call, check_lock_all(*window));
  if (!call.ok()) return call.failed();
  window->fence = Window::Fence::none;
  window->lock_all = true;
  window->lock_all_unchecked = (assert& MPI_MODE_NOCHECK) != 0;
  // The lock of another member is requested by the first access to it. But the program accesses its own memory, and
  // that of a shared window, directly, so these locks are requested now.
  for (int target = 0; target < window->members(); ++target) {
    if (target == window->rank() || window->flavor == MPI_WIN_FLAVOR_SHARED) wait_for_lock(call, *window, target);
  }
  call.rank().rma().record_synchronisation(*window, TraceSync::lock_all);
  return call.done();
}
MARGAY_ALIAS(Win_lock_all)

extern "C" int PMPI_Win_unlock_all(MPI_Win win) {
  Call call(call_name<"MPI_Win_unlock_all">);
  Window* const window = checked_window(call, win);
  if (window != nullptr && !window->lock_all) wrong_epoch(call, "MPI_Win_lock_all was not called");
  if (!call.ok()) return call.failed();
  flush_all(call, *window);
  for (int target = 0; target < window->members(); ++target) call.rank().rma().unlock(*window, target);
  window->lock_all = false;
  end_synchronisation(call, *window, TraceSync::unlock_all);
  return call.done();
}
MARGAY_ALIAS(Win_unlock_all)

extern "C" int PMPI_Win_flush(int rank, MPI_Win win) {
  if (try_fast_flush(rank, win)) return MPI_SUCCESS;
  Call call(call_name<"MPI_Win_flush">);
  Window* const window = checked_window(call, win);
  if (!checked_target(call, window, rank)) return call.done();
  wrong_epoch(call, check_flush(*window, rank));
  if (!call.ok()) return call.failed();
  flush(call, *window, rank);
  end_synchronisation(call, *window, TraceSync::flush, rank);
  return call.done();
}
MARGAY_ALIAS(Win_flush)

extern "C" int PMPI_Win_flush_local(int rank, MPI_Win win) {
  if (try_fast_flush(rank, win)) return MPI_SUCCESS;
  Call call(call_name<"MPI_Win_flush_local">);
  Window* const window = checked_window(call, win);
  if (!checked_target(call, window, rank)) return call.done();
  wrong_epoch(call, check_flush(*window, rank));
  if (!call.ok()) return call.failed();
  flush_local(call, *window, rank);
  end_synchronisation(call, *window, TraceSync::flush_local, rank);
  return call.done();
}
MARGAY_ALIAS(Win_flush_local)

extern "C" int PMPI_Win_flush_all(MPI_Win win) {
  Call call(call_name<"MPI_Win_flush_all">);
  Window* const window = checked_window(call, win);
  if (window != nullptr) wrong_epoch(call, check_flush_all(*window));
  if (!call.ok()) return call.failed();
  flush_all(call, *window);
  end_synchronisation(call, *window, TraceSync::flush_all);
  return call.done();
}
MARGAY_ALIAS(Win_flush_all)

extern "C" int PMPI_Win_flush_local_all(MPI_Win win) {
  Call call(call_name<"MPI_Win_flush_local_all">);
  Window* const window = checked_window(call, win);
  if (window != nullptr) wrong_epoch(call, check_flush_all(*window));
  if (!call.ok()) return call.failed();
  for (int target = 0; target < window->members(); ++target) flush_local(call, *window, target);
  end_synchronisation(call, *window, TraceSync::flush_local_all);
  return call.done();
}
MARGAY_ALIAS(Win_flush_local_all)

extern "C" int PMPI_Win_sync(MPI_Win win) {
  Call call(call_name<"MPI_Win_sync">);
  const Window* const window = checked_window(call, win);
  if (window == nullptr) return call.done();
  look_at_times(call);
  // Orders the program's own loads and stores with those of other processes (unified model; MPI 4.0, 12.5.4).
  margay::sim::order_memory();
  call.rank().rma().record_synchronisation(*window, TraceSync::sync);
  return call.done();
}
MARGAY_ALIAS(Win_sync)

extern "C" int PMPI_Win_post(MPI_Group group, int assert, MPI_Win win) {
  Call call(call_name<"MPI_Win_post">);
  Window* const window = checked_window(call, win);
  const GroupPtr members = checked_group(call, group);
  check_assertion(call, assert, MPI_MODE_NOCHECK | MPI_MODE_NOSTORE | MPI_MODE_NOPUT);
  if (window != nullptr) wrong_epoch(call, check_post(*window));
  if (!call.ok()) return call.failed();
  std::vector<int> ranks = ranks_in(call, *window, members);
  if (!call.ok()) return call.failed();
  window->fence = Window::Fence::none;
  window->exposes = true;
  window->post_group = std::move(ranks);
  // Notifies the origins, whose MPI_Win_start waits for the notification.
  for (const int rank : window->post_group)
    call.rank().rma().send(*window, rank, margay::mpi_adi::WindowRequestKind::posted);
  call.rank().rma().record_synchronisation(*window, TraceSync::post);
  return call.done();
}
MARGAY_ALIAS(Win_post)

extern "C" int PMPI_Win_start(MPI_Group group, int assert, MPI_Win win) {
  Call call(call_name<"MPI_Win_start">);
  Window* const window = checked_window(call, win);
  const GroupPtr members = checked_group(call, group);
  check_assertion(call, assert, MPI_MODE_NOCHECK);
  if (window != nullptr) wrong_epoch(call, check_start(*window));
  if (!call.ok()) return call.failed();
  std::vector<int> ranks = ranks_in(call, *window, members);
  if (!call.ok()) return call.failed();
  window->fence = Window::Fence::none;
  window->starts = true;
  window->start_group = std::move(ranks);
  for (const int rank : window->start_group) {
    WindowTarget& target = window->target(rank);
    target.in_start = true;
    const std::uint32_t post = ++target.started;
    // With MPI_MODE_NOCHECK the post has arrived already. It is counted all the same: an uncounted post would be taken
    // for the post of a later epoch.
    wait_for_target(call, target,
                    [&] { return window->control.posts().has_reached(static_cast<std::uint32_t>(rank), post); });
  }
  call.rank().rma().record_synchronisation(*window, TraceSync::start);
  return call.done();
}
MARGAY_ALIAS(Win_start)

extern "C" int PMPI_Win_complete(MPI_Win win) {
  Call call(call_name<"MPI_Win_complete">);
  Window* const window = checked_window(call, win);
  if (window != nullptr && !window->starts) wrong_epoch(call, "MPI_Win_start was not called");
  if (!call.ok()) return call.failed();
  for (const int rank : window->start_group) {
    // Before the notification, after which the target may use its memory.
    complete_start(call, *window, rank);
    window->target(rank).in_start = false;
    if (!call.device().kernel().initiator().is_unreachable(window->target(rank).world_rank))
      call.rank().rma().send(*window, rank, margay::mpi_adi::WindowRequestKind::completed);
  }
  window->starts = false;
  window->start_group.clear();
  call.rank().rma().record_synchronisation(*window, TraceSync::complete);
  report_errors(call, *window);
  return call.done();
}
MARGAY_ALIAS(Win_complete)

namespace {

// Completions are counted for each origin, so that a completion of a later epoch is not lost.
bool has_completed(Window& window, int origin) {
  return window.control.completions().has_reached(static_cast<std::uint32_t>(origin), window.target(origin).waited + 1);
}

// Uses up one completion of each origin.
void end_exposure(Window& window) {
  for (const int rank : window.post_group) ++window.target(rank).waited;
  window.post_group.clear();
  window.exposes = false;
  if (window.check != nullptr) window.check->announced.end_exposure();
}

}  // namespace

extern "C" int PMPI_Win_wait(MPI_Win win) {
  Call call(call_name<"MPI_Win_wait">);
  Window* const window = checked_window(call, win);
  if (window != nullptr && !window->exposes) wrong_epoch(call, "MPI_Win_post was not called");
  if (!call.ok()) return call.failed();
  for (const int rank : window->post_group) {
    const WindowTarget& origin = window->target(rank);
    // A lost origin ends the wait, and the exposure epoch, with an error.
    wait_for_target(call, origin, [&] { return has_completed(*window, rank); });
  }
  end_exposure(*window);
  call.rank().rma().record_synchronisation(*window, TraceSync::wait);
  report_errors(call, *window);
  return call.done();
}
MARGAY_ALIAS(Win_wait)

extern "C" int PMPI_Win_test(MPI_Win win, int* flag) {
  Call call(call_name<"MPI_Win_test">);
  Window* const window = checked_window(call, win);
  call.not_null(flag, "flag");
  if (window != nullptr && !window->exposes) wrong_epoch(call, "MPI_Win_post was not called");
  if (!call.ok()) return call.failed();
  look_once(call);
  const margay::sim::Kernel& kernel = call.device().kernel();
  bool all = true;
  for (const int rank : window->post_group) {
    const WindowTarget& origin = window->target(rank);
    if (has_completed(*window, rank)) continue;
    all = false;
    // A lost origin never completes.
    if (kernel.initiator().is_unreachable(origin.world_rank)) call.error(MPIX_ERR_PROC_FAILED, {});
  }
  *flag = all || !call.ok() ? 1 : 0;
  if (*flag != 0) {
    end_exposure(*window);
    call.rank().rma().record_synchronisation(*window, TraceSync::wait);
    report_errors(call, *window);
  } else {
    yield_processor(call);
  }
  return call.done();
}
MARGAY_ALIAS(Win_test)
