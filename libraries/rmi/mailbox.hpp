// A portal whose messages queue until the node takes them. Short messages lie in rows of an independent block, which
// costs a fraction of a heap's allocation; long ones, and short ones while all rows are in use, lie in a heap behind
// it.
//
// Ownership: the memory is the mailbox's. A message is the taker's to read from take() to release(), which may come in
// any order: an aggregation buffer stays until its last request has been executed.
//
// Order: messages of one source are in order among those in rows, and among those in the heap, but not across both.
// Receivers that need an order number their messages (inbox.hpp). Used inside only.
//
// Bound: a sender has at most kCredits buffers here, a node at most kCalls replies, and so on (node.cpp has the sums).
// Code that sends to such a portal without a credit breaks the bound, and then holds back other traffic.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "libraries/rmi/wire.hpp"
#include "margay/host.hpp"

namespace margay::rmi::core {

// One of the four portals on which messages queue: requests, replies, fences, credits.
class Mailbox {
 public:
  // A message that is here. It stays in its place until release(). `row` counts only if `in_heap` is nullptr.
  struct Message {
    const portals::Header* header = nullptr;
    std::span<const std::byte> body;
    std::size_t row = 0;
    portals::ArrivedMessage* in_heap = nullptr;  // nullptr: in the row
  };

  // Requires: inside. `row_bytes`: the longest message that is short. `heap_bytes`: the most that can be in the heap at
  // once, by the bounds of library.hpp. First fit may leave holes between messages of different sizes, so the heap has
  // twice as much; pages that are never used cost nothing. `rank` outlives the mailbox.
  Mailbox(host::Rank& rank, portals::PortalIndex portal, std::size_t row_bytes, std::size_t heap_bytes)
      : rank_(rank),
        portal_(portal),
        row_bytes_((row_bytes + 63) / 64 * 64),
        heap_bytes_((2 * heap_bytes + 65535) / 4096 * 4096),
        rows_(std::clamp<std::size_t>(std::size_t{2} * rank.size(), kRowsLeast, kRowsMost)),
        row_memory_(allocate(rows_.size() * row_bytes_)),
        heap_memory_(allocate(heap_bytes_)) {
    for (std::size_t row = 0; row < rows_.size(); ++row)
      rows_[row].memory = portals::Region(row_memory_.get() + row * row_bytes_, row_bytes_);
    // A recorded event about a message needs the message's identity, which only a heap has (host::Event::of_arrived).
    if (!rank.recording()) list_.append(row_entry_);
    list_.append(heap_entry_);
  }
  ~Mailbox() {
    if (attached_) rank_.detach(portal_);
  }
  Mailbox(const Mailbox&) = delete;
  Mailbox& operator=(const Mailbox&) = delete;

  // Attaches it to its portal; the destructor detaches it. `observer`: notified when a message is here, and outlives
  // the mailbox. Room does not run out, because each node's messages are bounded. If damage causes more, the portal is
  // held, and senders wait instead of losing messages.
  [[nodiscard]] portals::Status attach(host::Observer& observer) {
    portals::Status status = rank_.attach(portal_, list_);
    if (!status.ok()) return status;
    attached_ = true;
    rank_.observe(row_block_, &observer);
    rank_.observe(heap_block_, &observer);
    rank_.hold_when_no_room(portal_);
    return status;
  }

  // Takes a message if all of it is there. Returns whether there was one. The row comes first, because most messages
  // are short.
  [[nodiscard]] bool take(Message& message) {
    // Each round of a wait comes here, mostly without a message. The blocks count complete messages.
    if (row_block_.messages() != rows_taken_) return take_row(message);
    return heap_block_.messages() != heap_taken_ && take_from_heap(message);
  }
  // Whether there may be a message to take.
  [[nodiscard]] bool any() const {
    return row_block_.messages() != rows_taken_ || heap_block_.messages() != heap_taken_;
  }
  // Frees the message's place. Once for each taken message.
  void release(const Message& message) {
    if (message.in_heap != nullptr)
      heap_block_.release(*message.in_heap);
    else
      row_block_.release(message.row);
  }

 private:
  // Rows are used in turn: two for each node, so that the buffers of all credits fit. Bounded above, so that they stay
  // in the processor's cache.
  static constexpr std::size_t kRowsLeast = 8, kRowsMost = 64;

  // Takes the row that is next in turn. Requires: a row is filled.
  bool take_row(Message& message) {
    using State = portals::IndependentBuffer::State;
    // The rows of messages whose sender was lost before they were complete are available again.
    while (rows_[next_row_].state == State::available) step();
    const portals::IndependentBuffer& row = rows_[next_row_];
    // The row before the filled one is still arriving.
    if (row.state != State::filled) return take_from_heap(message);
    message = {&row.header, {row.memory.single().base, static_cast<std::size_t>(row.bytes)}, next_row_, nullptr};
    ++rows_taken_;
    step();
    return true;
  }
  void step() { next_row_ = next_row_ + 1 == rows_.size() ? 0 : next_row_ + 1; }
  // Takes the heap's first message if it is complete. A later complete one waits behind it, which keeps the order.
  bool take_from_heap(Message& message) {
    portals::ArrivedMessage* const first = heap_block_.first();
    if (first == nullptr || !first->complete) return false;
    ++heap_taken_;
    heap_block_.unlink(*first);
    message = {&first->header, {first->body.base, first->body.bytes}, 0, first};
    return true;
  }

  host::Rank& rank_;
  const portals::PortalIndex portal_;
  const std::size_t row_bytes_, heap_bytes_;
  // Of one size since construction: the blocks refer to the rows and to the memory.
  std::vector<portals::IndependentBuffer> rows_;
  Memory row_memory_, heap_memory_;
  portals::IndependentBlock row_block_{rows_, portals::Progression::circular};
  portals::DynamicBlock heap_block_{portals::Buffer{heap_memory_.get(), heap_bytes_}};
  portals::MatchEntry row_entry_{{.ignore_bits = ~portals::MatchBits{0}}, row_block_, {}};
  portals::MatchEntry heap_entry_{{.ignore_bits = ~portals::MatchBits{0}}, heap_block_, {}};
  // Declared after its entries, which leave it when it ends.
  portals::MatchList list_;
  bool attached_ = false;
  // The row that is taken next.
  std::size_t next_row_ = 0;
  std::uint64_t rows_taken_ = 0, heap_taken_ = 0;  // messages
};

}  // namespace margay::rmi::core
