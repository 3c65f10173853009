// A model of the lock protocol of windows, small enough to explore completely. Three members request the lock, shared
// or exclusive, any number of times, and may die at any moment; inside the guard after any instruction. There are two
// worlds: all members map the lock; or the third sends messages to the target's device, which acts for it
// (mpi_adi/rma/locks.cpp, receive_request.cpp).
//
// The code inside the guard is the real lock's (window_lock_steps.hpp). It is one step, because other members wait for
// the guard meanwhile (holder_lock_model_test.cpp). The rest is modelled here: polls and sleeps, bells (each ring is a
// step), messages, and reports of deaths. It has the names of the code that it models.
//
// Properties, by the name of their violation
//  exclusion   an exclusive holder is alone
//  overtaken   no member gets the lock before one that requested it earlier; shared requests are granted together
//  stuck       while a member waits, or has work to do, some step other than a new request is possible. No such step
//              leads back to an earlier state, so with the property above each request is granted after finitely many
//              others
//  unfinished  an unlock does not return, and no other member gets the lock, before all puts are at the target
#include <algorithm>
#include <set>
#include <string>

#include "tests/sim/memory_model.hpp"
#include "tests/sim/shm_pin.hpp"
#include "tests/sim/window_lock_world.hpp"
#include "tests/support/seeds.hpp"

namespace margay::sim::test {
namespace {

class LockExplorer {
 public:
  LockExplorer(LockMutant mutant, bool by_messages, unsigned deaths, bool cut)
      : mutant_(mutant), by_messages_(by_messages), steps_(mutant, cut) {
    LockWorld start;
    start.deaths_left = static_cast<std::uint8_t>(deaths);
    states_.visit(start);
  }
  [[nodiscard]] bool works() const { return steps_.works(); }
  // Returns the violated properties. The exploration stops once `enough` is one of them.
  const std::set<std::string>& explore(const std::string& enough = {}) {
    while (!states_.empty() && !wrong_.contains(enough)) expand(states_.take());
    return wrong_;
  }
  [[nodiscard]] std::size_t states() const { return states_.size(); }

 private:
  static bool in(std::uint8_t mask, std::uint32_t who) { return (mask >> who & 1) != 0; }
  static std::uint8_t bit(std::uint32_t who) { return static_cast<std::uint8_t>(1U << who); }
  [[nodiscard]] bool remote(std::uint32_t member) const { return by_messages_ && member == kRemote; }

  void wrong(const char* property) { wrong_.insert(property); }

  void expand(const LockWorld& world) {
    moves_ = false;
    for (std::uint32_t member = 0; member < kLockMembers; ++member) {
      if (in(world.dead, member)) continue;
      remote(member) ? origin(world, member) : direct(world, member);
      if (world.deaths_left != 0) go(died(world, member), false);
    }
    if (by_messages_) device(world);
    for (std::uint32_t member = 0; member < kLockMembers && !moves_; ++member) {
      if (!in(world.dead, member) && world.phase[member] != idle) return wrong("stuck");
    }
  }
  // Makes a step to the state `next`. `moves`: the step is neither a request nor a death.
  void go(const LockWorld& next, bool moves = true) {
    moves_ |= moves;
    for (std::uint32_t a = 0; a < kLockMembers; ++a) {
      for (std::uint32_t b = 0; b < kLockMembers; ++b) {
        if (a == b || !has_it(next, a) || !has_it(next, b) || next.wish[a] == 0) continue;
        return wrong("exclusion");
      }
      if (a != kRemote && has_it(next, a) && next.wish[a] != 0 && next.to_device.has(put) && !in(next.dead, kRemote)) {
        return wrong("unfinished");
      }
    }
    states_.visit(next);
  }
  static bool has_it(const LockWorld& world, std::uint32_t member) {
    return !in(world.dead, member) && world.phase[member] >= inside;
  }
  [[nodiscard]] LockWorld died(LockWorld world, std::uint32_t member) const {
    world.dead |= bit(member);
    --world.deaths_left;
    world.phase[member] = idle;
    world.to_notify[member] = world.to_bury[member] = 0;
    for (std::uint32_t actor = 0; actor < kLockActors; ++actor) {
      if (actor == kDevice ? by_messages_ : !in(world.dead, actor) && !remote(actor))
        world.to_bury[actor] |= bit(member);
    }
    return world;
  }

  // Makes a step of the real lock, and explores deaths inside it. Returns false if a property was violated.
  bool step(LockWorld& world, LockStep what, std::uint32_t actor, std::uint32_t member, bool& granted) {
    const bool may_die = actor != kDevice && world.deaths_left != 0;
    const LockOutcome& outcome = steps_.take(world.lock, what, actor, member, world.dead, may_die);
    if (may_die) {
      for (const SmallLock& cut : outcome.cut_off) {
        if (is_overtaken(world, cut, true)) return false;
        LockWorld next = died(world, actor);
        next.lock = cut;
        go(next, false);
      }
    }
    if (is_overtaken(world, outcome.after, false)) return false;
    world.lock = outcome.after;
    world.to_notify[actor] |= outcome.reported;
    granted = outcome.granted;
    return true;
  }
  // Whether a request was granted before an earlier one. If a death interrupts the grant of several shared requests
  // (`cut`), some of these may be granted before earlier ones.
  bool is_overtaken(const LockWorld& world, const SmallLock& after, bool cut) {
    for (std::uint32_t late = 0; late < kLockMembers; ++late) {
      if (!after.holds(late) || world.lock.holds(late)) continue;
      for (std::uint32_t early = 0; early < kLockMembers; ++early) {
        if (in(world.dead, early) || !after.waits(early) || world.order[early] >= world.order[late]) continue;
        if (cut && after.slots[early].kind == 0 && after.slots[late].kind == 0) continue;
        wrong("overtaken");
        return true;
      }
    }
    return false;
  }
  // Puts a new request behind all unfinished ones.
  static void put_in_order(LockWorld& world, std::uint32_t member) {
    world.order[member] = 0;
    std::uint8_t behind = 1;
    for (std::uint32_t other = 0; other < kLockMembers; ++other) {
      const std::uint8_t other_order = world.order[other];
      if (world.lock.slots[other].state == 0) world.order[other] = 0;
      behind = std::max<std::uint8_t>(behind, world.order[other] == 0 ? 1 : other_order + 1);
    }
    world.order[member] = behind;
    // The numbers remain small.
    std::array<std::uint8_t, kLockMembers> ranks{};
    for (std::uint32_t a = 0; a < kLockMembers; ++a) {
      for (std::uint32_t b = 0; b < kLockMembers; ++b) {
        if (world.order[b] != 0 && world.order[b] <= world.order[a]) ++ranks[a];
      }
    }
    world.order = ranks;
  }
  void request(LockWorld next, std::uint32_t actor, std::uint32_t member, bool exclusive, bool counts_as_move) {
    put_in_order(next, member);
    next.wish[member] = exclusive ? 1 : 0;
    bool has = false;
    const LockStep what = exclusive ? LockStep::request_exclusive : LockStep::request_shared;
    if (!step(next, what, actor, member, has)) return;
    if (actor == kDevice) {
      if (has) next.to_origin.send(granted);
      next.device_waits = has ? 0 : 1;
    } else {
      next.phase[member] = has ? inside : awake;
    }
    go(next, counts_as_move);
  }

  // Rings the bells that the actor still has to ring, one for each step; a sleeping member wakes. Returns whether there
  // is one.
  bool notifies(const LockWorld& world, std::uint32_t actor) {
    for (std::uint32_t other = 0; other < kLockMembers; ++other) {
      if (!in(world.to_notify[actor], other)) continue;
      LockWorld next = world;
      next.to_notify[actor] &= static_cast<std::uint8_t>(~bit(other));
      if (other != actor) next.bells |= bit(remote(other) ? kDevice : other);
      go(next);
    }
    return world.to_notify[actor] != 0;
  }
  void buries(const LockWorld& world, std::uint32_t actor) {
    for (std::uint32_t member = 0; member < kLockMembers; ++member) {
      if (!in(world.to_bury[actor], member)) continue;
      LockWorld next = world;
      next.to_bury[actor] &= static_cast<std::uint8_t>(~bit(member));
      if (actor == kDevice && member == kRemote) next.device_waits = 0;
      bool unused = false;
      if (mutant_ == LockMutant::keeps_dead || step(next, LockStep::withdraw, actor, member, unused)) go(next);
    }
  }

  void direct(const LockWorld& world, std::uint32_t member) {
    if (notifies(world, member)) return;
    buries(world, member);
    LockWorld next = world;
    bool unused = false;
    switch (world.phase[member]) {
      case idle:
        request(world, member, member, false, false);
        return request(world, member, member, true, false);
      case awake:  // the bell counts from before the poll
        next.bells &= static_cast<std::uint8_t>(~bit(member));
        next.phase[member] = world.lock.holds(member) ? inside : asleep;
        return go(next);
      case asleep:
        next.phase[member] = awake;
        if (in(world.bells, member)) go(next);
        return;
      default:
        next.phase[member] = idle;
        if (step(next, LockStep::release, member, member, unused)) go(next);
    }
  }

  void origin(const LockWorld& world, std::uint32_t member) {
    LockWorld next = world;
    switch (world.phase[member]) {
      case idle:
        for (const std::uint8_t ask : {ask_shared, ask_exclusive}) {
          next = world;
          next.phase[member] = asleep;
          next.to_device.send(ask);
          go(next, false);
        }
        return;
      case asleep:
        if (next.to_origin.take() != granted) return;
        next.phase[member] = inside;
        return go(next);
      case inside:
        next.to_device.send(put);
        next.phase[member] = has_put;
        return go(next);
      case has_put:
        if (mutant_ == LockMutant::unlock_unflushed) return unlocks(next, member);
        next.to_device.send(flush);
        next.phase[member] = flushing;
        return go(next);
      default:
        if (next.to_origin.take() == flushed) unlocks(next, member);
    }
  }
  void unlocks(LockWorld next, std::uint32_t member) {
    if (next.to_device.has(put)) return wrong("unfinished");
    next.to_device.send(unlock);
    next.phase[member] = idle;
    go(next);
  }

  void device(const LockWorld& world) {
    if (notifies(world, kDevice)) return;
    buries(world, kDevice);
    if (world.device_waits != 0 && in(world.bells, kDevice) && mutant_ != LockMutant::grant_not_sent) {
      LockWorld next = world;
      next.bells &= static_cast<std::uint8_t>(~bit(kDevice));
      if (world.lock.holds(kRemote)) {
        next.to_origin.send(granted);
        next.device_waits = 0;
      }
      go(next);
    }
    LockWorld next = world;
    hears(next, next.to_device.take());
  }
  // A message may also arrive after its sender has been withdrawn.
  void hears(LockWorld& next, std::uint8_t message) {
    const bool lost = in(next.dead, kRemote) && mutant_ != LockMutant::requests_for_dead;
    bool unused = false;
    switch (message) {
      case none:
        return;
      case ask_shared:
      case ask_exclusive:
        if (lost || next.lock.slots[kRemote].state != 0) return go(next);
        return request(next, kDevice, kRemote, message == ask_exclusive, true);
      case flush:
        next.to_origin.send(flushed);
        return go(next);
      case unlock:
        next.device_waits = 0;
        if (step(next, LockStep::release, kDevice, kRemote, unused)) go(next);
        return;
      default:
        return go(next);  // a put: it is at the target
    }
  }

  LockMutant mutant_;
  bool by_messages_;
  LockSteps steps_;
  StateSet<LockWorld> states_;
  std::set<std::string> wrong_;
  bool moves_ = false;
};

std::string list_of(const std::set<std::string>& properties) {
  std::string all;
  for (const std::string& property : properties) all += property + " ";
  return all;
}

// A sanitizer has nothing to find here, and takes ten times as long.
constexpr unsigned kLockDeaths = testing::kSanitized ? 0 : 1;

TEST_CASE("window lock model: all properties hold in every state") {
  const Pinned pinned(0);  // with the child, which runs for one instruction at a time
  for (const bool by_messages : {false, true}) {
    LockExplorer explorer(LockMutant::none, by_messages, kLockDeaths, true);
    if (!explorer.works()) {
      MESSAGE("a child can't be traced here");
      return;
    }
    CHECK_EQ(list_of(explorer.explore()), "");
    CHECK_GT(explorer.states(), 1000);
  }
}

// There is no mutant of WindowLock::repair(), because withdrawing the dead recomputes the counts too, and until then
// they are too high.
TEST_CASE("window lock model: every mutant is caught, by what it breaks") {
  const Pinned pinned(0);
  struct Expected {
    LockMutant mutant;
    bool by_messages;
    const char* property;
  };
  for (const Expected& expected : {
           Expected{LockMutant::shared_overtakes, false, "overtaken"},
           Expected{LockMutant::newest_first, false, "overtaken"},
           Expected{LockMutant::grants_no_member, false, "stuck"},
           Expected{LockMutant::grants_twice, false, "exclusion"},
           Expected{LockMutant::exclusive_for_shared, false, "exclusion"},
           Expected{LockMutant::rings_no_bell, false, "stuck"},
           Expected{LockMutant::withdraw_rings_own_grants, false, "stuck"},
           Expected{LockMutant::withdraws_present, false, "stuck"},
           Expected{LockMutant::keeps_dead, false, "stuck"},
           Expected{LockMutant::unlock_unflushed, true, "unfinished"},
           Expected{LockMutant::grant_not_sent, true, "stuck"},
           Expected{LockMutant::requests_for_dead, true, "stuck"},
       }) {
    const auto [mutant, by_messages, property] = expected;
    INFO("mutant " << static_cast<int>(expected.mutant));
    // Seen only after a death in the middle of a release.
    LockExplorer explorer(mutant, by_messages, 1, mutant == LockMutant::withdraws_present);
    if (!explorer.works()) continue;
    const std::set<std::string>& wrong = explorer.explore(property);
    CHECK_MESSAGE(wrong.contains(property), "it breaks: " << list_of(wrong));
  }
}

}  // namespace
}  // namespace margay::sim::test
