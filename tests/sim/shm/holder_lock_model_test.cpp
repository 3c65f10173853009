// A model of the lock that names its holder (sim/shm/holder_lock), which guards each step of a window lock. Each atomic
// instruction of enter(), enter_slowly() and leave() is a step, and a process may die between any two. Three processes
// enter any number of times, and two of them may die. The model does not contain the two memory orders (acquire on
// entry, release on leaving); the thread sanitizer and holder_lock_test.cpp test them.
//
// Properties. One process at a time is inside. A process that enters after a holder's death inside gets `taken_over`,
// and only such a process. In each state some process can make progress. Mutants must be caught.
#include <doctest/doctest.h>

#include <array>
#include <cstdint>
#include <set>
#include <string>

#include "tests/sim/memory_model.hpp"

namespace margay::sim {
namespace {

constexpr int kComers = 3;

enum class HolderMutant {
  none,
  takes_by_store,       // overwrites a dead holder's word, even if another process has taken the lock meanwhile
  takes_latest_holder,  // takes over the holder that the word names now, not the one that was found dead
  takes_without_test,   // takes the lock from a holder without testing whether it is dead
  never_tests,          // never tests, so a dead holder keeps the lock
  reports_free_lock,    // takes over, but reports a free lock
  leaves_too_soon,      // frees the word before the last store inside
};

enum HolderStep : std::uint8_t { outside, looking, seen_word, asked, working, leaving, gone };

struct HolderState {
  std::uint8_t word = 0;
  std::uint8_t half_done = 0;  // a process died inside, and its work is not repaired yet
  std::array<std::uint8_t, kComers> step{};
  std::array<std::uint8_t, kComers> seen{};
  std::array<std::uint8_t, kComers> reported{};  // taken_over
  std::uint8_t deaths_left = 2;
};

class HolderExplorer {
 public:
  explicit HolderExplorer(HolderMutant mutant) : mutant_(mutant) {}

  // The properties that do not hold.
  const std::set<std::string>& explore() {
    states_.visit(HolderState{});
    while (!states_.empty()) expand(states_.take());
    return wrong_;
  }
  [[nodiscard]] std::size_t states() const { return states_.size(); }

 private:
  void expand(const HolderState& state) {
    int inside = 0;
    for (std::size_t who = 0; who < kComers; ++who) inside += is_inside(state, who) ? 1 : 0;
    if (inside > 1) {
      wrong_.insert("two are in");
      return;
    }
    bool gets_on = false;
    for (std::size_t who = 0; who < kComers; ++who) {
      if (state.step[who] == gone) continue;
      HolderState next = state;
      step(next, who);
      states_.visit(next);
      gets_on |= gets_on_alone(state, who);
      if (state.deaths_left == 0 || state.step[who] == outside) continue;
      next = state;
      --next.deaths_left;
      if (is_inside(state, who)) next.half_done = 1;
      next.step[who] = gone;
      states_.visit(next);
    }
    if (!gets_on) wrong_.insert("all wait for ever");
  }
  // Whether `who` enters, or advances inside, in a few steps of its own while the others do nothing.
  bool gets_on_alone(HolderState state, std::size_t who) {
    for (int steps = 0; steps < 6; ++steps) {
      if (step(state, who)) return true;
    }
    return false;
  }
  static bool is_inside(const HolderState& state, std::size_t who) {
    return state.step[who] == working || state.step[who] == leaving;
  }

  void enter(HolderState& next, std::size_t who, bool taken_over) {
    next.word = static_cast<std::uint8_t>(who + 1);
    next.reported[who] = taken_over && mutant_ != HolderMutant::reports_free_lock ? 1 : 0;
    if (next.half_done != next.reported[who]) wrong_.insert("the dead holder's unfinished work is not reported");
    next.half_done = 0;  // the process repairs it
    next.step[who] = working;
  }
  // The compare-exchange of the lock's word. Returns whether `who` has entered.
  bool enter_if(HolderState& next, std::size_t who, bool is_as_expected, bool taken_over) {
    next.step[who] = looking;
    if (is_as_expected) enter(next, who, taken_over);
    return is_as_expected;
  }

  // Makes one step of `who`. Returns whether it has entered, or advanced inside.
  bool step(HolderState& next, std::size_t who) {
    const std::uint8_t seen = next.seen[who];
    switch (next.step[who]) {
      case outside:  // enter()
        return enter_if(next, who, next.word == 0, false);
      case looking:  // enter_slowly(), from here on
        next.seen[who] = next.word;
        next.step[who] = seen_word;
        return false;
      case seen_word: {
        if (seen == 0) return enter_if(next, who, next.word == 0, false);
        const bool is_gone = mutant_ == HolderMutant::takes_without_test || next.step[seen - 1U] == gone;
        next.step[who] = is_gone && mutant_ != HolderMutant::never_tests ? asked : looking;
        return false;
      }
      case asked: {
        const bool any = mutant_ == HolderMutant::takes_by_store;
        const bool looked_again = mutant_ == HolderMutant::takes_latest_holder && next.word != 0;
        return enter_if(next, who, any || looked_again || next.word == seen, true);
      }
      case working:
        if (mutant_ == HolderMutant::leaves_too_soon) next.word = 0;
        next.step[who] = leaving;
        return true;
      default:
        if (mutant_ != HolderMutant::leaves_too_soon) next.word = 0;
        next.reported[who] = next.seen[who] = 0;
        next.step[who] = outside;
        return true;
    }
  }

  HolderMutant mutant_;
  StateSet<HolderState> states_;
  std::set<std::string> wrong_;
};
static_assert(sizeof(HolderState) == 3 + 3 * kComers, "bytes without padding");

TEST_CASE("holder lock model: nothing wrong is reachable") {
  HolderExplorer explorer(HolderMutant::none);
  CHECK(explorer.explore().empty());
  CHECK_GT(explorer.states(), 200);
}

TEST_CASE("holder lock model: every mutant is caught, by what it breaks") {
  struct Expected {
    HolderMutant mutant;
    const char* property;
  };
  for (const Expected& expected : {
           Expected{HolderMutant::takes_by_store, "two are in"},
           Expected{HolderMutant::takes_latest_holder, "two are in"},
           Expected{HolderMutant::takes_without_test, "two are in"},
           Expected{HolderMutant::never_tests, "all wait for ever"},
           Expected{HolderMutant::reports_free_lock, "the dead holder's unfinished work is not reported"},
           Expected{HolderMutant::leaves_too_soon, "two are in"},
       }) {
    INFO("mutant " << static_cast<int>(expected.mutant));
    CHECK(HolderExplorer(expected.mutant).explore().contains(expected.property));
  }
}

}  // namespace
}  // namespace margay::sim
