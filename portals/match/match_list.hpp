// A match list: a chain of match entries that a portal leads to ("A match list is a linked list of match entries",
// paper 001, section 1.2). Its meaning is defined by the paper's linear walk; an index, which the list builds when
// walks become long, finds the same entry faster.
#pragma once

#include <cstdint>
#include <memory>

#include "portals/base/structure_observer.hpp"
#include "portals/match/match_entry.hpp"

namespace margay::portals {

// One match list. It refers to entries that the program owns. Used under the process lock only. A function that
// requires an entry of this list ends the process with a message if the entry is in another list, or in none.
class MatchList {
 public:
  // An empty list, without an index.
  MatchList();
  // Takes the remaining entries out of the list.
  ~MatchList();
  MatchList(const MatchList&) = delete;
  MatchList& operator=(const MatchList&) = delete;

  // Whether a new entry is active at once.
  enum class Start : bool { inactive, active };
  // Adds an entry at the end of the chain, or before `position`. append() takes constant time. Requires: the entry has
  // a descriptor and is in no list, and `position` is in this list's chain.
  void append(MatchEntry& entry, Start start = Start::active);
  // Inserting inside the chain may cost a search in the index, if there is one (match_index.hpp).
  void insert_before(MatchEntry& position, MatchEntry& entry, Start start = Start::active);
  // Adds an entry to the list but not to the chain: only links of other entries lead to it.
  void adopt(MatchEntry& entry, Start start = Start::active);
  // Takes an entry, chained or adopted, out of the list. Messages that it has already taken still complete. Constant
  // time without an index. A removal that makes the chain short drops the index, in linear time.
  void remove(MatchEntry& entry);
  // The walk leaves an inactive entry by its no-match link, as if the criteria were not met. Both functions have no
  // effect on an entry that is already in the requested state.
  void activate(MatchEntry& entry);
  void deactivate(MatchEntry& entry);

  // The first entry of the chain; nullptr when it is empty.
  [[nodiscard]] MatchEntry* first() const;
  // The successor of an entry in the chain; nullptr for the last one and for an adopted one. Requires: the entry is in
  // this list.
  [[nodiscard]] MatchEntry* next(const MatchEntry& entry) const;
  // The number of entries, adopted ones included.
  [[nodiscard]] std::size_t size() const;

  // Sets the observer of the list's changes; nullptr: none. The present entries are reported as linked at once: adopted
  // ones, then the chain from its end, so that each entry's successor is known. Requires: `observer` outlives the
  // list, or is removed by follow(nullptr).
  void follow(StructureObserver* observer);

 private:
  friend class Walk;
  struct Impl;
  // The common steps of adding a chained or an adopted entry: checks, state, count.
  void enter(MatchEntry& entry, Start start);
  // Calls enter(), and links the entry between two neighbours in the chain; nullptr: there is none on that side.
  void chain(MatchEntry& entry, MatchEntry* before, MatchEntry* after, Start start);
  // The implementation, behind a pointer, so that programs on portals do not include the index.
  std::unique_ptr<Impl> impl_;
};

}  // namespace margay::portals
