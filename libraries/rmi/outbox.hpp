// The buffers of requests that leave one node (paper, 6.3). A buffer is sent when it is full, when it has as many
// requests as the aggregation factor, or when the thread that fills it waits.
//
// 1. Each thread of the node fills buffers of its own (Buffers), without the lock. Functions marked "inside" require
//    it; all others too, if the node has two threads.
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
#include <utility>
#include <vector>

#include "libraries/rmi/bodies.hpp"
#include "libraries/rmi/buffers.hpp"
#include "libraries/rmi/library.hpp"
#include "libraries/rmi/settings.hpp"
#include "libraries/rmi/wire.hpp"

namespace margay::rmi::core {

// The sending side of requests of one node, for both of its threads. Memory of buffers comes from a pool that only
// grows: a buffer that was sent is usually free again at once, so a destination in use needs the one that is being
// filled and those that queue. No function throws but for lack of memory, and none waits.
class Outbox {
 public:
  // `own_factor`: of requests to the own node; of others, that of the settings, or the usual one by whether the
  // destination shares memory. All references outlive it. Opens no buffer.
  Outbox(host::Rank& rank, Wire& wire, Bodies& bodies, const Settings& settings, std::uint32_t own_factor);

  // Gives the destination an empty buffer with room for `least` bytes, which is one of its own if that is more than a
  // buffer has. Requires: Buffers::filling() == 0.
  void open(Buffers& buffers, std::uint32_t node, std::size_t least);
  // Takes the buffer that is being filled, with the next number and the present parity. Counts its requests as sent.
  // Requires: Buffers::filling() != 0.
  [[nodiscard]] Filled close(Buffers& buffers, std::uint32_t node);
  // Gives a buffer's memory back to the pool; that of a long request is freed by its owner.
  void recycle(Filled& filled);

  // Closes the destination's buffer and sends it if there is a credit and no buffer queues, otherwise queues it. Never
  // waits. Inside. Requires: Buffers::filling() != 0.
  void flush(Buffers& buffers, std::uint32_t node, Flush why);
  // Notes that a buffer of this node has been executed, and that its credit is owed. The credit leaves with the next
  // buffer or reply to that node, or by send_owed(). Inside.
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
  // The parity of requests from now on. Requires: no buffer is being filled, except by a method in execution.
  void set_parity(bool parity) { parity_ = parity; }
  [[nodiscard]] bool parity() const { return parity_; }
  // Requests in closed buffers since start(), by parity: one of the two sums of fences.
  [[nodiscard]] std::uint64_t sent(bool parity) const { return sent_[parity ? 1 : 0]; }
  // To one node, of both parities.
  [[nodiscard]] std::uint64_t sent_to(std::uint32_t node) const { return lanes_[node].sent; }

 private:
  // A destination; what the filling of its buffers needs is in Buffers, by thread.
  struct Lane {
    std::uint32_t factor = 1;
    std::uint32_t credits = kCredits;
    std::uint32_t next_number = 0;
    std::uint32_t owed = 0;
    bool is_owing = false;  // in owing_
    std::uint64_t sent = 0;
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
  // Whether a buffer that a node has not executed is an answer that the node owes, for which its coprocessor is woken.
  const bool wakes_;
  std::vector<Lane> lanes_;
  // Nodes to which credits are owed, or were.
  std::vector<std::uint32_t> owing_;
  // The pool: buffers of kBufferMost bytes.
  std::vector<Memory> free_;
  std::size_t queued_bytes_ = 0;
  std::array<std::uint64_t, 2> sent_{};
  bool parity_ = false;
};

}  // namespace margay::rmi::core
