// The walk over a match list: the entry that takes a message, or the reason that none does. Internal to portals.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "portals/base/verdict.hpp"
#include "portals/match/match_list.hpp"
#include "portals/memory/descriptor.hpp"

namespace margay::portals {

// One stop of the walk.
struct Step {
  const MatchEntry* entry;  // nullptr: the portal's own descriptor, without a match list
  Passed passed;
  const Descriptor* memory = nullptr;  // that descriptor, and how the portal uses it
  Options options = {};
};

// How much of a walk is told: its first stops, and how far their number is counted.
struct WalkLimits {
  std::size_t steps = ~std::size_t{0};
  std::uint32_t visited = ~std::uint32_t{0};  // at least `steps`
};

class Walk {
 public:
  struct End {
    MatchEntry* entry = nullptr;  // nullptr: the message is dropped
    DropReason reason = DropReason::none;
    bool went_round = false;  // the links lead in a circle: the walk was cut
    bool was_cut = false;     // there was more of it than the limit
    std::uint32_t visited = 0;
  };
  // The walk itself, its stops up to the limit appended to `steps` unless it is nullptr.
  [[gnu::noinline]] static End linear(const MatchList& list, const Header& header, std::vector<Step>* steps,
                                      const WalkLimits& limits = {});
  // The same end, through the index when the list has one.
  static End fast(MatchList& list, const Header& header);

  // follow()'s twin, the walk of put_whole(), for what nearly every walk comes to: the first entry that matches, if all
  // before it lead on to the next one and the list has no index. nullptr: it is another case. It asks no descriptor for
  // room and counts no stops, as follow() must. tests/portals/match/match_index_test holds both to the paper.
  [[nodiscard]] static MatchEntry* first_match(const MatchList& list, const Header& header, std::uint32_t& visited);
  // A walk without index ended after so many entries.
  static void noted(MatchList& list, std::uint32_t visited);

  [[nodiscard]] static Passed examine(const MatchEntry& entry, const Header& header);
  // The reason to drop a message that a descriptor without a match list did not take.
  [[nodiscard]] static DropReason reason(Passed passed, const Header& header);

 private:
  // Any walk (first_match() is its twin).
  template <class Successor, class Visit>
  static End follow(const MatchList& list, const Header& header, Successor successor, Visit visit,
                    std::uint32_t visits_at_most = ~std::uint32_t{0});
  [[gnu::noinline]] static End indexed(MatchList& list, const Header& header, bool heed_exhausted);
};

}  // namespace margay::portals
