// The comment above a store inside the guard ("after a death here") describes the state that the process leaves if it
// dies directly after that store. The process that takes the guard over runs repair(), which reads the slots only, so a
// wrong count does no harm; repair() may itself be cut short and run again.
#include "sim/shm/window_lock.hpp"

#include <algorithm>

namespace margay::sim {

void WindowLock::enter() {
  if (guard_.enter() == HolderLock::Entry::taken_over) [[unlikely]]
    repair();
}

bool WindowLock::request(std::uint32_t member, WindowLockKind kind) {
  if (member >= slots_.size()) return false;
  enter();
  const WindowLockSlot before = slot(member);
  bool granted = before.state == WindowLockSlot::State::granted && before.kind == kind;
  if (before.state == WindowLockSlot::State::free) {
    const std::uint32_t shared = load(data_->shared);
    const std::uint32_t exclusive = load(data_->exclusive);
    const std::uint32_t waiting = load(data_->waiting);
    const std::uint32_t ticket = load(data_->next_ticket);
    granted = waiting == 0 && exclusive == 0 && (kind == WindowLockKind::shared || shared == 0);
    // After a death here, one ticket stays unused. In the other order the next request could get the same ticket.
    store(data_->next_ticket, ticket + 1);
    // After a death here, a count is too high; the guard's next holder recomputes it.
    if (!granted) {
      store(data_->waiting, waiting + 1);
    } else if (kind == WindowLockKind::shared) {
      store(data_->shared, shared + 1);
    } else {
      store(data_->exclusive, exclusive + 1);
    }
    // After a death here, the member holds or waits, and is dead. It is withdrawn like any other.
    store(
        slots_[member],
        WindowLockSlot{granted ? WindowLockSlot::State::granted : WindowLockSlot::State::waiting, kind, ticket}.word());
  }
  guard_.leave();
  return granted;
}

WindowLock::Tickets WindowLock::release_and_let_in(std::uint32_t member) {
  if (member >= slots_.size()) return {};
  enter();
  const WindowLockSlot before = slot(member);
  // After a death here, the member is out, a count is too high, and requests that could be granted are not. The guard's
  // next holder recomputes the counts. The grants are made when the dead one is withdrawn (invariant 3), or sooner.
  store(slots_[member], std::uint64_t{0});
  Tickets tickets;
  if (load(data_->waiting) != 0) {
    tickets = let_in();
  } else if (before.state == WindowLockSlot::State::granted) {
    std::uint32_t& count = before.kind == WindowLockKind::shared ? data_->shared : data_->exclusive;
    // Never below zero: the count may be damaged.
    store(count, std::max(load(count), 1U) - 1);
  }
  guard_.leave();
  // After a death here, members whose request was granted are not notified before the dead one is withdrawn.
  return tickets;
}

void WindowLock::take_out(std::uint32_t member) {
  enter();
  // After a death here: as in release_and_let_in(). In the other order, another member could be granted an incompatible
  // kind while this member's slot still shows that it holds the lock.
  if (member < slots_.size()) store(slots_[member], std::uint64_t{0});
  static_cast<void>(let_in());
  guard_.leave();
}

WindowLock::SlotSums WindowLock::scan() const {
  SlotSums sums;
  const std::uint32_t next = load(data_->next_ticket);
  for (std::uint32_t member = 0; member < slots_.size(); ++member) {
    const WindowLockSlot one = slot(member);
    if (one.state == WindowLockSlot::State::free) continue;
    if (one.state == WindowLockSlot::State::granted) {
      ++(one.kind == WindowLockKind::shared ? sums.shared : sums.exclusive);
      continue;
    }
    ++sums.waiting;
    // Wraps as the tickets do: correct while fewer than 2^32 were given since the oldest one that waits.
    const std::int64_t age = next - one.ticket;
    if (one.kind == WindowLockKind::shared) {
      sums.shared_age = std::max(sums.shared_age, age);
    } else if (age > sums.exclusive_age) {
      sums.exclusive_age = age;
      sums.oldest_exclusive = member;
    }
  }
  return sums;
}

// Grants the requests that the queue's head and the holders allow, and recomputes the counts. Inside the guard.
WindowLock::Tickets WindowLock::let_in() {
  SlotSums sums = scan();
  const std::uint32_t next = load(data_->next_ticket);
  Tickets tickets;
  if (sums.exclusive_age > sums.shared_age) {
    if (sums.exclusive == 0 && sums.shared == 0) {
      WindowLockSlot one = slot(sums.oldest_exclusive);
      one.state = WindowLockSlot::State::granted;
      // After a death here, the member holds the lock, is not notified, and the counts are old (invariant 3).
      store(slots_[sums.oldest_exclusive], one.word());
      ++sums.exclusive;
      --sums.waiting;
      tickets = {one.ticket, 1};
    }
  } else if (sums.shared_age >= 0 && sums.exclusive == 0) {
    for (std::uint32_t member = 0; member < slots_.size(); ++member) {
      WindowLockSlot one = slot(member);
      if (one.state != WindowLockSlot::State::waiting || one.kind != WindowLockKind::shared) continue;
      // A shared request behind the oldest exclusive one waits.
      if (static_cast<std::int64_t>(next - one.ticket) < sums.exclusive_age) continue;
      one.state = WindowLockSlot::State::granted;
      // After a death here, some of the shared requests at the head are granted. The others among them still have older
      // tickets than the first exclusive one, and are granted when the dead one is withdrawn.
      store(slots_[member], one.word());
      ++sums.shared;
      sums.waiting -= sums.waiting != 0 ? 1 : 0;
    }
    // The range of the granted tickets: from the oldest shared request on, up to the oldest exclusive one.
    tickets = {static_cast<std::uint32_t>(next - sums.shared_age),
               static_cast<std::uint64_t>(sums.shared_age - sums.exclusive_age)};
  }
  store_counts(sums);
  return tickets;
}

// After a death between these stores, the guard is still the dead one's, and its next holder repeats them.
void WindowLock::store_counts(const SlotSums& sums) {
  store(data_->shared, sums.shared);
  store(data_->exclusive, sums.exclusive);
  store(data_->waiting, sums.waiting);
}

// Recomputes the header inside a guard that was taken from a dead process. Grants nothing, because the process that
// grants must also notify, which request() cannot. After a death here, the next holder repeats it.
void WindowLock::repair() {
  // The next ticket is counted before it is given, so it is right unless memory was damaged. It must not be the ticket
  // of a member that waits.
  std::uint32_t next = load(data_->next_ticket);
  for (std::uint32_t member = 0; member < slots_.size(); ++member) {
    const WindowLockSlot one = slot(member);
    if (one.state == WindowLockSlot::State::waiting && static_cast<std::int32_t>(one.ticket - next) >= 0)
      next = one.ticket + 1;
  }
  store(data_->next_ticket, next);
  store_counts(scan());
}

}  // namespace margay::sim
