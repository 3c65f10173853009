// A fair lock, shared or exclusive, for passive-target epochs (MPI_Win_lock): one for each window and target, in memory
// that the node shares. A request is granted at once or waits in a queue, one for both kinds. A shared request behind
// an exclusive one waits. When the queue advances, all shared requests at its head are granted at once. So neither kind
// starves.
//
// The slots, one for each member, are authoritative: whether the member waits or holds, for which kind, and its ticket.
// The header's counts only save scanning all slots; they are recomputed from the slots when a process has died while it
// was changing them.
//
// Invariants
//  1. Slots and counts are changed inside the guard (HolderLock). Outside, a member reads its own slot, and a process
//     that granted others reads theirs.
//  2. Each slot is written by one store. The order of the stores leaves no wrong state between two of them: a member's
//     slot is free before others are granted, and next_ticket has grown before a slot gets the ticket. So after a death
//     the slots hold the state before a member's step or after it, perhaps with some grants not yet made, or not
//     notified.
//  3. withdraw() of the dead member completes what its death left undone: it makes all possible grants and notifies all
//     holders. So after each death at least one living process calls it; several may.
//  4. Each loop over slots is bounded by their number, which comes from the caller and not from shared memory. Damaged
//     words may grant wrong members, or none; they do no other harm.
//
// Cost without contention: a request and a release take one locked operation each (entering the guard). They touch two
// lines: the header's, and the one with the member's slot. 36 ns for both, in one process. A grant from the queue scans
// all slots, once for an exclusive request and twice for shared ones; the notification scans them once more.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>
#include <type_traits>

#include "sim/base/limits.hpp"
#include "sim/shm/holder_lock.hpp"

namespace margay::sim {

// The header, in shared memory; after it a word of 64 bits for each member, in the window's order. All zero is free.
struct alignas(kCacheLineBytes) WindowLockData {
  // Word of sim/shm/holder_lock.
  std::uint32_t guard = 0;
  // The ticket of the next request; wraps.
  std::uint32_t next_ticket = 0;
  // The numbers of members that hold the lock shared, that hold it exclusively, and that wait.
  std::uint32_t shared = 0;
  std::uint32_t exclusive = 0;
  std::uint32_t waiting = 0;
};
static_assert(std::is_trivially_copyable_v<WindowLockData> && sizeof(WindowLockData) == kCacheLineBytes);

// MPI_LOCK_SHARED and MPI_LOCK_EXCLUSIVE.
enum class WindowLockKind : std::uint8_t { shared, exclusive };

// The decoded word of a slot: ticket 32 | 0 29 | exclusive 1 | state 2.
struct WindowLockSlot {
  enum class State : std::uint8_t { free, waiting, granted };

  State state = State::free;
  WindowLockKind kind = WindowLockKind::shared;
  std::uint32_t ticket = 0;

  // Decodes a word. Any word that word() does not produce is free.
  [[nodiscard]] static WindowLockSlot of(std::uint64_t word) {
    const std::uint64_t low = word & 0xffff'ffff;
    if ((low & kStates) == 0 || (low & kStates) == kStates || low > (kExclusive | kStates)) return {};
    return {static_cast<State>(low & kStates),
            (low & kExclusive) != 0 ? WindowLockKind::exclusive : WindowLockKind::shared,
            static_cast<std::uint32_t>(word >> 32)};
  }
  // The reverse of of().
  [[nodiscard]] std::uint64_t word() const {
    return std::uint64_t{ticket} << 32 | (kind == WindowLockKind::exclusive ? kExclusive : 0) |
           static_cast<std::uint64_t>(state);
  }

 private:
  static constexpr std::uint64_t kStates = 3;
  static constexpr std::uint64_t kExclusive = 4;
};

// One process's view of the lock. It keeps no state, so threads may share it. Members are identified by their index; an
// invalid index gets nothing. Another process may act for a member: the target's process acts for a remote origin.
class WindowLock {
 public:
  // `id` (of this process) and `is_dead`: as HolderLock's. `data`, the slots and the context of `is_dead` outlive the
  // lock.
  WindowLock(WindowLockData& data, std::span<std::uint64_t> slots, std::uint32_t id, HolderDeathTest is_dead)
      : data_(&data), slots_(slots), guard_(data.guard, id, is_dead) {}

  // Requests the lock for a member. True: granted at once; otherwise the member waits in the queue until granted().
  // Requires: it neither has it nor waits.
  [[nodiscard]] bool request(std::uint32_t member, WindowLockKind kind);

  // Whether a member's request has been granted.
  [[nodiscard]] bool granted(std::uint32_t member) const {
    // Acquire: pairs with the release in store() of the process that granted it. The member sees what all earlier
    // holders did to the window, because each of them passed the guard when it released the lock.
    return member < slots_.size() && slot(member).state == WindowLockSlot::State::granted;
  }

  // Releases the lock of a member. `notify(other)` is called, outside of the guard, for each member that is now granted
  // the lock, so that the caller rings its bell. `notify` may call this lock.
  template <typename Function>
  void release(std::uint32_t member, Function&& notify) {
    notify_all(release_and_let_in(member), notify);
  }
  // Removes a member that has died or gives up waiting; no effect if it neither holds nor waits. Notifies all that hold
  // the lock, even those that were notified before, because the process that granted it may have died before it
  // notified them.
  template <typename Function>
  void withdraw(std::uint32_t member, Function&& notify) {
    take_out(member);
    notify_all(kAllTickets, notify);
  }

 private:
  // The holders to notify: those with tickets in a range.
  struct Tickets {
    std::uint32_t first = 0;
    std::uint64_t count = 0;
  };
  static constexpr Tickets kAllTickets = {0, std::uint64_t{1} << 32};

  // The sums over all slots.
  struct SlotSums {
    std::uint32_t shared = 0;
    std::uint32_t exclusive = 0;
    std::uint32_t waiting = 0;
    // Tickets given since the oldest one that waits, for either kind; -1: none waits.
    std::int64_t shared_age = -1;
    std::int64_t exclusive_age = -1;
    std::uint32_t oldest_exclusive = 0;  // the member
  };

  // Enters the guard, and repairs the counts after a dead holder.
  void enter();
  // Scans all slots.
  [[nodiscard]] SlotSums scan() const;
  // Makes the grants that are possible.
  [[nodiscard]] Tickets let_in();
  // Replaces the header's counts by recomputed ones.
  void store_counts(const SlotSums& sums);
  // Recomputes the header after a holder of the guard has died.
  void repair();
  // The guarded parts of release() and withdraw().
  [[nodiscard]] Tickets release_and_let_in(std::uint32_t member);
  void take_out(std::uint32_t member);

  [[nodiscard]] WindowLockSlot slot(std::uint32_t member) const {
    // Acquire: see granted(). Inside the guard it needs no partner.
    return WindowLockSlot::of(std::atomic_ref<std::uint64_t>(slots_[member]).load(std::memory_order_acquire));
  }
  template <typename Word>
  [[nodiscard]] static Word load(Word& word) {
    // Relaxed: inside the guard, which orders it.
    return std::atomic_ref<Word>(word).load(std::memory_order_relaxed);
  }
  template <typename Word>
  static void store(Word& word, Word value) {
    // Release: a slot's pairs with the acquire in granted(). All of them: keeps the compiler from changing the order in
    // which a death may cut these stores (invariant 2).
    std::atomic_ref<Word>(word).store(value, std::memory_order_release);
  }
  template <typename Function>
  void notify_all(Tickets tickets, Function&& notify) {
    if (tickets.count == 0) return;
    // Notifies members of the range that still hold the lock. One that has released it since needs no bell, and neither
    // does a holder with a newer ticket.
    for (std::uint32_t member = 0; member < slots_.size(); ++member) {
      const WindowLockSlot now = slot(member);
      if (now.state == WindowLockSlot::State::granted && now.ticket - tickets.first < tickets.count) notify(member);
    }
  }

  // The header, and the slots after it, in shared memory.
  WindowLockData* data_;
  std::span<std::uint64_t> slots_;
  // Held for a request, a release or a withdrawal, never while a member waits.
  HolderLock guard_;
};

}  // namespace margay::sim
