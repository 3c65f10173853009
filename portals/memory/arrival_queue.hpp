// The queue of arrived messages, in order of arrival, and the search in it. Internal to portals.
#pragma once

#include <cstdint>

#include "portals/memory/arrival_index.hpp"
#include "portals/memory/dynamic_block.hpp"

namespace margay::portals {

class ArrivalQueue;

// How a message lies in the heap: this, then, 64-byte aligned, its body.
struct ArrivedNode {
  ArrivedMessage message;  // first, so that a message's address is its node's
  ArrivedNode* next = nullptr;
  ArrivedNode* previous = nullptr;
  std::uint64_t block_bytes = 0;  // as asked from the heap
  ArrivalIndex::Slot slot = ArrivalIndex::kNoSlot;
  bool queued = false;
  // Whose message it is, until it is released.
  const ArrivalQueue* home = nullptr;

  [[nodiscard]] static ArrivedNode& of(ArrivedMessage& message) { return reinterpret_cast<ArrivedNode&>(message); }
  [[nodiscard]] static const ArrivedNode& of(const ArrivedMessage& message) {
    return reinterpret_cast<const ArrivedNode&>(message);
  }
};

class ArrivalQueue {
 public:
  // A search looks at so many messages; if the queue is longer, it then uses the index, which is thrown away when the
  // queue falls below half of it. So who receives in the order in which messages came, as most programs do, pays for
  // no index.
  static constexpr std::uint64_t kShort = 16;
  // The same once there is an index: the earliest message is looked at, as it is often the one.
  static constexpr std::uint64_t kLooksBeforeIndex = 1;

  void append(ArrivedNode& node);
  void remove(ArrivedNode& node);
  [[nodiscard]] ArrivedMessage* find(const Criteria& criteria);
  [[nodiscard]] ArrivedNode* first() const { return first_; }
  [[nodiscard]] std::uint64_t size() const { return size_; }
  [[nodiscard]] const ArrivalIndex& index() const { return index_; }

 private:
  ArrivedNode* first_ = nullptr;
  ArrivedNode* last_ = nullptr;
  std::uint64_t size_ = 0;
  std::uint64_t arrivals_ = 0;
  ArrivalIndex index_;
};

}  // namespace margay::portals
