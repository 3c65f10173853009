// A fair lock, shared or exclusive, for the epochs of passive targets (MPI_Win_lock): one for each window and target,
// in memory that the node shares. Who asks gets it, or a place in one row of all that wait: a shared request behind an
// exclusive one waits, and when the row moves all shared requests at its head get in at once. So neither sort starves.
//
// A slot for each member is the truth: whether it waits or holds, for which kind, and its ticket. The header's counts
// only save looking at all slots; they are made anew from the slots when the process that was changing them has died.
//
// Invariants
//  1. Slots and counts are changed inside the guard (HolderLock). Outside, a member looks at its own slot, and who let
//     others in at theirs.
//  2. Each slot is stored at once, in an order that has no wrong state between two stores: who leaves is out before
//     others are let in, the next ticket is counted before it is given. So what a death leaves in the slots is the
//     state before a member's step or after it, with some of those that could be let in not let in yet, or not told.
//  3. What a death left undone is done by withdraw() of the dead member: it lets in who can be, and tells all that
//     hold. So each death is followed by it, by at least one that lives. It may be several.
//  4. Each loop over slots ends after their number, which the caller knows and shared memory does not say. Damaged
//     words may let in wrong ones, or none; they lead nowhere else.
//
// Cost, where nobody else wants it: a request and a release are one locked operation each (entering the guard), in two
// lines: the header's, and the one with the member's slot. 36 ns for both, in one process. Each let-in from the row
// looks at all slots twice, and telling those that are let in once more.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>
#include <type_traits>

#include "sim/base/limits.hpp"
#include "sim/shm/holder_lock.hpp"

namespace margay::sim {

// In shared memory, and behind it a word of 64 bits for each member; all zero is free. Members' order in a row of slots
// is the window's.
struct alignas(kCacheLineBytes) WindowLockData {
  std::uint32_t guard = 0;        // of sim/shm/holder_lock
  std::uint32_t next_ticket = 0;  // wraps
  std::uint32_t shared = 0;       // how many hold it so
  std::uint32_t exclusive = 0;
  std::uint32_t waiting = 0;
};
static_assert(std::is_trivially_copyable_v<WindowLockData> && sizeof(WindowLockData) == kCacheLineBytes);

enum class WindowLockKind : std::uint8_t { shared, exclusive };

// What a slot's word says: ticket 32 | 0 29 | exclusive 1 | state 2.
struct WindowLockSlot {
  enum class State : std::uint8_t { free, waiting, granted };

  State state = State::free;
  WindowLockKind kind = WindowLockKind::shared;
  std::uint32_t ticket = 0;

  // Anything that word() does not make is free.
  [[nodiscard]] static WindowLockSlot of(std::uint64_t word) {
    const std::uint64_t low = word & 0xffff'ffff;
    if ((low & kStates) == 0 || (low & kStates) == kStates || low > (kExclusive | kStates)) return {};
    return {static_cast<State>(low & kStates),
            (low & kExclusive) != 0 ? WindowLockKind::exclusive : WindowLockKind::shared,
            static_cast<std::uint32_t>(word >> 32)};
  }
  [[nodiscard]] std::uint64_t word() const {
    return std::uint64_t{ticket} << 32 | (kind == WindowLockKind::exclusive ? kExclusive : 0) |
           static_cast<std::uint64_t>(state);
  }

 private:
  static constexpr std::uint64_t kStates = 3;
  static constexpr std::uint64_t kExclusive = 4;
};

// One process's view of it; keeps no state, so threads may share it. Members are named by their index; one that there
// is not gets nothing. What is done for a member may be done by another process: a target's, for a remote origin.
class WindowLock {
 public:
  // `id` and `gone`: as HolderLock's, `id` of the process that is here. `data`, the slots and what `gone` needs outlive
  // the lock.
  WindowLock(WindowLockData& data, std::span<std::uint64_t> slots, std::uint32_t id, HolderGone gone)
      : data_(&data), slots_(slots), guard_(data.guard, id, gone) {}

  // Whether the member has it at once; else it waits in the row: granted() will say it. Requires: it neither has it
  // nor waits.
  [[nodiscard]] bool request(std::uint32_t member, WindowLockKind kind);

  // Whether a member that waited has it.
  [[nodiscard]] bool granted(std::uint32_t member) const {
    // Acquire: pairs with the release of who let it in, in store(); what all holders before did to the window is seen:
    // each went through the guard when it released, and so handed it on to who let this one in.
    return member < slots_.size() && slot(member).state == WindowLockSlot::State::granted;
  }

  // The member gives it up. `tell(other)` is called for each that is let in, outside of the guard: its bell is to be
  // rung. It may call this lock.
  template <typename Function>
  void release(std::uint32_t member, Function&& tell) {
    tell_all(release_and_let_in(member), tell);
  }
  // The member, which has died or gives up waiting, has it no longer, nor waits; nothing if it did neither. Tells all
  // that hold it, also those that know already: who let them in may have died before it told them.
  template <typename Function>
  void withdraw(std::uint32_t member, Function&& tell) {
    take_out(member);
    tell_all(kAllTickets, tell);
  }

 private:
  // Whom to tell: holders with tickets in a range.
  struct Tickets {
    std::uint32_t first = 0;
    std::uint64_t count = 0;
  };
  static constexpr Tickets kAllTickets = {0, std::uint64_t{1} << 32};

  // What all slots say.
  struct Row {
    std::uint32_t shared = 0;
    std::uint32_t exclusive = 0;
    std::uint32_t waiting = 0;
    // Tickets given since the oldest one of those that wait for either kind; none waits: -1.
    std::int64_t shared_age = -1;
    std::int64_t exclusive_age = -1;
    std::uint32_t oldest_exclusive = 0;  // the member
  };

  void enter();
  [[nodiscard]] Row look() const;
  [[nodiscard]] Tickets let_in();
  void store_counts(const Row& row);
  void repair();
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
  void tell_all(Tickets tickets, Function&& tell) {
    if (tickets.count == 0) return;
    // Holders of that moment: one that has released since needs no bell, nor does one that came since.
    for (std::uint32_t member = 0; member < slots_.size(); ++member) {
      const WindowLockSlot now = slot(member);
      if (now.state == WindowLockSlot::State::granted && now.ticket - tickets.first < tickets.count) tell(member);
    }
  }

  WindowLockData* data_;
  std::span<std::uint64_t> slots_;
  HolderLock guard_;
};

}  // namespace margay::sim
