#include "portals/memory/arrival_queue.hpp"

#include "portals/base/assert.hpp"

namespace margay::portals {

void ArrivalQueue::append(ArrivedNode& node) {
  MARGAY_ASSERT(!node.queued);
  MARGAY_DEBUG_ASSERT((first_ == nullptr) == (size_ == 0));
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
  index_.remove(node);
  if (size_ < kShort / 2) index_.clear();
}

ArrivedMessage* ArrivalQueue::find(const Criteria& criteria) {
  std::uint64_t looks = index_.empty() ? kShort : kLooksBeforeIndex;
  for (ArrivedNode* node = first_; node != nullptr; node = node->next) {
    if (size_ > kShort && looks-- == 0) {
      ArrivedNode* const found = index_.find(criteria, first_);
      return found == nullptr ? nullptr : &found->message;
    }
    if (criteria.accepts(node->message.header)) return &node->message;
  }
  return nullptr;
}

}  // namespace margay::portals
