// The implementation of a match list: its chain, its order keys, and its index. Internal to portals.
//
// Invariants:
//   1. The chain's entries have growing order keys.
//   2. While `indexed`, every chained entry has one of these marks:
//      rough      its no-match link is not `next`; sorted by order, active or not;
//      exhausted  active, its storage was found without a buffer left, and its no-room link is `next`, so the walk
//                 would pass it over. It is on its storage's list of room observers, and becomes ready again when a
//                 buffer is available;
//      ready      any other active entry;
//      no         inactive, so the walk would pass it over.
//   3. An index is built only after a long walk of a long chain, and dropped when the chain is short. Programs that
//      post receives in arrival order, the common case, never build one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>

#include "portals/match/match_index.hpp"
#include "portals/match/match_list.hpp"

namespace margay::portals {

// Order keys grow along the chain, with gaps, so that the order of two entries is one comparison. When a gap is used
// up, the smallest neighbourhood that is sparse enough is spread out again (Bender and others, "Two simplified
// algorithms for maintaining order in a list", 2002). That is rare, because a new entry is put just after its
// predecessor and leaves the large gap where the next one will come.

// Keys lie between 0 and kOrderEnd, both excluded; 0 also marks an entry without a key.
inline constexpr unsigned kOrderBits = 62;
inline constexpr std::uint64_t kOrderEnd = std::uint64_t{1} << kOrderBits;
// The distance between appended entries: 2^20, so that some 2^41 entries can be appended and 20 inserted at one place
// before anything is spread.
inline constexpr std::uint64_t kOrderStep = std::uint64_t{1} << 20;
static_assert(kOrderStep < kOrderEnd / 4);  // the first entry, at kOrderEnd / 2, has room for steps on both sides

// A key between two neighbours, or 0 when the gap is used up. 0 and kOrderEnd stand for a missing neighbour. `few`: the
// chain is short. Then a new first entry gets the middle of the space before the old one, which leaves a large gap
// behind it. In a longer chain it gets the key one step before the old one, because some 60 halvings use up that space.
[[nodiscard]] constexpr std::uint64_t order_between(std::uint64_t before, std::uint64_t after, bool few) {
  const std::uint64_t gap = after - before;
  if (gap < 2) return 0;
  if (before == 0 && after == kOrderEnd) return kOrderEnd / 2;
  if (before == 0) return few || gap <= 2 * kOrderStep ? after / 2 : after - kOrderStep;
  return gap > 2 * kOrderStep ? before + kOrderStep : before + gap / 2;
}

// State and steps behind MatchList's public functions, which check their requirements first.
struct MatchList::Impl {
  // A chain of more than kLong entries gets an index after a walk of more than kWalkLong steps; so many steps cost as
  // much as two lookups in the index. The chain loses its index when it falls below kShort. kLong and kShort are apart,
  // so that a chain whose length varies a little does not build its index again and again.
  static constexpr std::size_t kLong = 32;
  static constexpr std::size_t kWalkLong = 16;
  static constexpr std::size_t kShort = 16;

  // List order; compares with a bare order key too, so `rough` can be searched without an entry.
  struct Earlier {
    using is_transparent = void;
    bool operator()(const MatchEntry* a, const MatchEntry* b) const { return a->order_ < b->order_; }
    bool operator()(const MatchEntry* a, std::uint64_t order) const { return a->order_ < order; }
    bool operator()(std::uint64_t order, const MatchEntry* a) const { return order < a->order_; }
  };

  // Links an entry between two neighbours (nullptr: an end of the chain), and gives it a key.
  void chain(MatchEntry& entry, MatchEntry* before, MatchEntry* after);
  // Removes an entry from the chain, and drops the index if the chain became short. Requires: no index has the entry.
  void unchain(MatchEntry& entry);
  // Removes an adopted entry.
  [[gnu::noinline]] void abandon(MatchEntry& entry);
  // The key between the entry's neighbours; 0 when the gap is used up.
  [[nodiscard]] std::uint64_t order_of(const MatchEntry& entry) const;
  // Gives a chained entry its key. This and the other rare steps are not inlined, so that the common ones stay short.
  [[gnu::noinline]] void assign_order(MatchEntry& entry);
  // Spreads the entry's neighbours out, and then gives the entry its key.
  [[gnu::noinline]] void make_order_gap(MatchEntry& entry);
  [[gnu::noinline]] void spread(MatchEntry& around);
  // Enters an entry where invariant 2 requires it, or removes it from there.
  [[gnu::noinline]] void index(MatchEntry& entry);
  [[gnu::noinline]] void unindex(MatchEntry& entry);
  // Update the index and notify the observer: record_chained() after an entry is linked, record_unchained() before it
  // is unlinked. Require: attended.
  [[gnu::noinline]] void record_chained(MatchEntry& entry);
  [[gnu::noinline]] void record_unchained(MatchEntry& entry);
  // Called at each change of `indexed` or `observer`.
  void set_attended() { attended = indexed || observer != nullptr; }
  // build_index() enters all chained entries in an index; drop_index() removes them. Both take linear time.
  [[gnu::noinline]] void build_index();
  // Reports a walk of `steps` entries; builds the index when it was long (invariant 3).
  void record_walk(std::size_t steps) {
    if (steps > kWalkLong && chained > kLong) [[unlikely]]
      build_index();
  }
  [[gnu::noinline]] void drop_index();
  // Moves a ready entry to `exhausted` until its storage has a buffer again. Requires: it is ready, its descriptor is
  // an exhausted independent block, and its no-room link is `next`.
  void park(MatchEntry& entry);

  MatchEntry* first = nullptr;
  MatchEntry* last = nullptr;
  // The list that this implements, for observers.
  MatchList* list = nullptr;
  MatchEntry* adopted = nullptr;
  // Entries, adopted ones included.
  std::size_t size = 0;
  std::size_t chained = 0;
  bool indexed = false;
  // indexed || observer != nullptr: a change of the chain needs more than links. Stored, so that the common path makes
  // one test.
  bool attended = false;
  StructureObserver* observer = nullptr;
  // The entries with the marks of invariant 2, except `no`.
  MatchIndex ready;
  MatchIndex exhausted;
  std::set<MatchEntry*, Earlier> rough;
};

}  // namespace margay::portals
