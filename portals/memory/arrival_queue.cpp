#include "portals/memory/arrival_queue.hpp"

#include <algorithm>

#include "portals/base/assert.hpp"

namespace margay::portals {

// Reuses free slots first, so that the arrays grow with the longest queue and not with all arrivals (invariant 3).
void ArrivalIndex::obtain_slot(ArrivedNode& node) {
  if (free_slots_.empty()) {
    MARGAY_ASSERT(slots_.size() < kNoSlot);
    node.slot = static_cast<Slot>(slots_.size());
    slots_.push_back(&node);
  } else {
    node.slot = free_slots_.back();
    free_slots_.pop_back();
    MARGAY_ASSERT(slots_[node.slot] == nullptr);
    slots_[node.slot] = &node;
  }
}

void ArrivalIndex::append(ArrivedNode& node) {
  if (empty()) return;
  obtain_slot(node);
  for (Shape& shape : shapes_) append(shape, node);
}

void ArrivalIndex::append(Shape& shape, const ArrivedNode& node) {
  const Slot slot = node.slot;
  // At least doubled, so that growing costs constant time per message, amortised.
  if (slot >= shape.links.size()) shape.links.resize(std::max<std::size_t>(slots_.size(), shape.links.size() * 2));
  auto& queue = shape.queues.obtain(MatchKey::of(shape.shape, node.message.header));
  // Appended at the end: arrivals come in order, so the queue stays sorted without a search.
  shape.links[slot] = {kNoSlot, queue.last};
  if (queue.first == kNoSlot) {
    queue.first = slot;
  } else {
    shape.links[queue.last].next = slot;
  }
  queue.last = slot;
}

void ArrivalIndex::remove(ArrivedNode& node) {
  MARGAY_ASSERT(!empty() && node.slot < slots_.size() && slots_[node.slot] == &node);  // invariant 1
  for (Shape& shape : shapes_) remove(shape, node);
  slots_[node.slot] = nullptr;
  free_slots_.push_back(node.slot);
  node.slot = kNoSlot;
}

void ArrivalIndex::remove(Shape& shape, const ArrivedNode& node) {
  MARGAY_ASSERT(node.slot < shape.links.size());
  const Neighbours links = shape.links[node.slot];
  if (links.next != kNoSlot) shape.links[links.next].previous = links.previous;
  if (links.previous != kNoSlot) shape.links[links.previous].next = links.next;
  // A message inside a queue leaves both ends of the queue unchanged, so the hash table need not be searched.
  if (links.next != kNoSlot && links.previous != kNoSlot) return;
  const MatchKey key = MatchKey::of(shape.shape, node.message.header);
  if (links.next == kNoSlot && links.previous == kNoSlot) {
    shape.queues.erase(key);
    return;
  }
  auto& queue = shape.queues.at(key);
  (links.next == kNoSlot ? queue.last : queue.first) = links.next == kNoSlot ? links.previous : links.next;
}

ArrivedNode* ArrivalIndex::find(const Criteria& criteria, ArrivedNode* first) {
  Shape& shape = obtain(MatchShape::of(criteria), first);
  shape.last_use = ++uses_;
  const auto* const queue = shape.queues.find(MatchKey::of(shape.shape, criteria));
  // The first of the key's queue is the oldest, because append() is called in order of arrival.
  return queue == nullptr ? nullptr : slots_[queue->first];
}

ArrivalIndex::Shape& ArrivalIndex::obtain(const MatchShape& wanted, ArrivedNode* first) {
  for (Shape& shape : shapes_) {
    if (shape.shape == wanted) return shape;
  }
  // Slots are given only while a shape is indexed; messages that arrived before have none yet.
  if (shapes_.empty()) {
    for (ArrivedNode* node = first; node != nullptr; node = node->next) obtain_slot(*node);
  }
  // Replaces the least recently used shape. The linear search happens only if a program uses more than kShapes shapes.
  if (shapes_.size() == kShapes) {
    shapes_.erase(std::min_element(shapes_.begin(), shapes_.end(),
                                   [](const Shape& a, const Shape& b) { return a.last_use < b.last_use; }));
  }
  Shape& shape = shapes_.emplace_back();
  shape.shape = wanted;
  for (const ArrivedNode* node = first; node != nullptr; node = node->next) append(shape, *node);
  return shape;
}

// Queued messages keep their slot numbers, which are invalid until the next index assigns new ones.
void ArrivalIndex::clear() {
  *this = {};
}

void ArrivalQueue::append(ArrivedNode& node) {
  MARGAY_ASSERT(!node.queued);
  MARGAY_DEBUG_ASSERT((first_ == nullptr) == (size_ == 0));
  // Numbered here, under the process lock, so the numbers of a block are without gaps in the order of the queue.
  node.message.arrival = ++arrivals_;
  node.previous = last_;
  node.next = nullptr;
  (last_ == nullptr ? first_ : last_->next) = &node;
  last_ = &node;
  node.queued = true;
  ++size_;
  index_.append(node);
}

void ArrivalQueue::remove(ArrivedNode& node) {
  MARGAY_ASSERT(node.queued && size_ != 0);
  (node.previous == nullptr ? first_ : node.previous->next) = node.next;
  (node.next == nullptr ? last_ : node.next->previous) = node.previous;
  node.queued = false;
  node.next = nullptr;
  node.previous = nullptr;
  --size_;
  if (index_.empty()) return;
  // The index is cleared only below half of kShort, so that a queue whose length varies around kShort keeps its index.
  index_.remove(node);
  if (size_ < kShort / 2) index_.clear();
}

ArrivedMessage* ArrivalQueue::find(const Criteria& criteria) {
  std::uint64_t left = index_.empty() ? kShort : kExaminedBeforeIndex;
  for (ArrivedNode* node = first_; node != nullptr; node = node->next) {
    // Examining a few messages costs less than building the index or a lookup in it.
    if (size_ > kShort && left-- == 0) {
      ArrivedNode* const found = index_.find(criteria, first_);
      return found == nullptr ? nullptr : &found->message;
    }
    if (criteria.accepts(node->message.header)) return &node->message;
  }
  return nullptr;
}

}  // namespace margay::portals
