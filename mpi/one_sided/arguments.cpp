#include "mpi/one_sided/arguments.hpp"

#include "mpi_adi/rank/wait.hpp"
#include "mpi_adi/rma/epoch.hpp"

namespace margay::mpi {

namespace {

// Messages are formatted out of line, because every access passes the checks.
[[gnu::noinline]] void bad_window(Call& call, MPI_Win handle) {
  call.error(MPI_ERR_WIN, handle == MPI_WIN_NULL
                              ? "the window is MPI_WIN_NULL"
                              : "window " + in_hex(handle) + " is not a valid window (freed, or never created)");
}

[[gnu::noinline]] void bad_target(Call& call, const Window& window, int rank) {
  call.error(MPI_ERR_RANK, "target " + std::to_string(rank) + " is not a rank of the window's group (0 to " +
                               std::to_string(window.members() - 1) + ", or MPI_PROC_NULL)");
}

[[gnu::noinline]] void bad_displacement(Call& call, MPI_Aint displacement) {
  call.error(MPI_ERR_DISP, "target_disp is " + std::to_string(displacement) + ", below 0");
}

[[gnu::noinline]] void bad_range(Call& call, const WindowTarget& to, int target, MPI_Aint displacement, bool known,
                                 std::int64_t from, std::int64_t end) {
  call.error(MPI_ERR_RMA_RANGE,
             "the access is to bytes " +
                 (known ? "[" + std::to_string(from) + ", " + std::to_string(end) + ")" : std::string("past 2^63")) +
                 " of the window of rank " + std::to_string(target) + ", which has " + std::to_string(to.bytes) +
                 " bytes (displacement " + std::to_string(displacement) + ", in units of " + std::to_string(to.unit) +
                 ")");
}

[[gnu::noinline]] void bad_sizes(Call& call, std::uint64_t origin_bytes, std::uint64_t target_bytes) {
  call.error(MPI_ERR_ARG, "the origin's elements are " + std::to_string(origin_bytes) + " bytes, the target's " +
                              std::to_string(target_bytes));
}

}  // namespace

Window* checked_window(Call& call, MPI_Win handle) {
  Window* const window = call.rank().handles().windows().find(handle);
  if (window == nullptr) [[unlikely]] {
    bad_window(call, handle);
    return nullptr;
  }
  // The handler is set even after an earlier error, which then goes to it.
  call.on(*window->communicator);
  return call.ok() ? window : nullptr;
}

bool checked_target(Call& call, const Window* window, int rank) {
  if (window == nullptr || rank == MPI_PROC_NULL) return false;
  if (rank >= 0 && rank < window->members()) [[likely]]
    return call.ok();
  bad_target(call, *window, rank);
  return false;
}

void wrong_epoch(Call& call, const char* sentence) {
  if (sentence != nullptr) call.error(MPI_ERR_RMA_SYNC, sentence);
}

void report_errors(Call& call, Window& window) {
  if (window.error_class == MPI_SUCCESS) return;
  call.error(window.error_class, std::move(window.error_text));
  window.error_class = MPI_SUCCESS;
  window.error_text.clear();
}

// The origin checks the range, so that the call that caused an error reports it. For dynamic windows the target checks
// it.
bool check_range(Call& call, const Window& window, int target, MPI_Aint displacement, std::int64_t count,
                 const Datatype& type, std::uint64_t& offset) {
  const WindowTarget& to = window.targets[static_cast<std::size_t>(target)];
  if (window.memory.dynamic()) {
    offset = static_cast<std::uint64_t>(displacement);
    return true;  // checked at the target, which has the list of attached memory
  }
  // The bounds of the data, relative to the first element's address: with a negative extent, later elements lie below
  // it.
  std::int64_t low = 0, high = 0, step = 0, begin = 0, from = 0, to_end = 0;
  const bool dense = type.dense();
  low = dense ? 0 : type.definition->true_bounds.lower;
  high = dense ? type.extent : type.definition->true_bounds.upper;
  // The arguments are the program's: each step may overflow.
  const bool known = !__builtin_mul_overflow(count - 1, type.extent, &step) &&
                     !__builtin_mul_overflow(displacement, static_cast<std::int64_t>(to.unit), &begin) &&
                     !__builtin_add_overflow(begin, low + std::min<std::int64_t>(step, 0), &from) &&
                     !__builtin_add_overflow(begin, high + std::max<std::int64_t>(step, 0), &to_end);
  offset = static_cast<std::uint64_t>(begin);
  if (known && from >= 0 && static_cast<std::uint64_t>(to_end) <= to.bytes) [[likely]]
    return true;
  bad_range(call, to, target, displacement, known, from, to_end);
  return false;
}

bool check_access(Call& call, const AccessArguments& arguments, Window*& window, Access& access) {
  window = checked_window(call, arguments.window);
  if (window == nullptr) return false;
  // If both sides have the same arguments, an error names neither.
  const bool apart = arguments.origin_type != arguments.target_type || arguments.origin_count != arguments.target_count;
  const auto checked = [&](MPI_Datatype handle, std::int64_t count, const char* side) {
    Datatype* const type = call.datatype(handle, count);
    if (type != nullptr) static_cast<void>(call.elements(count, *type));
    if (apart) call.append_part(side);
    return type;
  };
  access.type = checked(arguments.origin_type, arguments.origin_count,
                        arguments.origin_is_result ? "of the result" : "of the origin");
  access.target_type = checked(arguments.target_type, arguments.target_count, "of the target");
  if (!call.ok()) return false;
  call.address(arguments.origin, arguments.origin_count, access.type,
               arguments.origin_is_result ? "the result's buffer" : "the origin's buffer");
  if (!checked_target(call, window, arguments.target)) return false;
  if (arguments.displacement < 0 && !window->memory.dynamic()) {
    bad_displacement(call, arguments.displacement);
  }
  const std::uint64_t bytes = static_cast<std::uint64_t>(arguments.origin_count) * access.type->size;
  const std::uint64_t target_bytes = static_cast<std::uint64_t>(arguments.target_count) * access.target_type->size;
  if (bytes != target_bytes) [[unlikely]]
    bad_sizes(call, bytes, target_bytes);
  if (!call.ok()) return false;
  if (bytes != 0 && !check_range(call, *window, arguments.target, arguments.displacement, arguments.target_count,
                                 *access.target_type, access.offset)) {
    return false;
  }
  access.buffer = const_cast<void*>(arguments.origin);  // a put only reads it
  access.count = arguments.origin_count;
  access.target = arguments.target;
  access.target_count = arguments.target_count;
  return true;
}

// May wait for the lock of the epoch's first access, and while too many accesses are in progress.
bool enter_epoch(Call& call, Window& window, int target) {
  wrong_epoch(call, begin_access(window, target));
  if (call.ok()) wait_for_lock(call, window, target);
  if (call.ok()) wait_for_room(call);
  return call.ok();
}

void wait_for_room(Call& call) {
  const Rma& rma = call.rank().rma();
  if (!rma.is_full()) [[likely]]
    return;
  // Accesses to a lost peer end, too, so this wait ends.
  wait_until(call.rank(), [&rma] { return rma.has_room(); });
}

// Returns at once if the lock was granted, or if MPI_MODE_NOCHECK promises that none is needed.
void wait_for_lock(Call& call, Window& window, int target) {
  WindowTarget& to = window.target(target);
  if (to.locked) return;
  // A lock of MPI_Win_lock_all is requested when it is first needed.
  if (to.lock == LockKind::none && window.lock_all) {
    to.lock = LockKind::shared;
    if (!window.lock_all_unchecked) call.rank().rma().request_lock(window, target, LockKind::shared);
  }
  if (!to.lock_requested) return;
  Rma& rma = call.rank().rma();
  wait_for_target(call, to, [&] { return rma.has_lock(window, to); });
}

void wait_until_sent(Call& call, WindowTarget& target) {
  wait_for_target(call, target, [&target, now = target.sending.now()] { return target.sending.over(now); });
}

void wait_for_accesses(Call& call, Window& window, int target) {
  WindowTarget& to = window.target(target);
  wait_for_target(call, to, [&to, sending = to.sending.now(), awaited = to.awaited.now()] {
    return to.sending.over(sending) && to.awaited.over(awaited);
  });
}

namespace {

// Accesses to mapped memory of a dead process succeed; their epoch fails.
void report_dead_target(Call& call, const WindowTarget& target) {
  if (target.lock != LockKind::none && call.device().kernel().initiator().is_unreachable(target.world_rank))
    call.error(MPIX_ERR_PROC_FAILED, {});
}

}  // namespace

void complete_checked(Call& call, Window& window, int target, Completed what) {
  window.check->buffers.end_all(target);
  WindowCheck::Open& open = window.check->open[static_cast<std::size_t>(target)];
  const bool any = open.reads || (what == Completed::all && open.others);
  if (!any || window.fence == Window::Fence::used) return;  // a fence itself completes them
  open.reads = false;
  if (what == Completed::all) open.others = false;
  Outstanding outstanding;
  call.rank().rma().announce_completed(window, target, what, 0, &outstanding);
  wait_until(call.rank(), [&] { return outstanding.count == 0; });
}

void flush_local(Call& call, Window& window, int target) {
  wait_for_accesses(call, window, target);
  complete_announced(call, window, target, Completed::reads);
}

// Puts that have no answers of their own mark the target as unflushed; a flush behind them requests one answer for all.
void flush(Call& call, Window& window, int target) {
  // Without puts since the last flush the answers suffice.
  if (window.target(target).unflushed) {
    wait_until_sent(call, window.target(target));
    call.rank().rma().begin_flush(window, target);
  }
  wait_for_accesses(call, window, target);
  report_dead_target(call, window.target(target));
  complete_announced(call, window, target, Completed::all);
}

// If the notification of the epoch's end is a message, it follows the accesses on their wire, and no flush is needed.
void complete_start(Call& call, Window& window, int target) {
  WindowTarget& to = window.target(target);
  if (!Rma::ends_by_message(window, to)) return flush(call, window, target);
  wait_for_accesses(call, window, target);
  to.unflushed = false;
}

// Starts the flushes of all targets before it waits, so that their round trips overlap.
void flush_all(Call& call, Window& window) {
  for (int target = 0; target < window.members(); ++target) wait_until_sent(call, window.target(target));
  for (int target = 0; target < window.members(); ++target) call.rank().rma().begin_flush(window, target);
  for (int target = 0; target < window.members(); ++target) wait_for_accesses(call, window, target);
  for (int target = 0; target < window.members(); ++target) {
    report_dead_target(call, window.target(target));
    complete_announced(call, window, target, Completed::all);
  }
}

}  // namespace margay::mpi
