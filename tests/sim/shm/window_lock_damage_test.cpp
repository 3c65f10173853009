// Tests of a window lock in damaged memory: nonexistent members, and words with values that no member writes.
#include <random>
#include <vector>

#include "sim/shm/window_lock.hpp"
#include "tests/sim/window_lock_table.hpp"
#include "tests/support/seeds.hpp"

namespace margay::sim::test {
namespace {

// The word behind the last slot, which would be a reader if it were a slot.
constexpr std::uint64_t kNotASlot = 0x1234'0000'0002;

TEST_CASE("window lock: nonexistent members do not get the lock") {
  WindowLockTable table{};
  Deaths deaths{};
  WindowLock lock = table.lock(2, 0, deaths);
  table.slots[2] = kNotASlot;
  CHECK_FALSE(lock.request(2, WindowLockKind::shared));
  CHECK_FALSE(lock.request(0xffff'ffffU, WindowLockKind::exclusive));
  CHECK_FALSE(lock.granted(2));
  lock.release(2, [](std::uint32_t) { CHECK(false); });
  lock.withdraw(2, [](std::uint32_t) { CHECK(false); });
  CHECK_EQ(table.slots[0] | table.slots[1], 0);
  CHECK_EQ(table.slots[2], kNotASlot);
  CHECK(lock.request(1, WindowLockKind::exclusive));
}

TEST_CASE("window lock: a slot's word is read back as written, or is free") {
  for (const std::uint64_t ticket : {0ULL, 1ULL, 0xffff'ffffULL}) {
    for (std::uint64_t low = 0; low < 4096; ++low) {
      const std::uint64_t word = ticket << 32 | low;
      const WindowLockSlot slot = WindowLockSlot::of(word);
      const bool is_one = low == 1 || low == 2 || low == 5 || low == 6;
      CHECK_EQ(slot.state != WindowLockSlot::State::free, is_one);
      if (is_one) CHECK_EQ(slot.word(), word);
      CHECK(WindowLockSlot::of(word | 0x8000'0000U).state == WindowLockSlot::State::free);
    }
  }
}

TEST_CASE("window lock: the next member recomputes the counts of a dead one from the slots") {
  for (const std::uint32_t first_ticket : {7U, 0xffff'fffeU}) {
    WindowLockTable table{};
    Deaths deaths{};
    deaths.dead[3].store(1);
    table.data.next_ticket = first_ticket;
    WindowLock lock = table.lock(4, 0, deaths);
    const auto damage = [&] {
      table.data.guard = 3 + 1;
      table.data.next_ticket = first_ticket + 1;  // which a member has
      table.data.shared = table.data.exclusive = table.data.waiting = 5;
    };
    damage();
    CHECK(lock.request(0, WindowLockKind::exclusive));
    CHECK_FALSE(lock.request(1, WindowLockKind::exclusive));
    CHECK_FALSE(lock.request(2, WindowLockKind::exclusive));
    damage();
    CHECK_FALSE(lock.request(3, WindowLockKind::shared));
    CHECK_EQ(wrong_at_rest(table, 4), "");
    std::vector<std::uint32_t> reported;
    for (std::uint32_t member = 0; member < 4; ++member) {
      REQUIRE(lock.granted(member));
      lock.release(member, [&](std::uint32_t other) { reported.push_back(other); });
    }
    CHECK(reported == std::vector<std::uint32_t>{1, 2, 3});
    damage();
    CHECK(lock.request(3, WindowLockKind::exclusive));
  }
}

// Every word is random; the ids in the guard belong to no process.
TEST_CASE("window lock: damaged words cause no fault, and after all members have withdrawn it is sound again") {
  for (const std::uint64_t seed : testing::Seeds(testing::of_one_thread(3000))) {
    CAPTURE(seed);
    std::mt19937_64 random(seed);
    const auto members = static_cast<std::uint32_t>(1 + random() % 8);
    WindowLockTable table{};
    Deaths deaths{};
    WindowLock lock = table.lock(members, 0, deaths);
    for (std::uint32_t other = members; other < table.kMembersMax; ++other) table.slots[other] = kNotASlot;
    for (int step = 0; step < 30; ++step) {
      if (step % 5 == 0) {
        const auto word = [&] { return static_cast<std::uint32_t>(random() % 2 == 0 ? random() : random() % 3); };
        table.data.next_ticket = word();
        table.data.shared = word();
        table.data.exclusive = word();
        table.data.waiting = word();
        if (random() % 2 == 0) table.data.guard = word() | 0x8000'0000U;
        for (std::uint64_t& slot : table.of(members))
          slot = random() % 2 == 0 ? random() : random() >> 32 << 32 | random() % 8;
      }
      const auto member = static_cast<std::uint32_t>(random() % (members + 2));
      std::uint32_t reported = 0;
      const auto notify = [&](std::uint32_t other) {
        ++reported;
        REQUIRE_LT(other, members);
      };
      switch (random() % 3) {
        case 0:
          static_cast<void>(
              lock.request(member, random() % 2 == 0 ? WindowLockKind::shared : WindowLockKind::exclusive));
          break;
        case 1:
          lock.release(member, notify);
          break;
        default:
          lock.withdraw(member, notify);
      }
      REQUIRE_LE(reported, members);
      for (std::uint32_t other = members; other < table.kMembersMax; ++other) {
        REQUIRE_EQ(table.slots[other], kNotASlot);
      }
    }
    for (std::uint32_t member = 0; member < members; ++member) lock.withdraw(member, [](std::uint32_t) {});
    CHECK_EQ(wrong_at_rest(table, members), "");
    CHECK(lock.request(members - 1, WindowLockKind::exclusive));
  }
}

}  // namespace
}  // namespace margay::sim::test
