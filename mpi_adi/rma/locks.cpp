// Locks and epochs between groups: in memory that the node shares, or by messages to the member that has that memory.
#include <algorithm>

#include "mpi_adi/rma/conflicts.hpp"
#include "mpi_adi/rma/rma.hpp"

namespace margay::mpi_adi {

bool Rma::is_unreachable(void* rma, std::uint32_t world_rank) {
  const Rma& self = *static_cast<Rma*>(rma);
  // A number that is not a rank counts as lost.
  if (world_rank >= self.parts_.kernel.ranks() || self.parts_.kernel.initiator().is_unreachable(world_rank))
    return true;
  if (self.node_ == nullptr) return false;
  const std::uint32_t local_rank = self.node_->local_rank(world_rank);
  // The node's memory also shows that a process has ended.
  return local_rank == sim::NodeMemory::kNotHere || self.node_->ended(local_rank);
}

sim::HolderDeathTest Rma::holder_death_test() {
  return {&Rma::is_unreachable, this, [](void* rma, std::uint32_t world_rank, std::uint64_t waited_ns) {
            static_cast<Rma*>(rma)->guard_waits_(world_rank, waited_ns);
          }};
}

sim::WindowLock Rma::lock_of(const WindowControl& control) {
  return control.lock(parts_.kernel.me().rank, holder_death_test());
}

sim::AccumulateLock Rma::accumulate_lock(const WindowTarget& target) {
  const bool shared = node_ != nullptr && node_->local_rank(target.world_rank) != sim::NodeMemory::kNotHere;
  // The target's lock, in the node's memory. Without shared memory only this process updates its own memory, so its own
  // lock suffices.
  sim::AccumulateLockData& data = shared ? node_->accumulates(node_->local_rank(target.world_rank)) : own_accumulates_;
  return {data, parts_.kernel.me().rank, holder_death_test()};
}

void Rma::wake(const WindowTarget& target) {
  if (node_ == nullptr) return;
  const std::uint32_t local_rank = node_->local_rank(target.world_rank);
  if (local_rank != sim::NodeMemory::kNotHere) node_->wake(local_rank);
}

void Rma::request_lock(Window& window, int target, LockKind kind) {
  WindowTarget& to = window.target(target);
  to.lock_requested = true;
  if (to.control.here()) {
    const auto wanted = kind == LockKind::exclusive ? sim::WindowLockKind::exclusive : sim::WindowLockKind::shared;
    to.locked = lock_of(to.control).request(static_cast<std::uint32_t>(window.rank()), wanted);
    return;
  }
  // If the target computes, the kernel wakes its coprocessor.
  parts_.kernel.expect_answer(to.world_rank);
  WindowRequestHead head;
  head.kind = kind == LockKind::exclusive ? WindowRequestKind::lock_exclusive : WindowRequestKind::lock_shared;
  send_window_request(window, target, head);
}

bool Rma::has_lock(const Window& window, WindowTarget& target) {
  if (!target.locked && target.control.here()) {
    target.locked = lock_of(target.control).granted(static_cast<std::uint32_t>(window.rank()));
  }
  return target.locked;
}

void Rma::unlock(Window& window, int target) {
  WindowTarget& to = window.target(target);
  const bool requested = std::exchange(to.lock_requested, false);
  if (requested && !to.locked && !to.control.here()) parts_.kernel.count_answer(to.world_rank);  // given up
  to.locked = false;
  to.lock = LockKind::none;
  if (!requested) return;
  // A release in memory is visible at once to members that poll. let_in() wakes members that sleep.
  if (to.control.here()) return release(window, target, to.control, window.rank());
  if (!parts_.kernel.initiator().is_unreachable(to.world_rank)) send(window, target, WindowRequestKind::unlock);
}

void Rma::release(Window& window, int target, const WindowControl& control, int member) {
  lock_of(control).release(static_cast<std::uint32_t>(member),
                           [&](std::uint32_t other) { let_in(window, target, other); });
}

// Wakes a member to which the lock was granted, because it may be asleep. Also wakes the target, which reports the
// grant if the member requested the lock by message.
void Rma::let_in(Window& window, int target, std::uint32_t member) {
  if (member == static_cast<std::uint32_t>(window.rank()) || node_ == nullptr) return;
  const std::uint32_t local_rank = node_->local_rank(window.target(static_cast<int>(member)).world_rank);
  if (local_rank != sim::NodeMemory::kNotHere) node_->ring(local_rank);
  // If this process is the target, its own next round reports the grant (give_locks).
  if (target == window.rank()) return;
  const std::uint32_t at_target = node_->local_rank(window.target(target).world_rank);
  if (local_rank == sim::NodeMemory::kNotHere) {
    node_->wake(at_target);
  } else {
    node_->ring(at_target);
  }
}

// Makes give_locks() poll in each round from now on. Needed when a member may wait for an event that no message
// reports.
void Rma::look_each_round() {
  if (std::ranges::find(parts_.each_round, &rounds_) == parts_.each_round.end()) parts_.each_round.push_back(&rounds_);
}

void Rma::give_locks() {
  bool any = false;
  for (const auto& [context, window] : windows_) {
    std::erase_if(window->waiting, [&, at = window](int member) {
      if (!lock_of(at->control).granted(static_cast<std::uint32_t>(member))) return false;
      send(*at, member, WindowRequestKind::granted);
      return true;
    });
    any |= !window->waiting.empty();
  }
  // If no member waits any more, rounds need no poll.
  if (!any) std::erase(parts_.each_round, &rounds_);
  // After a loss, tries again to end the replies that the kernel was still filling.
  if (parts_.kernel.initiator().losses() != 0) end_losses();
}

// Whether this process may act for a lost member. A lost connection does not mean that the member has ended: a member
// of another node may have the lock and still reach the target. Only the target acts for such a member.
bool Rma::may_withdraw(std::uint32_t world_rank, bool is_own_lock) const {
  return is_own_lock || (node_ != nullptr && node_->local_rank(world_rank) != sim::NodeMemory::kNotHere);
}

// Withdraws the locks and requests of lost members; waiting members get the locks.
void Rma::withdraw_dead() {
  for (const auto& [context, window] : windows_) {
    for (int member = 0; member < window->members(); ++member) {
      if (!parts_.kernel.initiator().is_unreachable(window->target(member).world_rank)) continue;
      std::erase(window->waiting, member);
      if (window->check != nullptr) window->check->announced.end_accesses_of_lost(member);
      for (int target = 0; target < window->members(); ++target) {
        // This process's own lock is in window->control. Its entry among the targets has no lock if all accesses use
        // messages.
        const WindowControl& control = target == window->rank() ? window->control : window->target(target).control;
        if (!control.here() || parts_.kernel.initiator().is_unreachable(window->target(target).world_rank)) continue;
        if (!may_withdraw(window->target(member).world_rank, target == window->rank())) continue;
        lock_of(control).withdraw(static_cast<std::uint32_t>(member),
                                  [&, at = window](std::uint32_t other) { let_in(*at, target, other); });
      }
    }
  }
}

void Rma::send(Window& window, int target, WindowRequestKind kind) {
  const WindowTarget& to = window.target(target);
  // Only posts and completions have counters in the shared memory. An unlock or a grant is sent only if one of the two
  // processes does not map that memory, so it is always a message.
  if (!to.control.here() || kind == WindowRequestKind::unlock || kind == WindowRequestKind::granted) {
    WindowRequestHead head;
    head.kind = kind;
    return send_window_request(window, target, head);
  }
  (kind == WindowRequestKind::posted ? to.control.posts() : to.control.completions())
      .publish(static_cast<std::uint32_t>(window.rank()));
  if (target != window.rank()) node_->ring(to.local_rank);
}

}  // namespace margay::mpi_adi
