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

// Where the walk goes on after a failure. A link to an entry that is not in the same list ends the walk.
struct Link {
  enum class To : std::uint8_t { next, entry, drop } to = To::next;
  MatchEntry* entry = nullptr;
  [[nodiscard]] static Link next() { return {}; }                   // the entry after this one in the list
  [[nodiscard]] static Link drop() { return {To::drop, nullptr}; }  // the walk ends, the message is dropped
  [[nodiscard]] static Link at(MatchEntry& entry) { return {To::entry, &entry}; }  // may be outside the list's chain
};

struct Links {
  Link no_match = {};
  Link no_room = {};
  Link too_small = {};
};

// Owned by the program; must be out of its list before it goes away. All setters require: not in a list, and options
// that the descriptor's type has.
class MatchEntry {
 public:
  MatchEntry() = default;
  MatchEntry(const Criteria& criteria, Descriptor& memory, const Options& options, const Links& links = {}) {
    set(criteria, memory, options, links);
  }
  ~MatchEntry() {
    require(!listed(),
            "a match entry goes away while a match list has it; remove() it first, or declare the list "
            "after its entries, so that the list goes first");
  }
  MatchEntry(const MatchEntry&) = delete;
  MatchEntry& operator=(const MatchEntry&) = delete;

  void set(const Criteria& criteria, Descriptor& memory, const Options& options, const Links& links = {});
  // The same descriptor, options and links for another message.
  void set_criteria(const Criteria& criteria) {
    require_free();
    criteria_ = criteria;
  }
  // Shares `other`'s storage under this entry's own options.
  void overlay(const MatchEntry& other, const Options& options);

  [[nodiscard]] const Criteria& criteria() const { return criteria_; }
  [[nodiscard]] const Links& links() const { return links_; }
  [[nodiscard]] Descriptor* memory() const { return memory_; }
  [[nodiscard]] const Options& options() const { return options_; }
  // Grows along the list: which entry it is, for a trace.
  [[nodiscard]] std::uint64_t order() const { return order_; }
  [[nodiscard]] bool active() const { return active_; }
  // In its list's chain, and not adopted. Requires: listed().
  [[nodiscard]] bool chained() const { return chained_; }
  [[nodiscard]] bool listed() const { return list_ != nullptr; }
  // Whoever keeps a name by this entry's address says so here: another entry at the address later has none.
  void set_named() const { named_ = true; }
  [[nodiscard]] bool named() const { return named_; }

 private:
  void require_free() const {
    require(!listed(), "a match entry is changed while a match list has it; remove() it, change it, append() it");
  }
  friend class MatchList;
  friend class MatchIndex;
  friend class Walk;
  // Where the entry is in its list's indices.
  enum class Indexed : std::uint8_t { no, ready, exhausted, rough };
  struct Watch : RoomWatch {
    MatchEntry* entry = nullptr;
  };

  // What the walk reads at each entry comes first, in one cache line.
  Criteria criteria_;
  MatchEntry* next_ = nullptr;  // in the chain, or among the adopted
  Descriptor* memory_ = nullptr;
  Options options_;
  bool active_ = false;
  bool chained_ = false;  // false: adopted, only links lead here
  Indexed indexed_ = Indexed::no;
  mutable bool named_ = false;
  // List and index bookkeeping; MatchList's own.
  MatchList* list_ = nullptr;
  std::uint64_t order_ = 0;  // grows along the chain
  Links links_;
  MatchEntry* previous_ = nullptr;
  MatchEntry* next_same_key_ = nullptr;
  MatchEntry* previous_same_key_ = nullptr;
  Watch watch_;
};

}  // namespace margay::portals
