// The queue of arrived messages in order of arrival, and the index that finds the earliest match in it. Internal to
// portals.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

#include "portals/base/key_table.hpp"
#include "portals/memory/arrived_message.hpp"

namespace margay::portals {

// An index over arrived messages: it finds the earliest one that meets some criteria without visiting the others. One
// hash lookup per search; each arriving and leaving message costs at most one hash update per indexed shape.
//
// Invariants:
//   1. While a shape is indexed, each queued message has a slot: a small number, which is reused after the message has
//      left.
//   2. Each shape of criteria for which programs searched lately has a set of queues, one per key. Under each shape, a
//      message is on the queue of its key. Queues are in order of arrival and doubly linked, through arrays by slot, so
//      a message leaves them in constant time.
//   3. Memory is proportional to the queue's longest length since clear(); the factor is the number of shapes, at most
//      kShapes.

struct ArrivedNode;

class ArrivalIndex {
 public:
  using Slot = std::uint32_t;
  static constexpr Slot kNoSlot = std::numeric_limits<Slot>::max();
  // The most shapes that are indexed. Programs use few (MPI: a source or any, a tag or any). Beyond that, a new shape
  // replaces the least recently used one.
  static constexpr std::size_t kShapes = 16;

  // Whether no shape is indexed, in which case arriving messages cost nothing here.
  [[nodiscard]] bool empty() const { return shapes_.empty(); }
  // The number of slots, used or free. Memory is proportional to it.
  [[nodiscard]] std::size_t slots() const { return slots_.size(); }
  // Adds the latest arrival. No effect while empty().
  void append(ArrivedNode& node);
  // Requires: !empty(), and the message is queued. Constant time for each indexed shape.
  void remove(ArrivedNode& node);
  // The earliest message that meets `criteria`; nullptr when none does. `first` is the head of the arrival queue, from
  // which the index of a new shape is built, once, in linear time.
  [[nodiscard]] ArrivedNode* find(const Criteria& criteria, ArrivedNode* first);
  // Forgets all shapes and slots, and frees memory.
  void clear();

 private:
  // A message's links on one shape's queue. They are in arrays and not in the message, because the number of shapes
  // varies.
  struct Neighbours {
    Slot next = kNoSlot;
    Slot previous = kNoSlot;
  };
  // The queues of one shape, by key.
  struct Shape {
    MatchShape shape;
    // The value of `uses_` at the last search.
    std::uint64_t last_use = 0;
    KeyTable<Slot, kNoSlot> queues;
    std::vector<Neighbours> links;  // by slot
  };

  // Gives a message a slot.
  void obtain_slot(ArrivedNode& node);
  void append(Shape& shape, const ArrivedNode& node);
  // Unlinks a message from its queue under one shape.
  static void remove(Shape& shape, const ArrivedNode& node);
  // The queues of a shape; a new shape's queues are built from the arrival queue, which begins at `first`.
  [[nodiscard]] Shape& obtain(const MatchShape& wanted, ArrivedNode* first);

  // By slot; nullptr: free.
  std::vector<ArrivedNode*> slots_;
  std::vector<Slot> free_slots_;
  std::vector<Shape> shapes_;
  // Searches so far.
  std::uint64_t uses_ = 0;
};

class ArrivalQueue;

// The node of an arrived message, at the beginning of its block in the heap. The body follows at the next multiple of
// 64 bytes.
struct ArrivedNode {
  // First, so that a message's address is its node's.
  ArrivedMessage message;
  // Neighbours in arrival order, while `queued`.
  ArrivedNode* next = nullptr;
  ArrivedNode* previous = nullptr;
  // Size that was requested from the heap, node included.
  std::uint64_t block_bytes = 0;
  ArrivalIndex::Slot slot = ArrivalIndex::kNoSlot;
  bool queued = false;
  // The queue of the block that owns the message; nullptr once released, which detects a second release.
  const ArrivalQueue* home = nullptr;

  [[nodiscard]] static ArrivedNode& of(ArrivedMessage& message) { return reinterpret_cast<ArrivedNode&>(message); }
  [[nodiscard]] static const ArrivedNode& of(const ArrivedMessage& message) {
    return reinterpret_cast<const ArrivedNode&>(message);
  }
};
// of() uses the message's address as the node's. No destructor runs for a released node: its memory is reused.
static_assert(offsetof(ArrivedNode, message) == 0 && std::is_trivially_destructible_v<ArrivedNode>);

// A doubly linked list of a dynamic block's messages, oldest first, and its index.
class ArrivalQueue {
 public:
  // The number of messages that a search examines one by one. In a longer queue, the search then continues through the
  // index. The index is dropped when the queue falls below half of this number. Programs that receive in arrival order,
  // the common case, never build an index.
  static constexpr std::uint64_t kShort = 16;
  // The number of messages that a search of a long queue examines once there is an index: only the oldest, because it
  // is often the match.
  static constexpr std::uint64_t kExaminedBeforeIndex = 1;

  // Puts a message at the end of the queue and numbers it. Requires: it is on no queue.
  void append(ArrivedNode& node);
  // Takes a message off the queue, in constant time. Requires: it is queued.
  void remove(ArrivedNode& node);
  // The oldest message that meets `criteria`; nullptr when none does.
  [[nodiscard]] ArrivedMessage* find(const Criteria& criteria);
  // The oldest and the latest message; nullptr when the queue is empty.
  [[nodiscard]] ArrivedNode* first() const { return first_; }
  [[nodiscard]] ArrivedNode* last() const { return last_; }
  [[nodiscard]] std::uint64_t size() const { return size_; }
  // Messages ever appended: the number of the latest one.
  [[nodiscard]] std::uint64_t arrivals() const { return arrivals_; }
  [[nodiscard]] const ArrivalIndex& index() const { return index_; }

 private:
  ArrivedNode* first_ = nullptr;
  ArrivedNode* last_ = nullptr;
  std::uint64_t size_ = 0;
  std::uint64_t arrivals_ = 0;
  ArrivalIndex index_;
};

}  // namespace margay::portals
