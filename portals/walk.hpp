// The walk over a match list: it finds the entry that takes a message, or the reason that none does. linear() is the
// paper's definition; fast() returns the same end in less time, by first_match() or indexed(). Internal to portals.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "portals/base/verdict.hpp"
#include "portals/match/match_list.hpp"
#include "portals/memory/descriptor.hpp"

namespace margay::portals {

// One entry that a walk visited, and the result there.
struct Step {
  // nullptr: the portal's own descriptor, without a match list.
  const MatchEntry* entry;
  // `taken` in the last step of a walk that found a destination, and in no other. A record with limits (WalkLimits) may
  // lack that step.
  Passed passed;
  // Set only when `entry` is nullptr: the portal's own descriptor, and its options.
  const Descriptor* memory = nullptr;
  Options options = {};
};

// Limits of a recorded walk: the number of steps that are stored, and the number of visits after which the walk is cut.
struct WalkLimits {
  std::size_t steps = ~std::size_t{0};
  // Requires: at least `steps`.
  std::uint32_t visited = ~std::uint32_t{0};
};

// The functions of the walk. All are static, because the state of a walk lasts for one call.
class Walk {
 public:
  // The result of a walk.
  struct End {
    // The entry that takes the message; nullptr: the message is dropped.
    MatchEntry* entry = nullptr;
    // `none` exactly when `entry` is set.
    DropReason reason = DropReason::none;
    // The links form a circle, and the walk was cut.
    bool went_round = false;
    // The walk reached the limit of visits.
    bool was_cut = false;
    // Entries examined, the one that takes the message included. A walk through an index may examine fewer than
    // linear().
    std::uint32_t visited = 0;
  };
  // The linear walk. Appends its stops to `steps`, within `limits`; if `steps` is nullptr, it ignores `limits`. Cost:
  // one step per entry.
  [[gnu::noinline]] static End linear(const MatchList& list, const Header& header, std::vector<Step>* steps,
                                      const WalkLimits& limits = {});
  // Returns the same entry and reason as linear(), through the index if the list has one. Without an index it walks
  // from entry to entry, and a long walk makes the list build its index.
  static End fast(MatchList& list, const Header& header);

  // Returns the first entry that matches, if the list has no index and the no-match link of each earlier entry is
  // `next`. Returns nullptr if no entry matches, or if the full walk must decide. It is a twin of follow() for
  // put_whole() and fast(): it does not test descriptors for room, and it needs no limit of stops, because it follows
  // only the chain. It adds the number of visited entries to `visited`. tests/portals/match/match_index_test compares
  // both twins with the paper's walk.
  [[nodiscard]] static MatchEntry* first_match(const MatchList& list, const Header& header, std::uint32_t& visited);
  // Reports the length of a walk without index: long walks make the list build its index.
  static void record_length(MatchList& list, std::uint32_t visited);

  // The result for `header` at one entry, by three tests in this order: the entry is active, its criteria accept the
  // header, its descriptor admits the message (Storage::admit). Changes nothing. Constant time, except for a linear
  // independent block, whose rows it may scan.
  [[nodiscard]] static Passed examine(const MatchEntry& entry, const Header& header);
  // The reason to drop a message whose walk ended with `passed`. `none` for `taken`.
  [[nodiscard]] static DropReason reason(Passed passed, const Header& header);

 private:
  // The general walk, which linear() and indexed() instantiate.
  template <class Successor, class Visit>
  static End follow(const MatchList& list, const Header& header, Successor successor, Visit visit,
                    std::uint32_t visits_at_most = ~std::uint32_t{0});
  // The walk through the index. `heed_exhausted`: also consult the entries without room, which changes only the reason
  // of a drop.
  [[gnu::noinline]] static End indexed(MatchList& list, const Header& header, bool heed_exhausted);
};

}  // namespace margay::portals
