// A rank's bell. Other threads and processes ring it after they have published something for the rank, because its
// owner thread may be asleep.
//
// Invariants
//  1. A ringer publishes, then reads `sleeping`; a sleeper sets `sleeping`, then polls once more. At least one of the
//     two sees the other's store, so no wakeup is lost.
//  2. The ringer's read must not pass its publishing store. The ringer pays no fence for that, because the sleeper
//     runs membarrier between its store and its poll. Where membarrier is refused on the ringer's side, the ringer uses
//     an atomic read-modify-write instead; where it is refused on the sleeper's side, no sleep exceeds 1 ms.
//  3. A ringer that clears `sleeping` changes `word` afterwards. The sleeper has read `word` before it set `sleeping`,
//     so the futex then refuses to sleep.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "sim/base/limits.hpp"
#include "sim/shm/barrier.hpp"

namespace margay::sim {

// No timeout.
inline constexpr std::uint64_t kForeverNs = ~std::uint64_t{0};
// The longest sleep of an owner for which membarrier is refused. A missed ring then costs a millisecond, and a thousand
// polls a second cost an idle process less than a hundredth of a processor.
inline constexpr std::uint64_t kUnsureSleepNs = 1'000'000;

// The bell's data in shared memory (RankArea); all zero is a bell at rest.
struct alignas(kCacheLineBytes) BellData {
  // The number of rings; the futex.
  std::uint32_t word = 0;
  // 1: a thread sleeps, or is about to.
  std::uint32_t sleeping = 0;
};
static_assert(std::is_trivially_copyable_v<BellData> && sizeof(BellData) == kCacheLineBytes);
static_assert(offsetof(BellData, word) == 0 && offsetof(BellData, sleeping) == 4);

// The side that wakes. Any thread of any process may use it; it keeps no state.
class BellRinger {
 public:
  // `registered`: the result of this process's register_node_barrier(). `data` outlives the ringer.
  BellRinger(BellData& data, bool registered) : data_(&data), registered_(registered) {}

  // Wakes a sleeping owner. To be called after publishing. Costs a load (an atomic addition where not registered),
  // unless the owner sleeps.
  void ring_if_sleeping() {
    std::atomic_ref<std::uint32_t> sleeping(data_->sleeping);
    if (registered_) {
      // This fence keeps only the compiler from moving the read above the publishing store. The membarrier in
      // BellOwner::begin_sleep, its partner, keeps the processor from doing so. Without either, the read could see 0
      // before the message is visible, the owner's last poll could miss the message, and no ring would follow.
      std::atomic_signal_fence(std::memory_order_seq_cst);
      if (sleeping.load(std::memory_order_relaxed) == 0) [[likely]]
        return;
    } else {
      // Pairs with the exchange in BellOwner::begin_sleep: both are read-modify-writes of one word, so one comes first.
      // If this one is first, the owner's exchange acquires our publishing store, and the owner's poll finds the
      // message. If the owner's is first, we read 1 and ring. A plain load could be older than both.
      if (sleeping.fetch_add(0, std::memory_order_acq_rel) == 0) return;
    }
    wake();
  }
  // Wakes all waiters on the bell, flagged or not: a sleeping owner, a message coprocessor. A system call.
  void ring();

 private:
  // The rare part of ring_if_sleeping(): one ringer of several makes the system call.
  void wake();

  // The bell of the rank to be woken.
  BellData* data_;
  // Whether the sleeper's membarrier reaches this process.
  bool registered_;
};

// The side that sleeps: one per thread. Several threads may have a BellOwner of one bell, but at most one of them at a
// time may be between begin_sleep() and end_sleep(). Use:
//   bell.begin_sleep();
//   if (!look_once_more()) bell.sleep(timeout_ns);
//   bell.end_sleep();
class BellOwner {
 public:
  // `data` outlives it.
  explicit BellOwner(BellData& data) : data_(&data) {}

  // From here on every ring_if_sleeping() rings. The caller must poll once more after it.
  void begin_sleep();
  // Sleeps until a ring since begin_sleep(), the timeout, or spuriously. kForeverNs: no timeout.
  void sleep(std::uint64_t timeout_ns);
  // Ends the sleep, or its preparation.
  void end_sleep();

  // For a thread that waits for unconditional rings only (a message coprocessor): the number of rings, and a wait until
  // the number differs from `seen`.
  [[nodiscard]] std::uint32_t rings() const;
  void wait_rung(std::uint32_t seen, std::uint64_t timeout_ns);

 private:
  BellData* data_;
  // The number of rings at begin_sleep(); the futex does not sleep when it has changed.
  std::uint32_t seen_ = 0;
  // membarrier worked, so no ring can be missed.
  bool sure_ = false;
};

}  // namespace margay::sim
