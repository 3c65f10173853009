#include "portals/match/match_index.hpp"

#include <algorithm>

#include "portals/base/assert.hpp"

namespace margay::portals {

// A linear search suffices, because programs use few shapes.
MatchIndex::Shape& MatchIndex::obtain(const MatchShape& wanted) {
  for (Shape& shape : shapes_) {
    if (shape.shape == wanted) return shape;
  }
  Shape& shape = shapes_.emplace_back();
  shape.shape = wanted;
  return shape;
}

// The last entry on `queue` before `entry` in list order. Requires: `entry` belongs strictly inside the queue.
//
// Two searches take turns, and the first hit ends both: one goes backwards along the queue from its end, the other
// backwards along the chain from the entry. With k queued entries spread evenly over a chain of n, the first takes at
// most k steps and the second about n/k, so the earlier hit comes after about sqrt(n) steps at most. Entries that are
// posted in order need no search.
MatchEntry* MatchIndex::predecessor(const MatchEntry& entry, const Ends& queue, const MatchShape& shape) {
  const MatchKey key = MatchKey::of(shape, entry.criteria_);
  MatchEntry* on_queue = queue.last;
  MatchEntry* on_chain = entry.previous_;
  while (true) {
    on_queue = on_queue->previous_same_key_;
    if (on_queue->order_ < entry.order_) return on_queue;
    if (on_chain->indexed_ == queue.last->indexed_ && MatchShape::of(on_chain->criteria_) == shape &&
        MatchKey::of(shape, on_chain->criteria_) == key) {
      return on_chain;
    }
    on_chain = on_chain->previous_;
  }
}

// Links the entry into its key's queue; allocates only for a new key or shape.
void MatchIndex::insert(MatchEntry& entry) {
  MARGAY_ASSERT(entry.chained_ && entry.order_ != 0);
  Shape& shape = obtain(MatchShape::of(entry.criteria_));
  Ends& queue = shape.queues.obtain(MatchKey::of(shape.shape, entry.criteria_));
  MatchEntry* before = nullptr;
  MatchEntry* after = nullptr;
  // The end is tested first, because programs mostly append.
  if (queue.first == nullptr || queue.last->order_ < entry.order_) {
    before = queue.last;
  } else if (queue.first->order_ > entry.order_) {
    after = queue.first;
  } else {
    before = predecessor(entry, queue, shape.shape);
    after = before->next_same_key_;
  }
  MARGAY_ASSERT((before == nullptr || before->order_ < entry.order_) &&
                (after == nullptr || entry.order_ < after->order_));  // invariant 1
  entry.previous_same_key_ = before;
  entry.next_same_key_ = after;
  (before == nullptr ? queue.first : before->next_same_key_) = &entry;
  (after == nullptr ? queue.last : after->previous_same_key_) = &entry;
  ++shape.entries;
  ++entries_;
}

void MatchIndex::erase(MatchEntry& entry) {
  MatchEntry* const before = entry.previous_same_key_;
  MatchEntry* const after = entry.next_same_key_;
  if (before != nullptr) before->next_same_key_ = after;
  if (after != nullptr) after->previous_same_key_ = before;
  Shape& shape = obtain(MatchShape::of(entry.criteria_));
  MARGAY_ASSERT(shape.entries != 0 && entries_ >= shape.entries);
  // The hash table has the ends of each queue, so it changes only when the first or the last entry leaves.
  if (before == nullptr || after == nullptr) {
    const MatchKey key = MatchKey::of(shape.shape, entry.criteria_);
    if (before == nullptr && after == nullptr) {
      shape.queues.erase(key);
    } else if (before == nullptr) {
      shape.queues.at(key).first = after;
    } else {
      shape.queues.at(key).last = before;
    }
  }
  entry.previous_same_key_ = nullptr;
  entry.next_same_key_ = nullptr;
  --shape.entries;
  --entries_;
  // `shape` is invalid after the swap, so this comes last.
  if (shape.entries == 0 && shapes_.size() > kSpareShapes) {
    std::swap(shape, shapes_.back());
    shapes_.pop_back();
  }
}

void MatchIndex::clear() {
  *this = {};
}

MatchIndex::Scan::Scan(const MatchIndex& index, const Header& header) : index_(index), header_(header) {
  restart();
}

void MatchIndex::Scan::restart() {
  cursors_ = 0;
  more_.clear();
  for (const Shape& shape : index_.shapes_) {
    // A spare shape, whose table is empty.
    if (shape.entries == 0) continue;
    const Ends* const queue = shape.queues.find(MatchKey::of(shape.shape, header_));
    if (queue == nullptr) continue;
    if (cursors_ < kInline) {
      few_[cursors_] = queue->first;
    } else {
      more_.push_back(queue->first);
    }
    ++cursors_;
  }
}

MatchEntry* MatchIndex::Scan::first_from(std::uint64_t from) {
  // A link may lead the walk backwards.
  if (from < from_) restart();
  from_ = from;
  MatchEntry* earliest = nullptr;
  for (std::size_t at = 0; at < cursors_; ++at) {
    MatchEntry*& candidate = cursor(at);
    // Cursors only move forward, so all calls of a scan together pass each entry at most once.
    while (candidate != nullptr && candidate->order_ < from) candidate = candidate->next_same_key_;
    if (candidate != nullptr && (earliest == nullptr || candidate->order_ < earliest->order_)) earliest = candidate;
  }
  return earliest;
}

}  // namespace margay::portals
