#include "libraries/rmi/outbox.hpp"

#include <algorithm>
#include <utility>

namespace margay::rmi::core {

Outbox::Outbox(host::Rank& rank, Wire& wire, Bodies& bodies, const Settings& settings, std::uint32_t own_factor)
    : rank_(rank),
      counters_(counters_of(rank)),
      wire_(wire),
      bodies_(bodies),
      buffer_bytes_(settings.buffer_bytes),
      wakes_(settings.scheduler == Scheduler::interrupt),
      lanes_(rank.size()) {
  for (std::uint32_t node = 0; node < rank.size(); ++node) {
    const std::uint32_t usual = rank.on_node(node) ? kFactor : kFactorOffNode;
    lanes_[node].factor = settings.factor != 0 ? settings.factor : usual;
  }
  lanes_[rank.rank()].factor = own_factor;
}

void Outbox::open(Buffers& buffers, std::uint32_t node, std::size_t least) {
  Buffers::Lane& lane = buffers.lanes_[node];
  Writer& writer = buffers.writers_[node];
  const bool is_long = least > buffer_bytes_;
  // An open buffer without requests is used again, unless one of the two is long.
  if (is_long || lane.open == nullptr || lane.capacity != kBufferMost) {
    if (lane.open != nullptr && lane.capacity == kBufferMost) free_.push_back(std::move(lane.open));
    if (!is_long && !free_.empty()) {
      lane.open = std::move(free_.back());
      free_.pop_back();
    } else {
      lane.open = allocate(is_long ? least : kBufferMost);
    }
    lane.capacity = is_long ? least : kBufferMost;
  }
  writer.next_ = lane.open.get();
  writer.end_ = writer.next_ + (is_long ? least : buffer_bytes_);
  // A long request is alone in its buffer.
  writer.left_ = is_long ? 1 : lanes_[node].factor;
  lane.began = writer.left_;
  lane.counted = 0;
  if (!std::exchange(lane.listed, true)) buffers.dirty_.push_back(node);
}

Filled Outbox::close(Buffers& buffers, std::uint32_t node) {
  Buffers::Lane& lane = buffers.lanes_[node];
  Writer& writer = buffers.writers_[node];
  Filled filled{.memory = std::move(lane.open),
                .bytes = 0,
                .capacity = lane.capacity,
                .count = buffers.filling(node),
                .number = lanes_[node].next_number++,
                .parity = parity_};
  filled.bytes = static_cast<std::size_t>(writer.next_ - filled.memory.get());
  // Counted here and not when it leaves, because a fence must wait for a buffer that queues for a credit.
  sent_[parity_ ? 1 : 0] += filled.count;
  lanes_[node].sent += filled.count;
  // Without room, the next request opens a buffer.
  writer = Writer();
  lane.began = lane.counted = 0;
  return filled;
}

void Outbox::recycle(Filled& filled) {
  if (filled.memory != nullptr && filled.capacity == kBufferMost) free_.push_back(std::move(filled.memory));
}

void Outbox::flush(Buffers& buffers, std::uint32_t node, Flush why) {
  Filled filled = close(buffers, node);
  filled.why = why;
  ++*counters_[kBuffers];
  ++*counters_[kFull + static_cast<std::size_t>(why)];
  Lane& lane = lanes_[node];
  // Not past buffers that queue: their numbers are lower.
  if (lane.credits != 0 && lane.queue.empty()) return send(node, std::move(filled));
  // The memory that it occupies, because the bound is one of memory.
  queued_bytes_ += filled.capacity;
  lane.queue.push_back(std::move(filled));
}

void Outbox::send(std::uint32_t node, Filled filled) {
  --lanes_[node].credits;
  if (wakes_) rank_.expect_answer(node);
  // Not buffer_bytes_: a request that is longer than a small buffer may still fit a message.
  if (filled.bytes > kBufferMost) {
    ++*counters_[kLong];
    const std::size_t bytes = filled.bytes;
    portals::Header notice =
        Wire::header(node, kRequestPortal, buffer_bits(MessageKind::long_request, filled.parity, filled.number));
    notice.offset = bodies_.offer(std::move(filled.memory), bytes);
    set_count(notice, filled.count | take_owed(node) << kCreditShift);
    set_length(notice, bytes);
    wire_.send(notice);
    return record_sent(node, filled);
  }
  portals::Header header =
      Wire::header(node, kRequestPortal, buffer_bits(MessageKind::buffer, filled.parity, filled.number));
  set_count(header, filled.count | take_owed(node) << kCreditShift);
  filled.memory = wire_.send_owned(header, std::move(filled.memory), filled.bytes);
  record_sent(node, filled);
  recycle(filled);
}

void Outbox::send_owed(std::uint32_t node) {
  portals::Header header = Wire::header(node, kCreditPortal, match_bits(MessageKind::credit, 0));
  set_count(header, take_owed(node));
  wire_.send(header);
}

void Outbox::record_sent(std::uint32_t node, const Filled& filled) {
  if (!rank_.recording()) return;
  rank_.record({.number = static_cast<std::uint8_t>(filled.why),
                .peer = node,
                .bytes = filled.bytes,
                .a = filled.count,
                .b = filled.number,
                .of_sent = true});
}

bool Outbox::add_credits(std::uint32_t node, std::uint32_t credits) {
  Lane& lane = lanes_[node];
  // Without this check damage would let the node send more than the receiver's mailbox has room for.
  if (credits > kCredits - lane.credits) return false;
  lane.credits += credits;
  for (std::uint32_t i = 0; wakes_ && i < credits; ++i) rank_.count_answer(node);
  while (lane.credits != 0 && !lane.queue.empty()) {
    Filled filled = std::move(lane.queue.front());
    lane.queue.pop_front();
    queued_bytes_ -= filled.capacity;
    send(node, std::move(filled));
  }
  return true;
}

bool Outbox::idle() const {
  return queued_bytes_ == 0 && std::ranges::all_of(lanes_, [](const Lane& lane) { return lane.credits == kCredits; });
}

}  // namespace margay::rmi::core
