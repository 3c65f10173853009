#include "portals/match/match_list.hpp"

#include "portals/base/assert.hpp"
#include "portals/match/match_list_impl.hpp"

namespace margay::portals {

namespace {

constexpr const char* kForeign =
    "the match entry is not in this match list; append(), insert_before() or adopt() it first";

}  // namespace

MatchList::MatchList() : impl_(std::make_unique<Impl>()) {
  impl_->list = this;
}

MatchList::~MatchList() {
  // Through remove(), so that the observer sees each entry leave, and the entries may be destroyed or listed again.
  while (impl_->first != nullptr) remove(*impl_->first);
  while (impl_->adopted != nullptr) remove(*impl_->adopted);
  if (impl_->observer != nullptr) impl_->observer->gone(*this);
}

void MatchList::append(MatchEntry& entry, Start start) {
  chain(entry, impl_->last, nullptr, start);
}

void MatchList::insert_before(MatchEntry& position, MatchEntry& entry, Start start) {
  require(position.list_ == this && position.chained_,
          "insert_before() an entry that is not in this match list's chain; append() or insert_before() that entry "
          "first");
  // Without a predecessor, `position` was the first entry, and the new one becomes the first.
  chain(entry, position.previous_, &position, start);
}

// The part that chained and adopted entries have in common.
void MatchList::enter(MatchEntry& entry, Start start) {
  require(!entry.listed(),
          "a match entry can be in one match list once; remove() it from there first, or make another entry "
          "and overlay() it");
  require(entry.memory_ != nullptr, "a match entry without a descriptor has nowhere to put a message; set() it first");
  entry.list_ = this;
  entry.active_ = start == Start::active;
  ++impl_->size;
}

void MatchList::chain(MatchEntry& entry, MatchEntry* before, MatchEntry* after, Start start) {
  enter(entry, start);
  impl_->chain(entry, before, after);
}

void MatchList::adopt(MatchEntry& entry, Start start) {
  enter(entry, start);
  entry.chained_ = false;
  entry.previous_ = nullptr;
  entry.next_ = impl_->adopted;
  if (entry.next_ != nullptr) entry.next_->previous_ = &entry;
  impl_->adopted = &entry;
  if (impl_->observer != nullptr) impl_->observer->linked(*this, entry);
}

void MatchList::remove(MatchEntry& entry) {
  require(entry.list_ == this, kForeign);
  Impl& impl = *impl_;
  // The chain links of an unlisted entry are not reset, because nothing reads them.
  entry.list_ = nullptr;
  entry.active_ = false;
  MARGAY_DEBUG_ASSERT(impl.size != 0);
  --impl.size;
  if (!entry.chained_) [[unlikely]]
    return impl.abandon(entry);
  // The entry leaves the index first, because unchain() may call drop_index(), which reaches chained entries only.
  if (impl.attended) [[unlikely]]
    impl.record_unchained(entry);
  impl.unchain(entry);
}

void MatchList::activate(MatchEntry& entry) {
  require(entry.list_ == this, kForeign);
  if (entry.active_) return;
  entry.active_ = true;
  // Adopted entries are never indexed, because only links lead to them.
  if (impl_->indexed && entry.chained_) impl_->index(entry);
  if (impl_->observer != nullptr) impl_->observer->switched(*this, entry);
}

void MatchList::deactivate(MatchEntry& entry) {
  require(entry.list_ == this, kForeign);
  if (!entry.active_) return;
  entry.active_ = false;
  // A rough entry stays in the index while it is inactive, because its no-match link decides where the walk continues.
  if (impl_->indexed && entry.chained_ && entry.indexed_ != MatchEntry::Indexed::rough) impl_->unindex(entry);
  if (impl_->observer != nullptr) impl_->observer->switched(*this, entry);
}

MatchEntry* MatchList::first() const {
  return impl_->first;
}

MatchEntry* MatchList::next(const MatchEntry& entry) const {
  require(entry.list_ == this, kForeign);
  // next_ of an adopted entry links the adopted ones, which have no order.
  return entry.chained_ ? entry.next_ : nullptr;
}

std::size_t MatchList::size() const {
  return impl_->size;
}

void MatchList::follow(StructureObserver* observer) {
  impl_->observer = observer;
  impl_->set_attended();
  if (observer == nullptr) return;
  for (const MatchEntry* entry = impl_->adopted; entry != nullptr; entry = entry->next_)
    observer->linked(*this, *entry);
  // The chain is reported from its end, because the observer names each entry's successor, which it must have seen
  // before.
  for (const MatchEntry* entry = impl_->last; entry != nullptr; entry = entry->previous_)
    observer->linked(*this, *entry);
}

}  // namespace margay::portals
