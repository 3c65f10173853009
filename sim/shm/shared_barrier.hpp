// Successive shared-memory barriers of the same processes, with a check that all members make the same call. Each
// member arrives after it has written the data that others will read; the last one to arrive may run a once-only step,
// then opens the barrier, and the others continue.
//
// A call costs each process one read-modify-write of a line, and the poll that finds the barrier open. All polled words
// lie in that line, so a barrier of two processes moves the line between them four times. Where processes outnumber
// processors, no process polls the line while another one arrives.
//
// Invariants
//  1. The last to arrive (count of `arrivals`) has acquired everything that the others wrote before they arrived.
//  2. No process arrives at a later barrier before this one has opened, unless a call went wrong. So all members read
//     `opened` before the next barrier opens. `side` changes when a barrier opens, so it is the same for all that
//     arrive at one barrier. The members' memory has two sides, which barriers use in turn, so no side is overwritten
//     while it is read.
//  3. A process whose call is wrong may leave its barrier and arrive at a later one, whose number replaces the earlier
//     number in `arrivals`. Processes that still wait at the earlier barrier, which never opens, detect this
//     (is_abandoned()).
#pragma once

#include <atomic>
#include <cstdint>
#include <type_traits>

#include "portals/base/assert.hpp"
#include "sim/base/limits.hpp"

namespace margay::sim {

// The barriers' data in shared memory; all zero: no barrier so far.
struct alignas(kCacheLineBytes) SharedBarrierData {
  // number of the barrier 31 | mark 20 | marks differ 1 | number of members that have arrived 12
  std::uint64_t arrivals = 0;
  // number of the barrier 31 | 0 19 | opener 12 | marks differ 1 | side 1
  std::uint64_t opened = 0;
  // The number of members that have called leave().
  std::uint32_t left = 0;
  // The number of times that all members have left. Each time, the memory is free for other members.
  std::uint32_t round = 0;
  // 1: a process waits, or has waited, for another one's progress (sim/shm/posting).
  std::uint32_t wanted = 0;
};
static_assert(std::is_trivially_copyable_v<SharedBarrierData> && sizeof(SharedBarrierData) == kCacheLineBytes);

// Whether the barriers are in their initial state: there was none, or all members have left since the latest one. Any
// process.
[[nodiscard]] inline bool is_clear(SharedBarrierData& data) {
  // Acquire: pairs with SharedBarrier::leave(), so that its resets are visible.
  return std::atomic_ref<std::uint64_t>(data.arrivals).load(std::memory_order_acquire) == 0 &&
         std::atomic_ref<std::uint32_t>(data.left).load(std::memory_order_acquire) == 0;
}

// One process's view of the barriers; keeps no state but the number of members.
class SharedBarrier {
 public:
  // The widths of the fields of SharedBarrierData, and the most members that the count's 12 bits can hold.
  static constexpr std::uint32_t kNumberBits = 31;
  static constexpr std::uint32_t kMarkBits = 20;
  static constexpr std::uint32_t kMembersMax = (1U << 12) - 1;

  // `members`: the number of processes that arrive at each barrier.
  SharedBarrier(SharedBarrierData& data, std::uint32_t members) : data_(&data), members_(members) {
    MARGAY_ASSERT(members != 0 && members <= kMembersMax);
  }

  // The side of the members' memory that the next barrier uses.
  [[nodiscard]] unsigned side() const {
    // Relaxed: the word last changed when this process's last barrier opened, and this process has acquired that
    // change.
    return static_cast<unsigned>(opened().load(std::memory_order_relaxed) & kSide) ^ 1U;
  }

  // The position of an arrival. last: this process must call open(). late: others have gone on to a later barrier, and
  // this one never opens.
  enum class ArrivalOrder : std::uint8_t { waits, last, late };
  // Arrives at barrier `number` (not 0; numbers grow, and wrap). `mark` identifies the call: it must be equal for all.
  //
  // If all have arrived at the barrier in `arrivals`, this process took part in it. So that barrier is earlier than
  // `number`, whatever the distance between the two numbers.
  [[nodiscard]] ArrivalOrder arrive(std::uint32_t number, std::uint32_t mark) {
    MARGAY_DEBUG_ASSERT(number != 0 && number >> kNumberBits == 0 && mark >> kMarkBits == 0);
    std::atomic_ref<std::uint64_t> word(data_->arrivals);
    // Relaxed, no partner: the exchange below verifies it.
    std::uint64_t seen = word.load(std::memory_order_relaxed);
    for (;;) {
      std::uint64_t next = (std::uint64_t{number} << kNumberShift | std::uint64_t{mark} << kMarkShift) + 1;
      const bool all_arrived = (seen & kCount) == members_;
      if (number_of(seen) == number && !all_arrived) {
        next = seen + 1;
        if ((seen ^ std::uint64_t{mark} << kMarkShift) & kMark) next |= kOtherMark;
      } else if (is_after(number_of(seen), number) && !all_arrived) {
        return ArrivalOrder::late;
      }
      // Release: pairs with the acquire of the last to arrive, which then sees what this process wrote; each exchange
      // continues the release sequence of those before it.
      if (word.compare_exchange_weak(seen, next, std::memory_order_acq_rel, std::memory_order_relaxed)) {
        return (next & kCount) == members_ ? ArrivalOrder::last : ArrivalOrder::waits;
      }
    }
  }
  // Whether marks differ. For the last to arrive.
  [[nodiscard]] bool has_other_marks() const {
    // Relaxed: arrive() has acquired it, and no other process changes it.
    return (std::atomic_ref<std::uint64_t>(data_->arrivals).load(std::memory_order_relaxed) & kOtherMark) != 0;
  }
  // Records that the calls differ although their marks are equal. For the last to arrive.
  void record_other_marks() {
    // Relaxed: all have arrived, so no other process changes it; open() reads it in this thread.
    std::atomic_ref<std::uint64_t>(data_->arrivals).fetch_or(kOtherMark, std::memory_order_relaxed);
  }
  // Opens the barrier. `who`: the result of the others' opener(). Requires: arrive() returned `last`.
  void open(std::uint32_t number, std::uint32_t who) {
    MARGAY_DEBUG_ASSERT(number >> kNumberBits == 0 && who <= kMembersMax);
    const std::uint64_t differ = has_other_marks() ? kDiffer : 0;
    const std::uint64_t word =
        std::uint64_t{number} << kNumberShift | std::uint64_t{who} << kWhoShift | differ | side();
    // Release: pairs with is_open(): everything written before the arrivals, and by this process since, is seen by all.
    opened().store(word, std::memory_order_release);
  }

  // Whether the barrier is open; polled by the waiting members. `side`: the result of side() before this process
  // arrived. A barrier that opened earlier, with the same number after all numbers wrapped, had the other side.
  [[nodiscard]] bool is_open(std::uint32_t number, unsigned side) const {
    // Acquire: pairs with open().
    const std::uint64_t word = opened().load(std::memory_order_acquire);
    return number_of(word) == number && (word & kSide) == side;
  }
  // For an open barrier, before the arrival at the next one: whether marks differed, and `who` of open().
  [[nodiscard]] bool marks_differ() const { return (opened().load(std::memory_order_relaxed) & kDiffer) != 0; }
  [[nodiscard]] std::uint32_t opener() const {
    return static_cast<std::uint32_t>(opened().load(std::memory_order_relaxed) >> kWhoShift) & kMembersMax;
  }
  // The number of the incomplete barrier; 0: none. To be called rarely.
  [[nodiscard]] std::uint32_t latest() const {
    // Relaxed: a hint that calls differ; no other data is read because of it.
    const std::uint64_t came = std::atomic_ref<std::uint64_t>(data_->arrivals).load(std::memory_order_relaxed);
    return (came & kCount) == members_ ? 0 : number_of(came);
  }
  // Whether the barrier never opens, because a process has arrived at a later one instead. `side`: as in is_open(). To
  // be called rarely.
  [[nodiscard]] bool is_abandoned(std::uint32_t number, unsigned side) const {
    // Acquire: pairs with arrive(): if a later barrier was begun because this one opened, the test below sees this one
    // open.
    const std::uint64_t came = std::atomic_ref<std::uint64_t>(data_->arrivals).load(std::memory_order_acquire);
    return is_after(number_of(came), number) && !is_open(number, side);
  }

  // The word for posting.hpp's set_wanted().
  [[nodiscard]] std::uint32_t& wanted() const { return data_->wanted; }

  // The number of times that all members have left: when it changes, the memory is free for other members.
  [[nodiscard]] std::uint32_t round() const {
    // Acquire: pairs with leave(): the next members find the memory in its initial state.
    return std::atomic_ref<std::uint32_t>(data_->round).load(std::memory_order_acquire);
  }
  // Ends this process's membership. The last to leave runs clear(). Requires: it waits in no barrier.
  template <typename Clear>
  void leave(Clear clear) {
    // Release: its last reads of the memory are complete. Acquire: so are all others', if this is the last one.
    if (std::atomic_ref<std::uint32_t>(data_->left).fetch_add(1, std::memory_order_acq_rel) + 1 != members_) return;
    data_->arrivals = 0;
    data_->opened = 0;
    data_->left = 0;
    data_->wanted = 0;
    clear();
    // Release: pairs with round().
    std::atomic_ref<std::uint32_t>(data_->round).fetch_add(1, std::memory_order_release);
  }

 private:
  // The fields of `arrivals`: their positions and masks.
  static constexpr unsigned kNumberShift = 64 - kNumberBits;
  static constexpr unsigned kMarkShift = kNumberShift - kMarkBits;
  static constexpr std::uint64_t kMark = ((std::uint64_t{1} << kMarkBits) - 1) << kMarkShift;
  static constexpr std::uint64_t kOtherMark = std::uint64_t{1} << 12;
  static constexpr std::uint64_t kCount = kOtherMark - 1;
  static_assert(kMarkShift == 13 && kCount == kMembersMax);
  // The fields of `opened`.
  static constexpr unsigned kWhoShift = 2;
  static constexpr std::uint64_t kDiffer = 2;
  static constexpr std::uint64_t kSide = 1;

  [[nodiscard]] std::atomic_ref<std::uint64_t> opened() const { return std::atomic_ref<std::uint64_t>(data_->opened); }
  [[nodiscard]] static std::uint32_t number_of(std::uint64_t word) {
    return static_cast<std::uint32_t>(word >> kNumberShift);
  }
  // Correct while fewer than half of all numbers lie between two members.
  [[nodiscard]] static bool is_after(std::uint32_t number, std::uint32_t other) {
    return number != 0 && static_cast<std::int32_t>((number - other) << (32 - kNumberBits)) > 0;
  }

  // In the node's segment; shared by all members.
  SharedBarrierData* data_;
  // Equal in all members, or the barrier never opens.
  std::uint32_t members_;
};

}  // namespace margay::sim
