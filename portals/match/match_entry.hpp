// One entry of a match list: criteria, a descriptor with options, and three links (paper 001, section 1.2: "three types
// of failure ... Each entry can specify the next successive entry to which the kernel should proceed").
#pragma once

#include <cstdint>

#include "portals/base/assert.hpp"
#include "portals/base/header.hpp"
#include "portals/memory/descriptor.hpp"

namespace margay::portals {

class MatchEntry;
class MatchList;

// The entry at which the walk continues after a failure. A link to an entry that is in another list, or in none, ends
// the walk. A link to a destroyed entry is an error, because the walk reads the entry.
struct Link {
  // The kind of link; `entry` is set for To::entry only.
  enum class To : std::uint8_t { next, entry, drop } to = To::next;
  MatchEntry* entry = nullptr;
  // Continue at the entry after this one in the chain.
  [[nodiscard]] static Link next() { return {}; }
  // End the walk; the message is dropped.
  [[nodiscard]] static Link drop() { return {To::drop, nullptr}; }
  // Continue at `entry`, which may be adopted, that is, outside the chain.
  [[nodiscard]] static Link at(MatchEntry& entry) { return {To::entry, &entry}; }
};

// One link for each failure that the paper names. By default all are `next`, so that the entries of a list are
// alternatives, tried in order. The index hashes only entries whose no-match link is `next`.
struct Links {
  Link no_match = {};
  Link no_room = {};
  Link too_small = {};
};

// A match entry, owned by the program, at a fixed address while it is in a list. Requires: it leaves its list before it
// is destroyed. All setters require that the entry is in no list, and that the descriptor's type supports the options.
// A violation ends the process with a message.
class MatchEntry {
 public:
  MatchEntry() = default;
  // As set().
  MatchEntry(const Criteria& criteria, Descriptor& memory, const Options& options, const Links& links = {}) {
    set(criteria, memory, options, links);
  }
  // Requires: not listed(). This is tested here, because the mistake would otherwise show only when a later walk reads
  // the destroyed entry.
  ~MatchEntry() {
    require(!listed(),
            "a match entry is destroyed while it is in a match list; remove() it first, or declare the list "
            "after its entries, so that the list is destroyed first");
  }
  MatchEntry(const MatchEntry&) = delete;
  MatchEntry& operator=(const MatchEntry&) = delete;

  // Sets everything except active(), which the list sets. Requires: `memory` outlives the entry's time in a list. The
  // entry does not own `memory`, which any number of entries may share.
  void set(const Criteria& criteria, Descriptor& memory, const Options& options, const Links& links = {});
  // Sets other criteria; descriptor, options and links stay. Cheaper than set(), because no options are checked.
  void set_criteria(const Criteria& criteria) {
    require_free();
    criteria_ = criteria;
  }
  // Uses the descriptor of `other`, with `options` (section 1.2: "overlaid"). This entry's criteria and links stay.
  // Requires: `other` has a descriptor.
  void overlay(const MatchEntry& other, const Options& options);

  // The present values; the descriptor is nullptr until one is set.
  [[nodiscard]] const Criteria& criteria() const { return criteria_; }
  [[nodiscard]] const Links& links() const { return links_; }
  [[nodiscard]] Descriptor* memory() const { return memory_; }
  [[nodiscard]] const Options& options() const { return options_; }
  // The order key, which grows along the chain. It may change when other entries are inserted; 0 for an entry that was
  // never chained.
  [[nodiscard]] std::uint64_t order() const { return order_; }
  // Whether the walk compares the criteria; it passes over an inactive entry by the no-match link.
  [[nodiscard]] bool active() const { return active_; }
  // Whether it is in its list's chain; false for an adopted entry. Requires: listed().
  [[nodiscard]] bool chained() const { return chained_; }
  // Whether it is in a list, chained or adopted.
  [[nodiscard]] bool listed() const { return list_ != nullptr; }
  // Whether the program has given this entry a name (sim/program/explain). Names are found by address. The mark is
  // clear in a new entry, so the name of an earlier entry at the same address is ignored. set_named() is const, because
  // observers get constant entries.
  void set_named() const { named_ = true; }
  [[nodiscard]] bool named() const { return named_; }

 private:
  // A listed entry must not change, because the index and the walk rely on its criteria and links.
  void require_free() const {
    require(!listed(), "a match entry is changed while it is in a match list; remove() it, change it, append() it");
  }
  // The list and its index link entries through the fields below.
  friend class MatchList;
  friend class MatchIndex;
  friend class Walk;
  // The part of the list's index that contains the entry (match_list_impl.hpp, invariant 2).
  enum class Indexed : std::uint8_t { no, ready, exhausted, rough };
  // The room observer of an exhausted entry, with a pointer back to the entry.
  struct Observer : RoomObserver {
    MatchEntry* entry = nullptr;
  };

  // The walk reads these fields at each entry, so they come first and fit in a cache line. The program sets criteria,
  // descriptor and options while the entry is in no list; the list maintains the others.
  Criteria criteria_;
  // Successor in the chain, or among the adopted entries.
  MatchEntry* next_ = nullptr;
  Descriptor* memory_ = nullptr;
  Options options_;
  bool active_ = false;
  // false: adopted, so only links lead here.
  bool chained_ = false;
  // Maintained by MatchList::Impl.
  Indexed indexed_ = Indexed::no;
  mutable bool named_ = false;
  // The list that the entry is in; nullptr: none. The fields from here on belong to the list and its index, except the
  // links, which the program sets.
  MatchList* list_ = nullptr;
  std::uint64_t order_ = 0;  // grows along the chain
  // The walk reads them only after a failure, so they lie after the first cache line.
  Links links_;
  // Predecessor in the chain, or among the adopted entries.
  MatchEntry* previous_ = nullptr;
  // Neighbours on the queue of the entry's key (MatchIndex).
  MatchEntry* next_same_key_ = nullptr;
  MatchEntry* previous_same_key_ = nullptr;
  // Registered while the entry is in the exhausted part of the index.
  Observer observer_;
};

}  // namespace margay::portals
