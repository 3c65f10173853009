#include "portals/walk.hpp"

#include <optional>

#include "portals/match/match_list_impl.hpp"
#include "portals/memory/independent_block.hpp"
#include "portals/memory/storage.hpp"

namespace margay::portals {

Passed Walk::examine(const MatchEntry& entry, const Header& header) {
  if (!entry.active_) return Passed::inactive;
  if (!entry.criteria_.accepts(header)) return Passed::no_match;
  return Storage::admit(*entry.memory_, entry.options_, header);
}

// An inactive entry counts as no_match, because the paper defines no separate failure for it.
DropReason Walk::reason(Passed passed, const Header& header) {
  switch (passed) {
    case Passed::inactive:
    case Passed::no_match:
      return DropReason::no_match;
    case Passed::no_room:
      return DropReason::no_room;
    case Passed::too_small:
      return DropReason::too_small;
    case Passed::wrong_direction:
      return header.kind == Kind::get ? DropReason::write_only : DropReason::read_only;
    case Passed::offset_out_of_range:
      return DropReason::offset_out_of_range;
    case Passed::taken:
      break;
  }
  return DropReason::none;
}

// `successor(entry, end)` returns the entry to visit after `entry` in the chain; for nullptr, the first one. It may
// skip entries that would reject the message; it then sets `end.reason` as the skipped entries would have set it.
// `visit(entry, passed)` is called at each stop.
template <class Successor, class Visit>
Walk::End Walk::follow(const MatchList& list, const Header& header, Successor successor, Visit visit,
                       std::uint32_t visits_at_most) {
  End end{.reason = DropReason::no_match};
  // An entry's result does not change during a walk, so a walk that visits an entry twice would never end.
  std::size_t stops_left = list.impl_->size;
  MatchEntry* entry = successor(nullptr, end);
  while (entry != nullptr) {
    if (stops_left-- == 0) {
      end.went_round = true;
      return end;
    }
    if (end.visited == visits_at_most) {
      end.was_cut = true;
      return end;
    }
    const Passed passed = examine(*entry, header);
    ++end.visited;
    visit(*entry, passed);
    const Link* link = &entry->links_.no_match;
    switch (passed) {
      case Passed::taken:
        end.entry = entry;
        end.reason = DropReason::none;
        return end;
      case Passed::wrong_direction:
      case Passed::offset_out_of_range:
        end.reason = reason(passed, header);
        return end;
      case Passed::no_room:
        end.reason = DropReason::no_room;
        link = &entry->links_.no_room;
        break;
      case Passed::too_small:
        end.reason = DropReason::too_small;
        link = &entry->links_.too_small;
        break;
      case Passed::inactive:
      case Passed::no_match:
        break;
    }
    // `end` keeps the reason of the last entry that failed for room or length, as DropReason describes.
    if (link->to == Link::To::drop) return end;
    if (link->to == Link::To::next) {
      // An adopted entry has no successor in the chain, so only links lead on from it.
      entry = entry->chained_ ? successor(entry, end) : nullptr;
    } else {
      // A link to an entry of another list, or of none, ends the walk.
      entry = link->entry->list_ == &list ? link->entry : nullptr;
    }
  }
  return end;
}

Walk::End Walk::linear(const MatchList& list, const Header& header, std::vector<Step>* steps,
                       const WalkLimits& limits) {
  const auto successor = [&](const MatchEntry* entry, const End& /*end*/) -> MatchEntry* {
    return entry == nullptr ? list.impl_->first : entry->next_;
  };
  // A separate instantiation, so that the walk of a message carries no test for a recorder.
  if (steps == nullptr) return follow(list, header, successor, [](const MatchEntry&, Passed) {});
  const auto visit = [&](const MatchEntry& entry, Passed passed) {
    if (steps->size() < limits.steps) steps->push_back({&entry, passed});
  };
  return follow(list, header, successor, visit, limits.visited);
}

Walk::End Walk::indexed(MatchList& list, const Header& header, bool heed_exhausted) {
  MatchList::Impl& impl = *list.impl_;
  MatchIndex::Scan ready(impl.ready, header);
  std::optional<MatchIndex::Scan> exhausted;
  if (heed_exhausted) exhausted.emplace(impl.exhausted, header);
  // An exhausted entry is parked only when the scans have passed it, because their cursors may stand on it until then.
  MatchEntry* to_park = nullptr;
  const auto park = [&] {
    if (to_park != nullptr) impl.park(*to_park);
    to_park = nullptr;
  };
  const auto successor = [&](const MatchEntry* entry, End& end) {
    const std::uint64_t from = entry == nullptr ? 0 : entry->order_ + 1;
    MatchEntry* found = ready.first_from(from);
    // Rough entries are not hashed, because their no-match link leads elsewhere than to the next entry. The walk visits
    // the earlier of the two candidates.
    if (!impl.rough.empty()) {
      const auto rough = impl.rough.lower_bound(from);
      if (rough != impl.rough.end() && (found == nullptr || (*rough)->order_ < found->order_)) found = *rough;
    }
    if (exhausted) {
      const MatchEntry* const passed = exhausted->first_from(from);
      if (passed != nullptr && (found == nullptr || passed->order_ < found->order_)) end.reason = DropReason::no_room;
    }
    park();
    return found;
  };
  const auto visit = [&](MatchEntry& entry, Passed passed) {
    if (passed == Passed::no_room && !heed_exhausted && entry.indexed_ == MatchEntry::Indexed::ready &&
        entry.links_.no_room.to == Link::To::next && entry.memory_->type() == DescriptorType::independent_block) {
      to_park = &entry;
    }
  };
  return follow(list, header, successor, visit);
}

MatchEntry* Walk::first_match(const MatchList& list, const Header& header, std::uint32_t& visited) {
  // A list with an index is long, and a scan of it would cost more than the lookup.
  if (list.impl_->indexed) return nullptr;
  for (MatchEntry* entry = list.impl_->first; entry != nullptr; entry = entry->next_) {
    ++visited;
    if (entry->active_ && entry->criteria_.accepts(header)) return entry;
    // This link leaves the chain. Only the full walk follows such links.
    if (entry->links_.no_match.to != Link::To::next) return nullptr;
  }
  return nullptr;
}

void Walk::record_length(MatchList& list, std::uint32_t visited) {
  list.impl_->record_walk(visited);
}

Walk::End Walk::fast(MatchList& list, const Header& header) {
  if (!list.impl_->indexed) {
    std::uint32_t visited = 0;
    MatchEntry* const entry = first_match(list, header, visited);
    // Nearly every walk ends here. If the entry does not admit the message, its links decide where the walk continues,
    // so the full walk runs from the first entry.
    if (entry != nullptr && Storage::admit(*entry->memory_, entry->options_, header) == Passed::taken) {
      list.impl_->record_walk(visited);
      return {.entry = entry, .visited = visited};
    }
    const End walked = linear(list, header, nullptr);
    list.impl_->record_walk(walked.visited);
    return walked;
  }
  End end = indexed(list, header, false);
  if (end.entry != nullptr) return end;
  // Exhausted entries that are left out do not change where the walk ends, but they may change the reason of a drop.
  // Only a drop pays for the second walk.
  if (!list.impl_->exhausted.empty()) end = indexed(list, header, true);
  // A walk in a circle is cut after as many stops as the list has entries. The indexed walk skips stops, so it may be
  // cut elsewhere, with another reason. The linear walk decides.
  return end.went_round ? linear(list, header, nullptr) : end;
}

}  // namespace margay::portals
