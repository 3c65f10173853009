// Tests of window locks, against a model with a deque of requests, with threads, and with processes.
#include "sim/shm/window_lock.hpp"

#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <deque>
#include <random>
#include <thread>
#include <vector>

#include "tests/sim/window_lock_table.hpp"
#include "tests/support/seeds.hpp"

namespace margay::sim::test {
namespace {

using LockMembers = std::vector<std::uint32_t>;

// A model of the lock's specification, in one process.
class LockModel {
 public:
  // Returns whether the lock is granted at once.
  bool request(std::uint32_t member, WindowLockKind kind) {
    row_.push_back({member, kind, false});
    return !let_in().empty() && row_.back().has;
  }
  // Returns the members that get the lock through this release.
  LockMembers take_out(std::uint32_t member) {
    std::erase_if(row_, [&](const Entry& entry) { return entry.member == member; });
    return let_in();
  }
  [[nodiscard]] bool is_in(std::uint32_t member) const {
    return std::any_of(row_.begin(), row_.end(), [&](const Entry& entry) { return entry.member == member; });
  }
  [[nodiscard]] LockMembers holders() const {
    LockMembers members;
    for (const Entry& entry : row_) {
      if (entry.has) members.push_back(entry.member);
    }
    std::sort(members.begin(), members.end());
    return members;
  }

 private:
  struct Entry {
    std::uint32_t member;
    WindowLockKind kind;
    bool has;
  };
  // Grants the lock in the order of requests, as long as each is compatible with all before it.
  LockMembers let_in() {
    LockMembers members;
    bool anyone = false;
    for (Entry& entry : row_) {
      if (entry.kind == WindowLockKind::exclusive && anyone) break;
      if (!entry.has) members.push_back(entry.member);
      entry.has = true;
      anyone = true;
      if (entry.kind == WindowLockKind::exclusive) break;
    }
    std::sort(members.begin(), members.end());
    return members;
  }
  std::deque<Entry> row_;
};

// Makes random steps of the members in turn, and compares the lock's results with the model's.
void play_against_model(std::uint64_t seed, std::uint32_t members, std::uint32_t first_ticket) {
  std::mt19937_64 random(seed * 100 + members);
  WindowLockTable table{};
  Deaths deaths{};
  table.data.next_ticket = first_ticket;
  LockModel model;
  for (int step = 0; step < 400; ++step) {
    const auto member = static_cast<std::uint32_t>(random() % members);
    WindowLock lock = table.lock(members, member, deaths);
    LockMembers reported;
    const auto notify = [&](std::uint32_t other) { reported.push_back(other); };
    if (!model.is_in(member)) {
      const WindowLockKind kind = random() % 2 == 0 ? WindowLockKind::shared : WindowLockKind::exclusive;
      REQUIRE_EQ(lock.request(member, kind), model.request(member, kind));
    } else if (random() % 3 == 0) {
      lock.withdraw(member, notify);
      static_cast<void>(model.take_out(member));
      REQUIRE(reported == model.holders());
    } else {
      lock.release(member, notify);
      REQUIRE(reported == model.take_out(member));
    }
    LockMembers holders;
    for (std::uint32_t other = 0; other < members; ++other) {
      if (lock.granted(other)) holders.push_back(other);
    }
    REQUIRE(holders == model.holders());
    REQUIRE_EQ(wrong_at_rest(table, members), "");
  }
}

// The data that the lock protects. Plain fields, so that the thread sanitizer detects accesses that the lock does not
// order.
struct LockedParts {
  std::uint64_t first = 0;
  std::uint64_t second = 0;
  std::uint32_t writers_ticket = 0;               // the latest writer's; the first has 1
  std::atomic<std::uint32_t> readers_ticket = 0;  // the latest of any reader
  std::atomic<std::uint32_t> wrong = 0;
};

// The rounds of one member, in a thread or a process. Checks that the lock is granted in the order of tickets, except
// among readers that hold it together: no member gets it before one that requested it earlier.
void take_part(WindowLockTable& table, std::uint32_t members, Deaths& deaths, LockedParts& parts, std::uint32_t me,
               std::uint32_t rounds) {
  std::mt19937_64 random(me + 1);
  WindowLock lock = table.lock(members, me, deaths);
  for (std::uint32_t round = 0; round < rounds; ++round) {
    const bool writes = random() % 3 == 0;
    if (!lock.request(me, writes ? WindowLockKind::exclusive : WindowLockKind::shared)) {
      while (!lock.granted(me)) ::sched_yield();
    }
    const std::uint32_t ticket =
        WindowLockSlot::of(std::atomic_ref<std::uint64_t>(table.slots[me]).load(std::memory_order_relaxed)).ticket;
    bool wrong = parts.first != parts.second || ticket - parts.writers_ticket > rounds * members;
    if (writes) {
      wrong = wrong || ticket - parts.readers_ticket.load() > rounds * members;
      parts.writers_ticket = ticket;
      ++parts.first;
      if (random() % 4 == 0) ::sched_yield();
      ++parts.second;
    } else {
      std::uint32_t latest = parts.readers_ticket.load();
      while (static_cast<std::int32_t>(ticket - latest) > 0 &&
             !parts.readers_ticket.compare_exchange_weak(latest, ticket)) {
      }
      if (random() % 4 == 0) ::sched_yield();
      wrong = wrong || parts.first != parts.second || ticket - parts.writers_ticket > rounds * members;
    }
    if (wrong) parts.wrong.fetch_add(1);
    lock.release(me, [](std::uint32_t) {});
  }
}

std::uint32_t writes_of(std::uint32_t me, std::uint32_t rounds) {
  std::mt19937_64 random(me + 1);
  std::uint32_t writes = 0;
  for (std::uint32_t round = 0; round < rounds; ++round) {
    const bool write = random() % 3 == 0;
    writes += write ? 1 : 0;
    static_cast<void>(random());
  }
  return writes;
}

// Prepares the lock before the members start, so that tickets wrap during the test.
constexpr std::uint32_t kLockUsers = 4;
void prepare_lock(WindowLockTable& table, LockedParts& parts) {
  table.data.next_ticket = std::uint32_t{0} - 500;
  parts.writers_ticket = table.data.next_ticket - 1;
  parts.readers_ticket = parts.writers_ticket;
}
void check_lock_after(WindowLockTable& table, LockedParts& parts, std::uint32_t rounds) {
  std::uint64_t writes = 0;
  for (std::uint32_t me = 0; me < kLockUsers; ++me) writes += writes_of(me, rounds);
  CHECK_EQ(parts.wrong.load(), 0);
  CHECK_EQ(parts.first, writes);
  CHECK_EQ(parts.second, writes);
  CHECK_EQ(table.data.next_ticket, kLockUsers * rounds - 500);
  CHECK_EQ(wrong_at_rest(table, kLockUsers), "");
  CHECK_EQ(table.data.shared + table.data.exclusive + table.data.waiting, 0);
}

TEST_CASE("window lock: it grants in the order of a model with a deque, for any tickets") {
  for (const std::uint64_t seed : testing::Seeds(testing::of_one_thread(60))) {
    CAPTURE(seed);
    for (const std::uint32_t members : {1U, 2U, 3U, 6U, 20U}) {
      CAPTURE(members);
      for (const std::uint32_t first_ticket : {0U, 0xffff'ffffU - 100, 0x7fff'ffffU - 100}) {
        play_against_model(seed, members, first_ticket);
      }
    }
  }
}

TEST_CASE("window lock: a writer is granted before readers with later requests, and these together after it") {
  WindowLockTable table{};
  Deaths deaths{};
  WindowLock lock = table.lock(6, 0, deaths);
  LockMembers reported;
  const auto notify = [&](std::uint32_t member) { reported.push_back(member); };
  CHECK(lock.request(0, WindowLockKind::shared));
  CHECK(lock.request(1, WindowLockKind::shared));
  CHECK_FALSE(lock.request(2, WindowLockKind::exclusive));
  CHECK_FALSE(lock.request(3, WindowLockKind::shared));  // although readers hold it
  CHECK_FALSE(lock.request(4, WindowLockKind::shared));
  CHECK_FALSE(lock.request(5, WindowLockKind::exclusive));
  lock.release(0, notify);
  CHECK(reported.empty());
  CHECK_FALSE(lock.request(0, WindowLockKind::exclusive));
  lock.release(1, notify);
  CHECK(reported == LockMembers{2});
  CHECK_FALSE(lock.request(1, WindowLockKind::shared));
  reported.clear();
  lock.release(2, notify);
  CHECK(reported == LockMembers{3, 4});  // not the writers that wait too
  CHECK_FALSE(lock.granted(1));          // nor a reader behind those
  reported.clear();
  lock.withdraw(5, notify);  // gives up: the reader behind it is still behind the other writer
  CHECK(reported == LockMembers{3, 4});
  reported.clear();
  lock.withdraw(0, notify);
  CHECK(reported == LockMembers{1, 3, 4});
}

TEST_CASE("window lock: threads get the lock one after the other, readers together, and none is passed over") {
  WindowLockTable table{};
  Deaths deaths{};
  LockedParts parts;
  prepare_lock(table, parts);
  const auto rounds = static_cast<std::uint32_t>(testing::of_threads(20'000));
  std::vector<std::thread> threads;
  for (std::uint32_t me = 0; me < kLockUsers; ++me) {
    threads.emplace_back([&, me] { take_part(table, kLockUsers, deaths, parts, me, rounds); });
  }
  for (std::thread& thread : threads) thread.join();
  check_lock_after(table, parts, rounds);
}

TEST_CASE("window lock: processes get the lock one after the other too") {
  struct Memory {
    WindowLockTable table;
    Deaths deaths;
    LockedParts parts;
  };
  const Mapped<Memory> memory;
  prepare_lock(memory->table, memory->parts);
  const auto rounds = static_cast<std::uint32_t>(testing::of_threads(20'000));
  std::vector<pid_t> children;
  for (std::uint32_t me = 0; me < kLockUsers; ++me) {
    const pid_t child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) {
      take_part(memory->table, kLockUsers, memory->deaths, memory->parts, me, rounds);
      ::_exit(0);
    }
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int how = -1;
    CHECK_EQ(::waitpid(child, &how, 0), child);
    CHECK_EQ(how, 0);
  }
  check_lock_after(memory->table, memory->parts, rounds);
}

}  // namespace
}  // namespace margay::sim::test
