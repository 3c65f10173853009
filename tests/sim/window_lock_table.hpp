// A window lock in memory that forked processes share, with a table of the dead processes and a check of the lock's
// words at rest.
#pragma once

#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <new>
#include <span>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "sim/shm/window_lock.hpp"

namespace margay::sim::test {

// The dead processes, by id from 0 to kIds - 1. Any other id belongs to no process, and counts as dead.
struct Deaths {
  static constexpr std::uint32_t kIds = 8192;
  std::atomic<std::uint8_t> dead[kIds];

  [[nodiscard]] HolderDeathTest is_dead() {
    return {
        [](void* deaths, std::uint32_t id) { return id >= kIds || static_cast<Deaths*>(deaths)->dead[id].load() != 0; },
        this};
  }
};

// Zero at first; freed with the object, in this process.
template <typename T>
class Mapped {
 public:
  Mapped() {
    void* const base = ::mmap(nullptr, sizeof(T), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    REQUIRE(base != MAP_FAILED);
    value_ = new (base) T{};
  }
  ~Mapped() { ::munmap(value_, sizeof(T)); }
  Mapped(const Mapped&) = delete;
  Mapped& operator=(const Mapped&) = delete;
  T* operator->() const { return value_; }
  T& operator*() const { return *value_; }

 private:
  T* value_;
};

struct WindowLockTable {
  static constexpr std::uint32_t kMembersMax = 64;
  WindowLockData data;
  std::uint64_t slots[kMembersMax];

  [[nodiscard]] std::span<std::uint64_t> of(std::uint32_t members) { return {slots, members}; }
  [[nodiscard]] WindowLock lock(std::uint32_t members, std::uint32_t id, Deaths& deaths) {
    return {data, of(members), id, deaths.is_dead()};
  }
};

// Checks a lock while no process is in its guard. Returns the fault; empty if there is none. Faults are counts that
// contradict the slots, holders that exclude each other, and a first waiter that could be granted the lock.
inline std::string wrong_at_rest(WindowLockTable& table, std::uint32_t members) {
  using State = WindowLockSlot::State;
  std::uint32_t held[2] = {0, 0};
  std::vector<WindowLockSlot> row;
  for (const std::uint64_t word : table.of(members)) {
    const WindowLockSlot slot = WindowLockSlot::of(word);
    if (slot.state == State::granted) ++held[static_cast<unsigned>(slot.kind)];
    if (slot.state == State::waiting) row.push_back(slot);
  }
  if (table.data.guard != 0) return "a process is in the guard";
  if (table.data.shared != held[0] || table.data.exclusive != held[1]) return "holders are counted wrong";
  if (table.data.waiting != row.size()) return "those that wait are counted wrong";
  if (held[1] > 1 || (held[1] == 1 && held[0] != 0)) return "holders exclude each other";
  if (row.empty()) return {};
  const auto age = [&](const WindowLockSlot& slot) { return table.data.next_ticket - slot.ticket; };
  const WindowLockSlot head = *std::max_element(
      row.begin(), row.end(), [&](const WindowLockSlot& a, const WindowLockSlot& b) { return age(a) < age(b); });
  if (held[1] == 0 && (head.kind == WindowLockKind::shared || held[0] == 0)) return "the head of the row is kept out";
  return {};
}

}  // namespace margay::sim::test
