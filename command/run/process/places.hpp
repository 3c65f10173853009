// The use of a job's places: which of them have a process, and which a further world may have. Pure.
//
//   empty --(take)--> in use --(on_end)--> ended --(all of its world have ended, and may be succeeded)--> free
//     \--(take_for_guest)--> a guest's
//
// The lowest free places are taken first, so the places in use, and those that had a process, are the first ones.
// Guests, which are processes of other jobs, get the highest places that never had a process.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace margay::command {

class Places {
 public:
  // The first `ranks` places have the ranks that begin with the job; their places are never given to others.
  // `is_at_rest`: whether the state that an ended process left in a place permits a successor now. Empty: always.
  Places(std::uint32_t ranks, std::uint32_t places, std::function<bool(std::uint32_t)> is_at_rest = {});

  // Places that a further world can have.
  [[nodiscard]] std::uint32_t free() const;
  // Whether places will be free that are not yet: a further world still has a process, or left messages.
  [[nodiscard]] bool some_may_end() const;
  // Takes the `count` lowest free places for a further world, whose number is world_of() of each. Requires: count <=
  // free().
  [[nodiscard]] std::vector<std::uint32_t> take(std::uint32_t count);
  // Takes a place for guests, which no process of this job will have; nullopt: none is left.
  [[nodiscard]] std::optional<std::uint32_t> take_for_guest();
  // The process of a place has ended. `may_be_succeeded`: another process may have the place, once it is at rest.
  // Otherwise the place is not used again.
  void on_end(std::uint32_t place, bool may_be_succeeded);
  // A place whose process has ended is not used again.
  void retire(std::uint32_t place);

  [[nodiscard]] std::uint32_t world_of(std::uint32_t place) const { return uses_[place].world; }
  // Places that have, or had, a process: 0 to used() - 1.
  [[nodiscard]] std::uint32_t used() const { return used_; }

 private:
  enum class State : std::uint8_t { empty, in_use, ended, retired, guest };
  struct Use {
    State state = State::empty;
    std::uint32_t world = 0;
  };

  // By number of the world: its processes that have not ended.
  std::vector<std::uint32_t> running_;
  std::vector<Use> uses_;
  std::uint32_t used_;
  std::function<bool(std::uint32_t)> is_at_rest_;

  [[nodiscard]] bool is_free(std::uint32_t place) const;
};

}  // namespace margay::command
