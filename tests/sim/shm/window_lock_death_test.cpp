// Tests of deaths inside a window lock. A member dies after each instruction of each step; once it is withdrawn, the
// state must be that before the step or that after it. Also tests with processes that are killed at any moment while
// others continue.
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <random>
#include <vector>

#include "sim/shm/window_lock.hpp"
#include "tests/sim/shm_pin.hpp"
#include "tests/sim/single_step.hpp"
#include "tests/sim/window_lock_table.hpp"
#include "tests/support/seeds.hpp"

namespace margay::sim::test {
namespace {

constexpr std::uint32_t kPlayers = 5;
constexpr std::uint32_t kVictim = 0;
constexpr std::uint32_t kDeadBefore = 1;  // the member that the victim withdraws, if that is its step

void some_steps(WindowLockTable& table, Deaths& deaths, std::mt19937_64& random) {
  table.data.next_ticket = static_cast<std::uint32_t>(random() % 2 == 0 ? 0 : random());
  for (std::uint64_t steps = random() % 12; steps > 0; --steps) {
    const auto member = static_cast<std::uint32_t>(random() % kPlayers);
    WindowLock lock = table.lock(kPlayers, member, deaths);
    if (WindowLockSlot::of(table.slots[member]).state == WindowLockSlot::State::free) {
      static_cast<void>(lock.request(member, random() % 2 == 0 ? WindowLockKind::shared : WindowLockKind::exclusive));
    } else {
      lock.release(member, [](std::uint32_t) {});
    }
  }
}

// The step in which the victim dies.
enum class VictimsStep : std::uint8_t { shared, exclusive, release, withdraw_other };
void take_step(WindowLockTable& table, Deaths& deaths, VictimsStep step) {
  WindowLock lock = table.lock(kPlayers, kVictim, deaths);
  switch (step) {
    case VictimsStep::shared:
      static_cast<void>(lock.request(kVictim, WindowLockKind::shared));
      break;
    case VictimsStep::exclusive:
      static_cast<void>(lock.request(kVictim, WindowLockKind::exclusive));
      break;
    case VictimsStep::release:
      lock.release(kVictim, [](std::uint32_t) {});
      break;
    case VictimsStep::withdraw_other:
      lock.withdraw(kDeadBefore, [](std::uint32_t) {});
  }
}

struct Stage {
  WindowLockTable table;
  Deaths deaths;
  std::atomic<std::uint32_t> done;
  VictimsStep step;
};

// Releases the survivors one after the other, the oldest ticket first, and checks that all of them get the lock, in the
// order of tickets, and writers alone. Returns the fault; empty if there is none.
std::string drain(WindowLockTable& table, Deaths& deaths, std::uint32_t survivor) {
  WindowLock lock = table.lock(kPlayers, survivor, deaths);
  for (std::uint32_t rounds = 0;; ++rounds) {
    const std::string wrong = wrong_at_rest(table, kPlayers);
    if (!wrong.empty()) return wrong;
    if (rounds > kPlayers) return "it does not become free";
    std::uint32_t holder = kPlayers;
    for (std::uint32_t member = 0; member < kPlayers; ++member) {
      if (lock.granted(member)) holder = member;
    }
    if (holder == kPlayers) break;
    lock.release(holder, [&](std::uint32_t) {});
  }
  for (const std::uint64_t slot : table.of(kPlayers)) {
    if (slot != 0) return "a process is left over";
  }
  return {};
}

// Withdraws the victim, which died with `left` in memory; before its step the memory was `before`. `method`: 1 if a
// survivor acts before. Returns the fault; empty if there is none.
std::string bury(const WindowLockTable& before, const WindowLockTable& left, VictimsStep step, unsigned method) {
  WindowLockTable table = left;
  Deaths deaths{};
  deaths.dead[kVictim].store(1);
  if (step == VictimsStep::withdraw_other) deaths.dead[kDeadBefore].store(1);
  constexpr std::uint32_t kSurvivor = kPlayers - 1;
  WindowLock lock = table.lock(kPlayers, kSurvivor, deaths);
  std::uint32_t reported = 0;
  const auto notify = [&](std::uint32_t member) { reported |= 1U << member; };
  const bool acts = method != 0;
  if (method == 1) {
    if (WindowLockSlot::of(table.slots[kSurvivor]).state == WindowLockSlot::State::free) {
      static_cast<void>(lock.request(kSurvivor, WindowLockKind::shared));
    } else if (lock.granted(kSurvivor)) {
      lock.release(kSurvivor, notify);
    } else {
      lock.withdraw(kSurvivor, notify);
    }
  }
  lock.withdraw(kVictim, notify);
  if (step == VictimsStep::withdraw_other) lock.withdraw(kDeadBefore, notify);
  for (std::uint32_t member = 0; member < kPlayers; ++member) {
    const bool dead = deaths.dead[member].load() != 0;
    const WindowLockSlot now = WindowLockSlot::of(table.slots[member]);
    if (dead && table.slots[member] != 0) return "a dead one is not out";
    if (dead || (acts && member == kSurvivor)) continue;
    const WindowLockSlot then = WindowLockSlot::of(before.slots[member]);
    if ((now.state == WindowLockSlot::State::free) != (then.state == WindowLockSlot::State::free) ||
        now.ticket != then.ticket || now.kind != then.kind ||
        (then.state == WindowLockSlot::State::granted && now.state != WindowLockSlot::State::granted)) {
      return "a survivor's place is another one";
    }
    if (now.state == WindowLockSlot::State::granted && (reported >> member & 1) == 0) return "a holder is not notified";
  }
  const std::string wrong = wrong_at_rest(table, kPlayers);
  if (!wrong.empty()) return wrong;
  return drain(table, deaths, kSurvivor);
}

TEST_CASE("window lock: withdrawing a member that died after any instruction repairs the lock") {
  const Mapped<Stage> stage;
  const Pinned pinned(0);  // with the child, which runs for one instruction at a time
  SingleStepped child(stage->done, [&] { take_step(stage->table, stage->deaths, stage->step); });
  std::uint32_t states = 0;
  const testing::Seeds seeds(testing::of_threads(400));
  for (const std::uint64_t seed : seeds) {
    CAPTURE(seed);
    std::mt19937_64 random(seed);
    stage->table = {};
    some_steps(stage->table, stage->deaths, random);
    const bool is_free = WindowLockSlot::of(stage->table.slots[kVictim]).state == WindowLockSlot::State::free;
    VictimsStep step = random() % 4 == 0 ? VictimsStep::withdraw_other : VictimsStep::release;
    if (step == VictimsStep::release && is_free)
      step = random() % 2 == 0 ? VictimsStep::shared : VictimsStep::exclusive;
    if (random() % 8 == 0) stage->table.data.guard = Deaths::kIds + 1;  // the victim takes the guard over
    const WindowLockTable before = stage->table;
    WindowLockTable last = before;
    const auto look = [&] {
      if (std::memcmp(&last, &stage->table, sizeof last) == 0) return;
      ++states;
      last = stage->table;
      for (unsigned method = 0; method < 2; ++method) REQUIRE_EQ(bury(before, last, step, method), "");
    };
    stage->step = step;
    if (!child.take(look)) {
      MESSAGE("a child can't be traced here");
      return;
    }
    // The child has entered the guard, made the step, and left the guard.
    REQUIRE_EQ(stage->table.data.guard, 0);
  }
  CHECK_GE(states, seeds.count());
}

// Members 0 and 1 are processes that are killed and restarted with another id, 2 is this one.
constexpr std::uint32_t kCrowdMembers = 3;
struct Crowd {
  WindowLockTable table;
  Deaths deaths;
  std::atomic<std::uint8_t> inside[kCrowdMembers];  // 1: shared, 2: exclusive
  std::atomic<std::uint32_t> wrong;
  std::uint64_t sum;  // under the lock
  std::atomic<std::uint64_t> added[kCrowdMembers];
};

void take_turn(Crowd& crowd, WindowLock& lock, std::uint32_t me, WindowLockKind kind) {
  if (!lock.request(me, kind)) {
    while (!lock.granted(me)) ::sched_yield();
  }
  crowd.inside[me].store(kind == WindowLockKind::exclusive ? 2 : 1);
  for (std::uint32_t other = 0; other < kCrowdMembers; ++other) {
    if (other == me) continue;
    const std::uint8_t there = crowd.inside[other].load();
    if (there == 2 || (there != 0 && kind == WindowLockKind::exclusive)) crowd.wrong.fetch_add(1);
  }
  if (kind == WindowLockKind::exclusive) {
    ++crowd.sum;
    crowd.added[me].fetch_add(1);
  }
  crowd.inside[me].store(0);
  lock.release(me, [](std::uint32_t) {});
}

pid_t start_member(Crowd& crowd, std::uint32_t me, std::uint32_t id) {
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child != 0) return child;
  std::mt19937_64 random(id);
  WindowLock lock = crowd.table.lock(kCrowdMembers, id, crowd.deaths);
  for (;;) take_turn(crowd, lock, me, random() % 2 == 0 ? WindowLockKind::shared : WindowLockKind::exclusive);
}

TEST_CASE("window lock: members are killed at any moment, and the others continue") {
  const Mapped<Crowd> crowd;
  const std::uint64_t deaths = testing::of_threads(3000);
  std::mt19937_64 random(7);
  WindowLock mine = crowd->table.lock(kCrowdMembers, 0, crowd->deaths);
  std::uint32_t next_id = 1;
  const auto bury_one = [&](pid_t child, std::uint32_t member, std::uint32_t id) {
    int how = 0;
    REQUIRE_EQ(::kill(child, SIGKILL), 0);
    REQUIRE_EQ(::waitpid(child, &how, 0), child);
    REQUIRE(WIFSIGNALED(how));  // it has not exited after an error of its own
    REQUIRE_EQ(WTERMSIG(how), SIGKILL);
    crowd->inside[member].store(0);
    crowd->deaths.dead[id].store(1);
    // Withdraws the dead member at once; a member that polls would do the same.
    mine.withdraw(member, [](std::uint32_t) {});
  };
  pid_t children[2];
  std::uint32_t ids[2];
  for (std::uint32_t member = 0; member < 2; ++member) {
    ids[member] = next_id++;
    children[member] = start_member(*crowd, member, ids[member]);
  }
  for (std::uint64_t death = 0; death < deaths; ++death) {
    CAPTURE(death);
    const auto member = static_cast<std::uint32_t>(death % 2);  // it was started before the other
    take_steps(random() % 20'000);
    for (std::uint64_t turns = random() % 3; turns > 0; --turns) {
      take_turn(*crowd, mine, 2, random() % 2 == 0 ? WindowLockKind::shared : WindowLockKind::exclusive);
    }
    bury_one(children[member], member, ids[member]);
    ids[member] = next_id++;
    children[member] = start_member(*crowd, member, ids[member]);
  }
  for (std::uint32_t member = 0; member < 2; ++member) bury_one(children[member], member, ids[member]);
  CHECK_EQ(crowd->wrong.load(), 0);
  std::uint64_t added = 0;
  for (const auto& one : crowd->added) added += one.load();
  // A member may have died after it added to the sum and before it counted that.
  CHECK_GE(crowd->sum, added);
  CHECK_LE(crowd->sum - added, deaths + 2);
  CHECK_GT(crowd->sum, 0);
  CHECK_EQ(wrong_at_rest(crowd->table, kCrowdMembers), "");
  for (const std::uint64_t slot : crowd->table.slots) CHECK_EQ(slot, 0);
}

}  // namespace
}  // namespace margay::sim::test
