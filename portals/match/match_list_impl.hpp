// The inside of a match list. Internal to portals.
//
// Invariants:
//   1. The chain's entries have growing order keys.
//   2. While `indexed`, every chained entry is in one place:
//        rough      its no-match link is not `next`; sorted by order, active or not;
//        exhausted  active, its storage was found without a buffer left, and its no-room link is `next`: the walk would
//                   pass it over. It is on its storage's list of those to be told, and made ready when a buffer
//                   is given back;
//        ready      active, anything else;
//        no         inactive: the walk would pass it over.
//   3. A chain has no index before a walk of it was long, and none when it is short: it is walked as it stands. So who
//      posts in the order in which messages come, as most programs do, pays for no index at all.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>

#include "portals/match/match_index.hpp"
#include "portals/match/match_list.hpp"

namespace margay::portals {

// Order keys: numbers that grow along the chain, with gaps, so that the order of two entries is one comparison.
// Internal to portals. When a gap is used up, the smallest neighbourhood that is sparse enough is spread out again
// (Bender and others, "Two simplified algorithms for maintaining order in a list", 2002); that is rare, because a new
// entry is put just after its predecessor and leaves the large gap where the next one will come.

inline constexpr unsigned kOrderBits = 62;
inline constexpr std::uint64_t kOrderEnd = std::uint64_t{1} << kOrderBits;  // keys are above 0 and below this
inline constexpr std::uint64_t kOrderStep = std::uint64_t{1} << 20;
static_assert(kOrderStep < kOrderEnd / 4);  // the first entry has steps on both sides

// A key between two neighbours (0 and kOrderEnd stand for none), or 0 when there is none left. `few`: the chain is so
// short that the beginning may be halved instead of stepped back from.
[[nodiscard]] constexpr std::uint64_t order_between(std::uint64_t before, std::uint64_t after, bool few) {
  const std::uint64_t gap = after - before;
  if (gap < 2) return 0;
  if (before == 0 && after == kOrderEnd) return kOrderEnd / 2;
  if (before == 0) return few || gap <= 2 * kOrderStep ? after / 2 : after - kOrderStep;
  return gap > 2 * kOrderStep ? before + kOrderStep : before + gap / 2;
}

struct MatchList::Impl {
  // A chain of more than kLong entries gets an index after a walk of more than kWalkLong steps, which cost as much as
  // two looks into the index; it loses it when it falls below kShort. The distance between kLong and kShort pays for
  // the building.
  static constexpr std::size_t kLong = 32;
  static constexpr std::size_t kWalkLong = 16;
  static constexpr std::size_t kShort = 16;

  struct Earlier {
    using is_transparent = void;
    bool operator()(const MatchEntry* a, const MatchEntry* b) const { return a->order_ < b->order_; }
    bool operator()(const MatchEntry* a, std::uint64_t order) const { return a->order_ < order; }
    bool operator()(std::uint64_t order, const MatchEntry* a) const { return order < a->order_; }
  };

  void chain(MatchEntry& entry, MatchEntry* before, MatchEntry* after);
  // Takes an entry that no index has out of the chain.
  void unchain(MatchEntry& entry);
  // Takes an adopted one out.
  [[gnu::noinline]] void abandon(MatchEntry& entry);
  // The key for its place between its neighbours; 0 when there is none left.
  [[nodiscard]] std::uint64_t order_of(const MatchEntry& entry) const;
  // The rare parts are not inlined, so that the common ones stay short.
  [[gnu::noinline]] void place(MatchEntry& entry);
  [[gnu::noinline]] void make_place(MatchEntry& entry);
  [[gnu::noinline]] void spread(MatchEntry& around);
  // Puts an entry where invariant 2 wants it, and takes it out of there.
  [[gnu::noinline]] void index(MatchEntry& entry);
  [[gnu::noinline]] void unindex(MatchEntry& entry);
  // Requires: attended.
  [[gnu::noinline]] void note_chained(MatchEntry& entry);
  [[gnu::noinline]] void note_unchained(MatchEntry& entry);
  void set_attended() { attended = indexed || watcher != nullptr; }
  [[gnu::noinline]] void build_index();
  // After a walk of so many steps.
  void walked(std::size_t steps) {
    if (steps > kWalkLong && chained > kLong) [[unlikely]]
      build_index();
  }
  [[gnu::noinline]] void drop_index();
  // Leaves a ready entry out until its storage has a buffer again. Requires: ready, an exhausted independent block, and
  // a no-room link that is `next`.
  void park(MatchEntry& entry);

  MatchEntry* first = nullptr;
  MatchEntry* last = nullptr;
  MatchList* list = nullptr;  // whose inside this is
  MatchEntry* adopted = nullptr;
  std::size_t size = 0;  // adopted ones too
  std::size_t chained = 0;
  bool indexed = false;
  bool attended = false;  // indexed, or watched: a change of the chain is more than that of its links
  StructureWatch* watcher = nullptr;
  MatchIndex ready;
  MatchIndex exhausted;
  std::set<MatchEntry*, Earlier> rough;
};

}  // namespace margay::portals
