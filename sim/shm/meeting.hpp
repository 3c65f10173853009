// Where processes that share memory meet in a call that all of them make: each says that it has come, once it has
// written what others are to read; who comes last may do what is to be done once, and opens; the others go on then.
//
// A call costs each process one read-modify-write of a line, and the look at it that finds it open. All words that are
// polled lie in that line: two processes pass it to and fro twice, and where processes outnumber processors nobody
// polls while another one comes.
//
// Invariants
//  1. Who comes last (count of `arrivals`) has acquired what all others wrote before they came.
//  2. Nobody comes to a later meeting before this one has opened, unless a call went wrong: so `opened` is read by all
//     before the next one opens, and `side`, which changes when a meeting opens, is the same for all that come to one.
//     Memory of two sides, written on the side of the meeting, is not written again while somebody reads it.
//  3. A process that found the call to be wrong may leave it and come to a later one: its number takes the place of
//  this
//     one's in `arrivals`. Those that still wait find that, and do not wait for ever; and this meeting never opens.
#pragma once

#include <atomic>
#include <cstdint>
#include <type_traits>

#include "portals/base/assert.hpp"
#include "sim/base/limits.hpp"

namespace margay::sim {

// In shared memory; all zero is a place where nobody has met.
struct alignas(kCacheLineBytes) MeetingData {
  std::uint64_t arrivals = 0;  // number of the meeting 31 | mark 20 | some named another mark 1 | how many have come 12
  std::uint64_t opened = 0;    // number of the meeting 31 | 0 19 | who opened 12 | marks differ 1 | side 1
  std::uint32_t left = 0;      // processes that will not come again
  std::uint32_t round = 0;     // how often all have left: the place is others' then
  std::uint32_t wanted = 0;    // somebody waits for another one's progress (sim/shm/posting)
};
static_assert(std::is_trivially_copyable_v<MeetingData> && sizeof(MeetingData) == kCacheLineBytes);

// One process's view of a place; keeps no state but how many they are.
class Meeting {
 public:
  static constexpr std::uint32_t kNumberBits = 31;
  static constexpr std::uint32_t kMarkBits = 20;
  static constexpr std::uint32_t kMembersMax = (1U << 12) - 1;

  Meeting(MeetingData& data, std::uint32_t members) : data_(&data), members_(members) {
    MARGAY_ASSERT(members != 0 && members <= kMembersMax);
  }

  // Which of two sides of the members' memory the next meeting has.
  [[nodiscard]] unsigned side() const {
    // Relaxed: it last changed when the meeting opened to which this process came before; it has acquired that.
    return static_cast<unsigned>(opened().load(std::memory_order_relaxed) & kSide) ^ 1U;
  }

  enum class Came : std::uint8_t { waits, last, late };
  // This process comes to meeting `number` (not 0; numbers grow, and wrap), for what `mark` says: the same of all, or
  // they did not mean to meet. last: open() is this one's to call. late: others have gone on to a later meeting, and
  // this one never opens.
  //
  // A meeting to which all came is no later one and not this one, whatever its number is: this process was in it. So it
  // does not matter how many numbers lie between two meetings.
  [[nodiscard]] Came come(std::uint32_t number, std::uint32_t mark) {
    MARGAY_DEBUG_ASSERT(number != 0 && number >> kNumberBits == 0 && mark >> kMarkBits == 0);
    std::atomic_ref<std::uint64_t> word(data_->arrivals);
    // Relaxed, no partner: the exchange below says whether it still holds.
    std::uint64_t seen = word.load(std::memory_order_relaxed);
    for (;;) {
      std::uint64_t next = (std::uint64_t{number} << kNumberShift | std::uint64_t{mark} << kMarkShift) + 1;
      const bool all_came = (seen & kCount) == members_;
      if (number_of(seen) == number && !all_came) {
        next = seen + 1;
        if ((seen ^ std::uint64_t{mark} << kMarkShift) & kMark) next |= kOtherMark;
      } else if (is_after(number_of(seen), number) && !all_came) {
        return Came::late;
      }
      // Release: pairs with the acquire of who comes last, which then sees what this process wrote; each exchange
      // continues the release sequence of those before it.
      if (word.compare_exchange_weak(seen, next, std::memory_order_acq_rel, std::memory_order_relaxed)) {
        return (next & kCount) == members_ ? Came::last : Came::waits;
      }
    }
  }
  // Whether marks differ, for who came last.
  [[nodiscard]] bool others_differ() const {
    // Relaxed: come() has acquired it, and nobody else changes it.
    return (std::atomic_ref<std::uint64_t>(data_->arrivals).load(std::memory_order_relaxed) & kOtherMark) != 0;
  }
  // Who came last sees by other means that they did not mean to meet: it is as if a mark had differed.
  void found_other_marks() {
    // Relaxed: all have come, so nobody else changes it; open() reads it in this thread.
    std::atomic_ref<std::uint64_t>(data_->arrivals).fetch_or(kOtherMark, std::memory_order_relaxed);
  }
  // `who`: for the others, opener(). Requires: come() said last.
  void open(std::uint32_t number, std::uint32_t who) {
    MARGAY_DEBUG_ASSERT(number >> kNumberBits == 0 && who <= kMembersMax);
    const std::uint64_t differ = others_differ() ? kDiffer : 0;
    const std::uint64_t word =
        std::uint64_t{number} << kNumberShift | std::uint64_t{who} << kWhoShift | differ | side();
    // Release: pairs with is_open(); what all wrote before they came, and this one since, is seen by all.
    opened().store(word, std::memory_order_release);
  }

  // To be asked again and again by those that wait. `side`: what side() said before this process came; one that opened
  // before, and has the same number after all numbers went round, had the other side.
  [[nodiscard]] bool is_open(std::uint32_t number, unsigned side) const {
    // Acquire: pairs with open().
    const std::uint64_t word = opened().load(std::memory_order_acquire);
    return number_of(word) == number && (word & kSide) == side;
  }
  // Once it is open, before the next one is come to.
  [[nodiscard]] bool marks_differ() const { return (opened().load(std::memory_order_relaxed) & kDiffer) != 0; }
  [[nodiscard]] std::uint32_t opener() const {
    return static_cast<std::uint32_t>(opened().load(std::memory_order_relaxed) >> kWhoShift) & kMembersMax;
  }
  // The meeting that some have come to, and others not yet; 0: there is none. To be asked seldom.
  [[nodiscard]] std::uint32_t latest() const {
    // Relaxed: a hint that calls differ; nothing is read for it.
    const std::uint64_t came = std::atomic_ref<std::uint64_t>(data_->arrivals).load(std::memory_order_relaxed);
    return (came & kCount) == members_ ? 0 : number_of(came);
  }
  // It never opens: somebody has come to a later one without. `side`: as in is_open(). To be asked seldom.
  [[nodiscard]] bool is_abandoned(std::uint32_t number, unsigned side) const {
    // Acquire: pairs with come(): if a later one was begun because this one opened, the look below sees it open.
    const std::uint64_t came = std::atomic_ref<std::uint64_t>(data_->arrivals).load(std::memory_order_acquire);
    return is_after(number_of(came), number) && !is_open(number, side);
  }

  // A word for those that wait for others' progress (sim/shm/posting).
  [[nodiscard]] std::uint32_t& wanted() const { return data_->wanted; }

  // Which processes meet here is over when all of them have left; round() has changed then.
  [[nodiscard]] std::uint32_t round() const {
    // Acquire: pairs with leave(): who takes the place again finds it as it was at first.
    return std::atomic_ref<std::uint32_t>(data_->round).load(std::memory_order_acquire);
  }
  // This process will not come again. Requires: it waits in no meeting. Who is the last one does clear().
  template <typename Clear>
  void leave(Clear clear) {
    // Release: its last reads of the place are over. Acquire: all others' are, if this is the last one.
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
  static constexpr unsigned kNumberShift = 64 - kNumberBits;
  static constexpr unsigned kMarkShift = kNumberShift - kMarkBits;
  static constexpr std::uint64_t kMark = ((std::uint64_t{1} << kMarkBits) - 1) << kMarkShift;
  static constexpr std::uint64_t kOtherMark = std::uint64_t{1} << 12;
  static constexpr std::uint64_t kCount = kOtherMark - 1;
  static_assert(kMarkShift == 13 && kCount == kMembersMax);
  static constexpr unsigned kWhoShift = 2;
  static constexpr std::uint64_t kDiffer = 2;
  static constexpr std::uint64_t kSide = 1;

  [[nodiscard]] std::atomic_ref<std::uint64_t> opened() const { return std::atomic_ref<std::uint64_t>(data_->opened); }
  [[nodiscard]] static std::uint32_t number_of(std::uint64_t word) {
    return static_cast<std::uint32_t>(word >> kNumberShift);
  }
  // Fewer than half of all numbers lie between two members.
  [[nodiscard]] static bool is_after(std::uint32_t number, std::uint32_t other) {
    return number != 0 && static_cast<std::int32_t>((number - other) << (32 - kNumberBits)) > 0;
  }

  MeetingData* data_;
  std::uint32_t members_;
};

}  // namespace margay::sim
