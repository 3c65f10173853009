// The real WindowLock's operations, each as a step from one state of its memory to others: the result of the step, and
// the states after a death behind any of its instructions inside the guard. States are small: tickets are stored by
// their order only, because the lock uses nothing else.
#pragma once

#include <array>
#include <cstring>
#include <map>
#include <memory>
#include <vector>

#include "sim/shm/window_lock.hpp"
#include "tests/sim/single_step.hpp"
#include "tests/sim/window_lock_table.hpp"

namespace margay::sim::test {

// Wrong variants of the lock, and of the code around it.
enum class LockMutant : std::uint8_t {
  none,
  shared_overtakes,           // a shared request ignores waiting requests, and overtakes them
  newest_first,               // the lock is granted to the latest request first
  grants_no_member,           // a release grants the lock to no waiting member
  grants_twice,               // a release grants one request too many
  exclusive_for_shared,       // an exclusive request ignores shared holders
  rings_no_bell,              // a release rings no bell
  withdraw_rings_own_grants,  // a withdrawal rings only for members that it granted the lock itself
  withdraws_present,          // a dead member without a request is not withdrawn
  keeps_dead,                 // dead members are never withdrawn
  unlock_unflushed,           // an unlock returns while puts are in flight
  grant_not_sent,             // the target's device does not notify an origin whose request it granted late
  requests_for_dead,          // the device requests the lock for a member that it has withdrawn
};

enum class LockStep : std::uint8_t { request_shared, request_exclusive, release, withdraw };

constexpr std::uint32_t kLockMembers = 3;
constexpr std::uint32_t kLockActors = kLockMembers + 1;  // the last one: the target's device

// The lock's memory, in bytes without padding.
struct SmallLock {
  std::uint8_t guard = 0;
  std::uint8_t shared = 0;
  std::uint8_t exclusive = 0;
  std::uint8_t waiting = 0;
  struct Slot {
    std::uint8_t state = 0;  // WindowLockSlot::State
    std::uint8_t kind = 0;
    std::uint8_t age = 0;  // 1: the youngest
  };
  std::array<Slot, kLockMembers> slots;

  [[nodiscard]] bool waits(std::uint32_t member) const { return slots[member].state == 1; }
  [[nodiscard]] bool holds(std::uint32_t member) const { return slots[member].state == 2; }
};
static_assert(sizeof(SmallLock) == 4 + 3 * kLockMembers);

// Tickets wrap in the middle of a sequence.
constexpr std::uint32_t kNextTicket = 1;

inline SmallLock small_of(const WindowLockTable& table) {
  SmallLock small{static_cast<std::uint8_t>(table.data.guard),
                  static_cast<std::uint8_t>(table.data.shared),
                  static_cast<std::uint8_t>(table.data.exclusive),
                  static_cast<std::uint8_t>(table.data.waiting),
                  {}};
  const auto age = [&](std::uint32_t member) {
    const WindowLockSlot slot = WindowLockSlot::of(table.slots[member]);
    return slot.state == WindowLockSlot::State::free ? 0 : table.data.next_ticket - slot.ticket;
  };
  for (std::uint32_t member = 0; member < kLockMembers; ++member) {
    const WindowLockSlot slot = WindowLockSlot::of(table.slots[member]);
    if (slot.state == WindowLockSlot::State::free) continue;
    std::uint8_t younger = 0;
    for (std::uint32_t other = 0; other < kLockMembers; ++other) {
      if (age(other) != 0 && age(other) < age(member)) ++younger;
    }
    small.slots[member] = {static_cast<std::uint8_t>(slot.state), static_cast<std::uint8_t>(slot.kind),
                           static_cast<std::uint8_t>(younger + 1)};
  }
  return small;
}

inline WindowLockTable table_of(const SmallLock& small) {
  WindowLockTable table{};
  table.data.guard = small.guard;
  table.data.shared = small.shared;
  table.data.exclusive = small.exclusive;
  table.data.waiting = small.waiting;
  table.data.next_ticket = kNextTicket;
  for (std::uint32_t member = 0; member < kLockMembers; ++member) {
    const SmallLock::Slot& slot = small.slots[member];
    if (slot.state == 0) continue;
    table.slots[member] = WindowLockSlot{static_cast<WindowLockSlot::State>(slot.state),
                                         static_cast<WindowLockKind>(slot.kind), kNextTicket - slot.age}
                              .word();
  }
  return table;
}

// The result of a step, and the members that it notifies.
struct LockOutcome {
  SmallLock after;
  bool granted = false;            // of a request
  std::uint8_t reported = 0;       // members
  std::vector<SmallLock> cut_off;  // the states after deaths inside the guard
};

class LockSteps {
 public:
  // `cut`: also with deaths inside the guard.
  LockSteps(LockMutant mutant, bool cut)
      : mutant_(mutant), child_(cut ? std::make_unique<SingleStepped>(stage_->done, [this] { run(); }) : nullptr) {}

  // Returns false if no child can be traced here.
  [[nodiscard]] bool works() const { return child_ == nullptr || child_->works(); }

  // `dead`: of the actors. `cut`: also with deaths in the step.
  const LockOutcome& take(const SmallLock& before, LockStep step, std::uint32_t actor, std::uint32_t member,
                          std::uint8_t dead, bool cut) {
    cut &= child_ != nullptr;
    Key key{static_cast<std::uint8_t>(step), static_cast<std::uint8_t>(actor), static_cast<std::uint8_t>(member), dead,
            cut ? std::uint8_t{1} : std::uint8_t{0}};
    std::memcpy(key.data() + key.size() - sizeof before, &before, sizeof before);
    const auto [at, is_new] = known_.try_emplace(key);
    LockOutcome& outcome = at->second;
    if (!is_new) return outcome;
    stage_->table = table_of(before);
    for (std::uint32_t id = 0; id < kLockActors; ++id) stage_->deaths.dead[id].store(dead >> id & 1);
    stage_->step = step;
    stage_->actor = actor;
    stage_->member = member;
    stage_->granted = false;
    stage_->reported = 0;
    if (!cut) {
      run();
    } else {
      WindowLockTable last = stage_->table;
      REQUIRE(child_->take([&] {
        const WindowLockTable& now = stage_->table;
        if (now.data.guard != actor + 1 || std::memcmp(&last, &now, sizeof now) == 0) return;
        last = now;
        outcome.cut_off.push_back(small_of(now));
      }));
    }
    outcome.after = small_of(stage_->table);
    outcome.granted = stage_->granted;
    outcome.reported = stage_->reported;
    return outcome;
  }

 private:
  struct Stage {
    WindowLockTable table;
    Deaths deaths;
    std::atomic<std::uint32_t> done;
    LockStep step;
    std::uint32_t actor;
    std::uint32_t member;
    bool granted;
    std::uint8_t reported;
  };

  // In the child, or in this process. A mutant is the real step on words that are changed around it.
  void run() {
    Stage& stage = *stage_;
    WindowLockData& data = stage.table.data;
    const auto slots = stage.table.of(kLockMembers);
    WindowLock lock = stage.table.lock(kLockMembers, stage.actor, stage.deaths);
    switch (stage.step) {
      case LockStep::request_shared:
      case LockStep::request_exclusive: {
        const bool shared = stage.step == LockStep::request_shared;
        const std::uint32_t waiting = data.waiting, holders = data.shared;
        const bool overtakes = mutant_ == LockMutant::shared_overtakes && shared;
        const bool blind = mutant_ == LockMutant::exclusive_for_shared && !shared;
        if (overtakes) data.waiting = 0;
        if (blind) data.shared = 0;
        stage.granted = lock.request(stage.member, shared ? WindowLockKind::shared : WindowLockKind::exclusive);
        if (overtakes) data.waiting += waiting;
        if (blind) data.shared += holders;
        return;
      }
      case LockStep::release: {
        const std::uint32_t waiting = data.waiting;
        if (mutant_ == LockMutant::grants_no_member) data.waiting = 0;
        if (mutant_ == LockMutant::newest_first) reverse_tickets(slots);
        lock.release(stage.member, [&](std::uint32_t other) { stage.reported |= 1U << other; });
        if (mutant_ == LockMutant::newest_first) reverse_tickets(slots);
        if (mutant_ == LockMutant::grants_no_member) data.waiting = waiting;
        if (mutant_ == LockMutant::grants_twice) grant_another(stage);
        if (mutant_ == LockMutant::rings_no_bell) stage.reported = 0;
        return;
      }
      case LockStep::withdraw: {
        const SmallLock before = small_of(stage.table);
        if (mutant_ == LockMutant::withdraws_present && before.slots[stage.member].state == 0) return;
        lock.withdraw(stage.member, [&](std::uint32_t other) { stage.reported |= 1U << other; });
        for (std::uint32_t other = 0; mutant_ == LockMutant::withdraw_rings_own_grants && other < kLockMembers;
             ++other) {
          if (before.holds(other)) stage.reported &= static_cast<std::uint8_t>(~(1U << other));
        }
      }
    }
  }
  // Reverses the order of tickets; a second call restores it.
  static void reverse_tickets(std::span<std::uint64_t> slots) {
    for (std::uint64_t& word : slots) {
      WindowLockSlot slot = WindowLockSlot::of(word);
      if (slot.state == WindowLockSlot::State::free) continue;
      slot.ticket = kNextTicket - (kLockMembers + 1 - (kNextTicket - slot.ticket));
      word = slot.word();
    }
  }
  static void grant_another(Stage& stage) {
    for (std::uint32_t member = 0; member < kLockMembers; ++member) {
      WindowLockSlot slot = WindowLockSlot::of(stage.table.slots[member]);
      if (slot.state != WindowLockSlot::State::waiting) continue;
      slot.state = WindowLockSlot::State::granted;
      stage.table.slots[member] = slot.word();
      stage.reported |= 1U << member;
      return;
    }
  }

  using Key = std::array<std::uint8_t, sizeof(SmallLock) + 5>;

  LockMutant mutant_;
  const Mapped<Stage> stage_;
  std::unique_ptr<SingleStepped> child_;
  std::map<Key, LockOutcome> known_;
};

}  // namespace margay::sim::test
