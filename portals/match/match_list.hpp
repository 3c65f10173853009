// "A match list is a linked list of match entries." The walk over it is defined as the paper's linear walk; the index
// finds the same entry without the walk.
#pragma once

#include <cstdint>
#include <memory>

#include "portals/base/structure_watch.hpp"
#include "portals/match/match_entry.hpp"

namespace margay::portals {

class MatchList {
 public:
  MatchList();
  ~MatchList();  // entries still in the list are taken out of it
  MatchList(const MatchList&) = delete;
  MatchList& operator=(const MatchList&) = delete;

  enum class Start : bool { inactive, active };
  // Requires: entry has a descriptor, and is in no list.
  void append(MatchEntry& entry, Start start = Start::active);
  void insert_before(MatchEntry& position, MatchEntry& entry, Start start = Start::active);
  // An entry that only links lead to: it has its place in the table of contents but no place in the chain.
  void adopt(MatchEntry& entry, Start start = Start::active);
  void remove(MatchEntry& entry);
  // An inactive entry is passed over as if its criteria were not met, by its no-match link.
  void activate(MatchEntry& entry);
  void deactivate(MatchEntry& entry);

  [[nodiscard]] MatchEntry* first() const;
  [[nodiscard]] MatchEntry* next(const MatchEntry& entry) const;
  [[nodiscard]] std::size_t size() const;

  // From now on `watch` is called for each change; nullptr: nobody. The entries that are here are reported as linked at
  // once: adopted ones, then the chain from its end, so that each one's successor is known.
  // Requires: `watch` outlives the list, or takes its leave.
  void follow(StructureWatch* watch);

 private:
  friend class Walk;
  struct Impl;
  void enter(MatchEntry& entry, Start start);
  void chain(MatchEntry& entry, MatchEntry* before, MatchEntry* after, Start start);
  std::unique_ptr<Impl> impl_;
};

}  // namespace margay::portals
