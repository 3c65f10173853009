// Tests of the bell's guarantee, without a clock: if the sleeper's last poll found nothing, the publisher has rung when
// its call returns. Mutants of the bell must be caught, which shows that the test can fail. A mutant with a wrong order
// of steps runs through its one bad schedule, step by step. The mutant without the barrier fails only if both sides run
// at the same time on two processors, so it runs until it is caught.
#include <doctest/doctest.h>

#include <atomic>
#include <thread>

#include "sim/shm/bell.hpp"
#include "tests/sim/shm_pin.hpp"
#include "tests/support/seeds.hpp"

namespace margay::sim {
namespace {

enum class Break {
  nothing,
  no_look,              // the sleeper sleeps without a poll after begin_sleep()
  no_barrier,           // the sleeper's begin_sleep() has no membarrier
  ring_before_publish,  // the publisher reads the flag first
};

struct alignas(kCacheLineBytes) Line {
  std::atomic<std::uint32_t> value{0};
};

class Race {
 public:
  Race(Break what, bool registered) : what_(what), registered_(registered) {}

  // Returns the number of words, of `rounds`, that the sleeper neither saw nor was rung for; stops at the first.
  std::uint32_t run(std::uint32_t rounds) {
    std::thread publisher([&] { publish(rounds); });
    std::uint32_t slept_through = 0;
    {
      const Pinned pinned(0);
      for (std::uint32_t round = 1; round <= rounds && slept_through == 0; ++round) slept_through += sleep_once(round);
    }
    ends_.store(true);
    publisher.join();
    return slept_through;
  }

 private:
  // Both sides may have only one processor.
  static void pause_or_yield(std::uint32_t& spins) {
    spin_pause();
    if (++spins % 4096 == 0) std::this_thread::yield();
  }

  static void await(const Line& line, std::uint32_t round) {
    for (std::uint32_t spins = 0; line.value.load(std::memory_order_acquire) != round;) pause_or_yield(spins);
  }

  void publish(std::uint32_t rounds) {
    const Pinned pinned(1);
    BellRinger ringer(data_, registered_);
    for (std::uint32_t round = 1; round <= rounds; ++round) {
      for (std::uint32_t spins = 0; begun_.value.load(std::memory_order_acquire) != round;) {
        if (ends_.load()) return;
        pause_or_yield(spins);
      }
      // Loads the cache line of the flag. The store to `elsewhere_`, whose line the sleeper has, precedes that of the
      // word, so the word stays in this processor's store buffer while the flag is read.
      static_cast<void>(std::atomic_ref<std::uint32_t>(data_.sleeping).load(std::memory_order_relaxed));
      if (what_ == Break::nothing || what_ == Break::no_barrier) take_steps(round % 193);
      elsewhere_.value.store(round, std::memory_order_relaxed);
      if (what_ == Break::ring_before_publish) {
        ringer.ring_if_sleeping();
        rang_early_.value.store(round, std::memory_order_release);
        await(looked_, round);
      }
      published_.value.store(round, std::memory_order_release);
      if (what_ != Break::ring_before_publish) ringer.ring_if_sleeping();
      rang_.value.store(round, std::memory_order_release);
    }
  }

  // Returns 1 if the sleeper would sleep for ever.
  std::uint32_t sleep_once(std::uint32_t round) {
    BellOwner owner(data_);
    elsewhere_.value.store(0, std::memory_order_relaxed);
    begun_.value.store(round, std::memory_order_release);
    switch (what_) {
      case Break::no_look:
        await(rang_, round);
        break;  // the word is published, and there was no sleeper for which to ring
      case Break::ring_before_publish:
        await(rang_early_, round);
        break;
      case Break::nothing:
      case Break::no_barrier:
        take_steps((round / 193) % 64);
        break;
    }
    const std::uint32_t before = owner.rings();
    if (what_ == Break::no_barrier) {
      std::atomic_ref<std::uint32_t>(data_.sleeping).exchange(1, std::memory_order_acq_rel);
    } else {
      owner.begin_sleep();
    }
    const bool found = what_ != Break::no_look && published_.value.load(std::memory_order_acquire) == round;
    looked_.value.store(round, std::memory_order_release);
    await(rang_, round);
    const bool rung = owner.rings() != before;
    owner.end_sleep();
    return found || rung ? 0 : 1;
  }

  const Break what_;
  const bool registered_;
  BellData data_;
  Line begun_, published_, rang_early_, looked_, rang_, elsewhere_;
  std::atomic<bool> ends_{false};
};

// A membarrier that has to reach a busy processor takes up to 100 us; rounds without one are quick.
constexpr std::uint32_t kRounds = margay::testing::of_threads(8'000);
constexpr std::uint32_t kQuickRounds = margay::testing::of_threads(200'000);

TEST_CASE("bell race: every word is found or rung for") {
  CHECK_EQ(Race(Break::nothing, register_node_barrier()).run(kRounds), 0);
  CHECK_EQ(Race(Break::nothing, false).run(kRounds), 0);
}

TEST_CASE("bell race: a broken bell is caught") {
  const bool registered = register_node_barrier();
  CHECK_EQ(Race(Break::no_look, registered).run(1), 1);
  CHECK_EQ(Race(Break::ring_before_publish, registered).run(1), 1);
  // Needs both sides at once on two processors, and a ringer without a read-modify-write. On a busy machine the two
  // may not meet for many rounds.
  if (registered && std::thread::hardware_concurrency() > 1) {
    bool caught = false;
    for (int attempt = 0; attempt < 100 && !caught; ++attempt) {
      caught = Race(Break::no_barrier, registered).run(kQuickRounds) != 0;
    }
    CHECK(caught);
  }
}

}  // namespace
}  // namespace margay::sim
