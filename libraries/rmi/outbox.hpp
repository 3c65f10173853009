// The aggregation buffers of one node (paper, 6.3): requests for a destination are written into a buffer, which is sent
// when it is full, when it has as many requests as the aggregation factor, or when the node waits.
//
// 1. Writers are written without the lock, by the node's thread. Functions marked "inside" require it.
// 2. A destination has at most kCredits buffers that it has not executed. Further ones queue here, in their order, and
//    leave when credits come back.
// 3. A buffer has requests of one parity, because a fence sends all buffers when its node arrives.
// 4. A request is counted as sent when its buffer is closed, whether it leaves at once or queues.
//
// The way of a buffer: open() gives its writer room; the program writes; close() numbers it and counts its requests;
// flush() sends it or queues it for a credit; the receiver's credit comes back by add_credits().
//
// Memory: a buffer belongs to its lane while it is being filled, then to the queue, then to the wire, and returns to
// the pool, unless the wire had to keep it. A long request's memory belongs to Bodies until it has been fetched.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "libraries/rmi/bodies.hpp"
#include "libraries/rmi/library.hpp"
#include "libraries/rmi/wire.hpp"
#include "margay/rmi/core.hpp"

namespace margay::rmi::core {

// A closed buffer: its memory, and the facts of its header.
struct Filled {
  Memory memory;
  std::size_t bytes = 0;     // used
  std::size_t capacity = 0;  // kBufferMost, unless it has one long request
  std::uint32_t count = 0;   // requests
  std::uint32_t number = 0;  // of the destination's buffers, from 0
  bool parity = false;
  Flush why = Flush::full;  // of a buffer that is sent
};

// The sending side of requests of one node. Memory of buffers comes from a pool that only grows: a buffer that was sent
// is usually free again at once, so a destination in use needs the one that is being filled and those that queue. No
// function throws but for lack of memory, and none waits.
class Outbox {
 public:
  // `buffer_bytes`: at most kBufferMost. `factor` 0: the usual ones, by whether the destination shares memory. All
  // references outlive it. Opens no buffer.
  Outbox(host::Rank& rank, Wire& wire, Bodies& bodies, std::size_t buffer_bytes, std::uint32_t factor);

  // The writers by destination, for core::Here; and the destination of a writer. Their addresses do not change.
  [[nodiscard]] Writer* writers() { return writers_.data(); }
  [[nodiscard]] std::uint32_t number_of(const Writer& writer) const {
    return static_cast<std::uint32_t>(&writer - writers_.data());
  }
  // The destination's present room, which may be empty. It changes with each request that the program writes.
  [[nodiscard]] std::span<std::byte> room(std::uint32_t node) const {
    return {writers_[node].next_, writers_[node].end_};
  }
  // Requests in the buffer that is being filled. Computed from the writer's countdown, so that a request costs one
  // counter.
  [[nodiscard]] std::uint32_t filling(std::uint32_t node) const {
    return lanes_[node].counted + lanes_[node].began - writers_[node].left_;
  }
  // Gives the destination an empty buffer with room for `least` bytes, which is one of its own if that is more than a
  // buffer has. Requires: filling() == 0.
  void open(std::uint32_t node, std::size_t least);
  // Continues to fill a buffer that has reached the factor: the own node's, inside a method, where its requests must
  // wait. From then on each request reaches the factor.
  void continue_filling(std::uint32_t node);
  // Takes the buffer that is being filled, with the next number and the present parity. Counts its requests as sent.
  // Requires: filling() != 0.
  [[nodiscard]] Filled close(std::uint32_t node);
  // Gives a buffer's memory back to the pool; that of a long request is freed by its owner.
  void recycle(Filled& filled);

  // Closes the destination's buffer and sends it if there is a credit and no buffer queues, otherwise queues it. Never
  // waits. Inside. Requires: filling() != 0.
  void flush(std::uint32_t node, Flush why);
  // Calls `flush(node)`, which closes the buffer, for each destination with requests that are not sent.
  template <typename Function>
  void for_each_filling(Function&& flush) {
    if (dirty_.empty()) return;
    dirty_.swap(swept_);
    dirty_.clear();
    for (const std::uint32_t node : swept_) lanes_[node].listed = false;
    for (const std::uint32_t node : swept_) {
      if (filling(node) != 0) flush(node);
      // An open buffer without requests takes one without open().
      if (lanes_[node].open != nullptr && !std::exchange(lanes_[node].listed, true)) dirty_.push_back(node);
    }
  }
  // Notes that a buffer of this node has been executed, and that its credit is owed. The credit leaves with the next
  // message to it, or by send_owed().
  void owe(std::uint32_t node) {
    ++lanes_[node].owed;
    if (!std::exchange(lanes_[node].is_owing, true)) owing_.push_back(node);
  }
  // Credits owed to a node; the second function takes them, for the header of a message to it.
  [[nodiscard]] std::uint32_t owed(std::uint32_t node) const { return lanes_[node].owed; }
  [[nodiscard]] std::uint32_t take_owed(std::uint32_t node) { return std::exchange(lanes_[node].owed, 0); }
  // Sends the owed credits in a message of their own, to one node.
  void send_owed(std::uint32_t node);
  // To all nodes. Before a wait, so that no node waits for a credit of one that waits.
  void send_owed() {
    for (const std::uint32_t node : owing_) {
      lanes_[node].is_owing = false;
      if (lanes_[node].owed != 0) send_owed(node);
    }
    owing_.clear();
  }
  // Credits came back: sends what queues. Returns false for more credits than were spent, which change nothing: the
  // message is damaged. Inside.
  [[nodiscard]] bool add_credits(std::uint32_t node, std::uint32_t credits);
  // Buffers of the destination that queue, and the bytes of memory of all that queue.
  [[nodiscard]] std::size_t queued(std::uint32_t node) const { return lanes_[node].queue.size(); }
  [[nodiscard]] std::size_t queued_bytes() const { return queued_bytes_; }
  // Whether every buffer was executed and its credit is back. Does not count buffers that are being filled.
  [[nodiscard]] bool idle() const;

  // Sets the aggregation factor from the destination's next buffer on; the open one keeps its countdown.
  void set_factor(std::uint32_t node, std::uint32_t factor) { lanes_[node].factor = factor; }
  // The parity of requests from now on. Requires: no buffer is being filled.
  void set_parity(bool parity) { parity_ = parity; }
  [[nodiscard]] bool parity() const { return parity_; }
  // Requests in closed buffers since start(), by parity: one of the two sums of fences.
  [[nodiscard]] std::uint64_t sent(bool parity) const { return sent_[parity ? 1 : 0]; }

 private:
  // A destination, beside its writer, which is apart because programs write to it for each request.
  struct Lane {
    std::uint32_t factor = 1;
    std::uint32_t credits = kCredits;
    std::uint32_t next_number = 0;
    std::uint32_t began = 0;    // Writer::left_ of the open buffer when it was empty
    std::uint32_t counted = 0;  // requests before continue_filling()
    std::size_t capacity = 0;
    Memory open;            // the buffer that is being filled, or nullptr
    bool listed = false;    // in dirty_
    bool is_owing = false;  // in owing_
    std::uint32_t owed = 0;
    std::deque<Filled> queue;
  };
  // Spends a credit and sends the buffer, with all credits that are owed to its receiver; a long one's notice.
  // Requires: a credit.
  void send(std::uint32_t node, Filled filled);
  // Records, if there is a trace, that the latest message to the node is this buffer. Right after the send, because the
  // host connects the event to the latest message.
  void record_sent(std::uint32_t node, const Filled& filled);

  host::Rank& rank_;
  const Counters counters_;
  Wire& wire_;
  Bodies& bodies_;
  const std::size_t buffer_bytes_;
  // Of one size since construction, so that writers keep their addresses; by destination, as the lanes.
  std::vector<Writer> writers_;
  std::vector<Lane> lanes_;
  // The destinations with an open buffer, and the last list of them.
  std::vector<std::uint32_t> dirty_, swept_;
  // Nodes to which credits are owed, or were.
  std::vector<std::uint32_t> owing_;
  // The pool: buffers of kBufferMost bytes.
  std::vector<Memory> free_;
  std::size_t queued_bytes_ = 0;
  std::array<std::uint64_t, 2> sent_{};
  bool parity_ = false;
};

}  // namespace margay::rmi::core
