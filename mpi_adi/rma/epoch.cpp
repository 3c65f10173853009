#include "mpi_adi/rma/epoch.hpp"

namespace margay::mpi_adi {

namespace {

constexpr const char* kInFence = "an epoch of MPI_Win_fence has accesses: close it with another MPI_Win_fence first";
constexpr const char* kInStart = "MPI_Win_complete has not closed the epoch that MPI_Win_start began";
constexpr const char* kInLock = "a target is locked: call MPI_Win_unlock first";
constexpr const char* kInLockAll = "all targets are locked: call MPI_Win_unlock_all first";

}  // namespace

const char* begin_access(Window& window, int target) {
  const WindowTarget& to = window.targets[static_cast<std::size_t>(target)];
  // Passive and start epochs first: they name their targets, while a fence allows all.
  if (window.lock_all || to.lock != LockKind::none || (window.starts && to.in_start)) return nullptr;
  if (window.fence != Window::Fence::none) {
    // A used epoch must be ended by another fence; an unused epoch forbids no other epoch.
    window.fence = Window::Fence::used;
    return nullptr;
  }
  if (window.starts) return "the target is not in the group of MPI_Win_start";
  if (window.locks != 0) return "the target is not locked, although others are: call MPI_Win_lock for it first";
  return "no access epoch is open: call MPI_Win_fence, MPI_Win_start, MPI_Win_lock or MPI_Win_lock_all first";
}

sim::TraceEpoch access_epoch(const Window& window, int target) {
  const WindowTarget& to = window.targets[static_cast<std::size_t>(target)];
  if (window.lock_all) return sim::TraceEpoch::lock_all;
  if (to.lock == LockKind::shared) return sim::TraceEpoch::lock_shared;
  if (to.lock == LockKind::exclusive) return sim::TraceEpoch::lock_exclusive;
  if (window.starts && to.in_start) return sim::TraceEpoch::start;
  return window.fence == Window::Fence::none ? sim::TraceEpoch::none : sim::TraceEpoch::fence;
}

const char* check_flush(const Window& window, int target) {
  if (window.lock_all || window.targets[static_cast<std::size_t>(target)].lock != LockKind::none) return nullptr;
  return "the target is not locked: a flush needs an epoch of MPI_Win_lock or MPI_Win_lock_all";
}

const char* check_flush_all(const Window& window) {
  if (window.lock_all || window.locks != 0) return nullptr;
  return "no target is locked: a flush needs an epoch of MPI_Win_lock or MPI_Win_lock_all";
}

// An epoch of an earlier fence, used or not, is correct: this fence ends it.
const char* check_fence(const Window& window) {
  if (window.starts) return kInStart;
  if (window.exposes) return "MPI_Win_wait has not closed the epoch that MPI_Win_post began";
  if (window.locks != 0) return kInLock;
  return window.lock_all ? kInLockAll : nullptr;
}

const char* check_start(const Window& window) {
  if (window.starts) return kInStart;
  // An unused fence's epoch does not count (MPI 4.0, 12.5.1).
  if (window.fence == Window::Fence::used) return kInFence;
  if (window.locks != 0) return kInLock;
  return window.lock_all ? kInLockAll : nullptr;
}

const char* check_post(const Window& window) {
  if (window.exposes) return "MPI_Win_wait has not closed the epoch that MPI_Win_post began";
  return window.fence == Window::Fence::used ? kInFence : nullptr;
}

const char* check_lock(const Window& window, int target) {
  if (window.lock_all) return kInLockAll;
  if (window.targets[static_cast<std::size_t>(target)].lock != LockKind::none) return "the target is locked already";
  if (window.starts) return kInStart;
  return window.fence == Window::Fence::used ? kInFence : nullptr;
}

const char* check_lock_all(const Window& window) {
  if (window.lock_all) return "all targets are locked already";
  if (window.locks != 0) return kInLock;
  if (window.starts) return kInStart;
  return window.fence == Window::Fence::used ? kInFence : nullptr;
}

const char* check_free(const Window& window) {
  if (window.starts) return kInStart;
  if (window.exposes) return "MPI_Win_wait has not closed the epoch that MPI_Win_post began";
  if (window.locks != 0) return kInLock;
  return window.lock_all ? kInLockAll : nullptr;
}

}  // namespace margay::mpi_adi
