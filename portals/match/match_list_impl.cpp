#include "portals/match/match_list_impl.hpp"

#include "portals/base/assert.hpp"
#include "portals/memory/independent_block.hpp"

namespace margay::portals {

void MatchList::Impl::chain(MatchEntry& entry, MatchEntry* before, MatchEntry* after) {
  entry.chained_ = true;
  entry.previous_ = before;
  entry.next_ = after;
  (before == nullptr ? first : before->next_) = &entry;
  (after == nullptr ? last : after->previous_) = &entry;
  if (before != nullptr && after != nullptr && after->order_ - before->order_ > 2 * kOrderStep) [[likely]] {
    // The same key as order_of() would compute, in fewer steps.
    entry.order_ = before->order_ + kOrderStep;
  } else {
    assign_order(entry);
  }
  MARGAY_DEBUG_ASSERT((before == nullptr || before->order_ < entry.order_) &&
                      (after == nullptr || entry.order_ < after->order_));  // invariant 1
  ++chained;
  if (attended) [[unlikely]]
    record_chained(entry);
}

void MatchList::Impl::record_chained(MatchEntry& entry) {
  MARGAY_ASSERT(indexed || observer != nullptr);
  if (indexed) index(entry);
  if (observer != nullptr) observer->linked(*list, entry);
}

void MatchList::Impl::record_unchained(MatchEntry& entry) {
  MARGAY_ASSERT(indexed || observer != nullptr);
  if (indexed) unindex(entry);
  if (observer != nullptr) observer->unlinked(*list, entry);
}

void MatchList::Impl::unchain(MatchEntry& entry) {
  (entry.previous_ != nullptr ? entry.previous_->next_ : first) = entry.next_;
  (entry.next_ != nullptr ? entry.next_->previous_ : last) = entry.previous_;
  MARGAY_DEBUG_ASSERT(chained != 0 && (first == nullptr) == (chained == 1));
  // The index is dropped after the links have changed, because drop_index() walks the chain.
  if (--chained < kShort && indexed) [[unlikely]]
    drop_index();
}

void MatchList::Impl::abandon(MatchEntry& entry) {
  // Adopted entries are never indexed and have no order key, so only their links are undone.
  (entry.previous_ != nullptr ? entry.previous_->next_ : adopted) = entry.next_;
  if (entry.next_ != nullptr) entry.next_->previous_ = entry.previous_;
  if (observer != nullptr) observer->unlinked(*list, entry);
}

std::uint64_t MatchList::Impl::order_of(const MatchEntry& entry) const {
  return order_between(entry.previous_ == nullptr ? 0 : entry.previous_->order_,
                       entry.next_ == nullptr ? kOrderEnd : entry.next_->order_, chained <= kLong);
}

void MatchList::Impl::assign_order(MatchEntry& entry) {
  entry.order_ = order_of(entry);
  if (entry.order_ == 0) make_order_gap(entry);
}

void MatchList::Impl::make_order_gap(MatchEntry& entry) {
  // There is at least one neighbour, because the gap around a lone entry is never used up.
  spread(*(entry.previous_ != nullptr ? entry.previous_ : entry.next_));
  entry.order_ = order_of(entry);
  MARGAY_ASSERT(entry.order_ != 0);
}

// Spreads the entries around `around` evenly over the smallest aligned range of 2^i keys that has at most (4/3)^i
// entries, the new one counted. This bound makes a spread cost O(log n) per insertion, amortised. The new entry, which
// has no key yet, is skipped; make_order_gap() then gives it one.
void MatchList::Impl::spread(MatchEntry& around) {
  MatchEntry* left = &around;
  MatchEntry* right = &around;
  std::uint64_t count = 1;
  double most = 1;
  const auto back = [](const MatchEntry* at) {
    MatchEntry* const previous = at->previous_;
    return previous != nullptr && previous->order_ == 0 ? previous->previous_ : previous;
  };
  const auto forth = [](const MatchEntry* at) {
    MatchEntry* const next = at->next_;
    return next != nullptr && next->order_ == 0 ? next->next_ : next;
  };
  std::uint64_t low = 0;
  std::uint64_t range = 1;
  for (unsigned bits = 1; bits <= kOrderBits; ++bits) {
    range = std::uint64_t{1} << bits;
    most = most * 4 / 3;
    low = around.order_ & ~(range - 1);
    for (MatchEntry* at = back(left); at != nullptr && at->order_ >= low; at = back(at)) left = at, ++count;
    for (MatchEntry* at = forth(right); at != nullptr && at->order_ < low + range; at = forth(at)) right = at, ++count;
    // +1 is the new entry. A range of less than 64 keys would soon be full again.
    if (bits >= 6 && static_cast<double>(count + 1) <= most) break;
  }
  const std::uint64_t step = range / (count + 1);
  MARGAY_ASSERT(step >= 2);
  std::uint64_t order = low + step;
  for (MatchEntry* at = left;; at = forth(at), order += step) {
    at->order_ = order;
    if (at == right) break;
  }
}

void MatchList::Impl::index(MatchEntry& entry) {
  using Indexed = MatchEntry::Indexed;
  // activate() calls this for rough entries too, which stay in the index while they are inactive.
  if (entry.indexed_ == Indexed::rough) return;
  if (entry.links_.no_match.to != Link::To::next) {
    rough.insert(&entry);
    entry.indexed_ = Indexed::rough;
  } else if (entry.active_) {
    ready.insert(entry);
    entry.indexed_ = Indexed::ready;
  }
}

void MatchList::Impl::unindex(MatchEntry& entry) {
  using Indexed = MatchEntry::Indexed;
  // The mark, and not the entry's present state, decides, because the state may have changed since the entry was
  // indexed.
  switch (entry.indexed_) {
    case Indexed::no:
      return;
    case Indexed::ready:
      ready.erase(entry);
      break;
    case Indexed::rough:
      rough.erase(&entry);
      break;
    case Indexed::exhausted:
      exhausted.erase(entry);
      static_cast<IndependentBlock*>(entry.memory_)->unobserve_room(entry.observer_);
      break;
  }
  entry.indexed_ = Indexed::no;
}

void MatchList::Impl::build_index() {
  MARGAY_ASSERT(!indexed && ready.empty() && exhausted.empty() && rough.empty());
  indexed = true;
  set_attended();
  // Entries without room are entered as ready, too, because the first walk that examines such an entry parks it.
  for (MatchEntry* entry = first; entry != nullptr; entry = entry->next_) index(*entry);
}

// The reverse of build_index(): every entry's mark is reset, so that a later index starts from nothing.
void MatchList::Impl::drop_index() {
  for (MatchEntry* entry = first; entry != nullptr; entry = entry->next_) unindex(*entry);
  MARGAY_ASSERT(ready.empty() && exhausted.empty() && rough.empty());  // invariant 2
  ready.clear();
  exhausted.clear();
  indexed = false;
  set_attended();
}

void MatchList::Impl::park(MatchEntry& entry) {
  MARGAY_ASSERT(entry.indexed_ == MatchEntry::Indexed::ready);
  MARGAY_ASSERT(entry.memory_->type() == DescriptorType::independent_block &&
                entry.links_.no_room.to == Link::To::next);
  // Exhausted entries have an index of their own instead of a flag, so that a lookup in `ready` does not pass thousands
  // of entries without room.
  ready.erase(entry);
  exhausted.insert(entry);
  entry.indexed_ = MatchEntry::Indexed::exhausted;
  entry.observer_.entry = &entry;
  entry.observer_.has_room = [](RoomObserver& room) {
    MatchEntry& parked = *static_cast<MatchEntry::Observer&>(room).entry;
    Impl& impl = *parked.list_->impl_;
    MARGAY_ASSERT(parked.indexed_ == MatchEntry::Indexed::exhausted);
    impl.exhausted.erase(parked);
    impl.ready.insert(parked);
    parked.indexed_ = MatchEntry::Indexed::ready;
  };
  static_cast<IndependentBlock*>(entry.memory_)->observe_room(entry.observer_);
}

}  // namespace margay::portals
