// The queue of arrived messages in order of arrival, and the index that finds the earliest match. Internal to portals.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

#include "portals/base/key_table.hpp"
#include "portals/memory/arrived_message.hpp"

namespace margay::portals {

// Finds the earliest arrived message that meets some criteria without visiting the others.
//
// Invariants:
//   1. Each queued message has a slot, a small number that another message takes over when the first is gone.
//   2. For each shape of criteria searched for lately, each message is on exactly one queue: that of its key under the
//      shape. The queues are linked through arrays by slot, in order of arrival, so that a message leaves them at once.
//   3. Memory is a constant (the number of shapes, at most kShapes) times the longest the queue was since clear().

struct ArrivedNode;

class ArrivalIndex {
 public:
  using Slot = std::uint32_t;
  static constexpr Slot kNoSlot = std::numeric_limits<Slot>::max();
  // Criteria in use have few shapes (MPI: a source or any, a tag or any). The longest unused gives way to a new one.
  static constexpr std::size_t kShapes = 16;

  // Nothing is kept for messages while no shape is indexed.
  [[nodiscard]] bool empty() const { return shapes_.empty(); }
  // How many slots there are, in use or not: what the memory grows with.
  [[nodiscard]] std::size_t slots() const { return slots_.size(); }
  // `node` is the latest arrival.
  void append(ArrivedNode& node);
  // Requires: !empty().
  void remove(ArrivedNode& node);
  // The earliest message that meets `criteria`; nullptr when none does. `first` is the queue, from which an index
  // for a new shape is built.
  [[nodiscard]] ArrivedNode* find(const Criteria& criteria, ArrivedNode* first);
  void clear();

 private:
  struct Neighbours {
    Slot next = kNoSlot;
    Slot previous = kNoSlot;
  };
  struct Shape {
    MatchShape shape;
    std::uint64_t last_use = 0;
    KeyTable<Slot, kNoSlot> queues;
    std::vector<Neighbours> links;  // by slot
  };

  void obtain_slot(ArrivedNode& node);
  void append(Shape& shape, const ArrivedNode& node);
  static void remove(Shape& shape, const ArrivedNode& node);
  [[nodiscard]] Shape& obtain(const MatchShape& wanted, ArrivedNode* first);

  std::vector<ArrivedNode*> slots_;
  std::vector<Slot> free_slots_;
  std::vector<Shape> shapes_;
  std::uint64_t uses_ = 0;
};

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
// of() takes the message's address for the node's; a released node is not destroyed, its memory is given out again.
static_assert(offsetof(ArrivedNode, message) == 0 && std::is_trivially_destructible_v<ArrivedNode>);

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
  [[nodiscard]] ArrivedNode* last() const { return last_; }
  [[nodiscard]] std::uint64_t size() const { return size_; }
  [[nodiscard]] std::uint64_t arrivals() const { return arrivals_; }  // ever appended
  [[nodiscard]] const ArrivalIndex& index() const { return index_; }

 private:
  ArrivedNode* first_ = nullptr;
  ArrivedNode* last_ = nullptr;
  std::uint64_t size_ = 0;
  std::uint64_t arrivals_ = 0;
  ArrivalIndex index_;
};

}  // namespace margay::portals
