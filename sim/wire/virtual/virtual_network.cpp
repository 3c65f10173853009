#include <algorithm>

#include "portals/base/assert.hpp"
#include "sim/wire/virtual/virtual_wire.hpp"

namespace margay::sim {

VirtualNetwork::VirtualNetwork(std::uint32_t ranks, std::uint64_t seed, const VirtualOptions& options,
                               portals::GroupId group, VirtualTiming* timing)
    : options_(options), group_(group), timing_(timing), state_(seed), wires_(ranks), gone_(ranks) {
  MARGAY_ASSERT(options.delay_min_ns <= options.delay_max_ns && options.segment_bytes != 0);
  // A smaller window could never pass a segment.
  MARGAY_ASSERT(options.window_bytes >= options.segment_bytes && options.window_messages != 0);
}

VirtualNetwork::~VirtualNetwork() = default;

Wire& VirtualNetwork::attach(std::uint32_t rank, TransmissionList& finished) {
  MARGAY_ASSERT(rank < wires_.size() && wires_[rank] == nullptr);
  wires_[rank] = std::make_unique<VirtualWire>(*this, rank, finished);
  return *wires_[rank];
}

Wire& VirtualNetwork::wire(std::uint32_t rank) {
  MARGAY_ASSERT(rank < wires_.size() && wires_[rank] != nullptr);
  return *wires_[rank];
}

VirtualNetwork::Pair& VirtualNetwork::pair(std::uint32_t from, std::uint32_t to) {
  MARGAY_ASSERT(to < wires_.size());
  const auto [found, fresh] = pairs_.try_emplace(std::uint64_t{from} << 32 | to);
  Pair& pair = found->second;
  if (fresh) {
    pair.from = from;
    pair.to = to;
    // A pair may be used for the first time after one of its ranks was lost.
    pair.lost = !gone_[from].empty() || !gone_[to].empty();
  }
  return pair;
}

// Splitmix64: one multiplication chain, the same on every machine.
std::uint64_t VirtualNetwork::random() {
  std::uint64_t z = (state_ += 0x9e37'79b9'7f4a'7c15);
  z = (z ^ (z >> 30)) * 0xbf58'476d'1ce4'e5b9;
  z = (z ^ (z >> 27)) * 0x94d0'49bb'1331'11eb;
  return z ^ (z >> 31);
}

bool VirtualNetwork::chance(double probability) {
  // 53 bits, as many as a double holds exactly, so that the result is the same on every machine.
  return static_cast<double>(random() >> 11) * 0x1.0p-53 < probability;
}

void VirtualNetwork::launch(Pair& pair, Frame frame) {
  const bool begins = frame.type == Frame::Type::head;
  std::uint64_t due = 0;
  if (timing_ != nullptr) {
    due = timing_->arrival_ns(pair.from, pair.to, frame.bytes.size(), begins);
    if (due == VirtualTiming::kLost) {
      counts_.sent += begins ? 1 : 0;
      counts_.lost += begins ? 1 : 0;
      return cut(pair);
    }
  } else {
    const std::uint64_t span = options_.delay_max_ns - options_.delay_min_ns + 1;
    due = now_ns_ + options_.delay_min_ns + random() % span;
    if (chance(options_.stall_probability)) due += options_.stall_ns;
  }
  // Keeps the order within the pair.
  due = std::max(due, pair.last_due_ns + 1);
  pair.last_due_ns = due;
  pair.used_bytes += frame.bytes.size();
  if (begins) {
    ++pair.used_messages;
    ++counts_.sent;
  }
  frame.due_ns = due;
  pair.flying.push_back(std::move(frame));
  if (timing_ != nullptr) {
    make_arrive(pair);
    timing_->sent(pair.to, due);
  } else {
    due_.push({due, ++launched_, &pair});
  }
}

void VirtualNetwork::make_arrive(Pair& pair) {
  const std::uint64_t due_ns = pair.flying.front().due_ns;
  pair.arrived.splice(pair.arrived.end(), pair.flying, pair.flying.begin());
  // Makes the receiver poll this sender from now on.
  VirtualWire* const receiver = wires_[pair.to].get();
  if (receiver == nullptr) return;
  if (pair.inbound == Pair::kNoIndex) pair.inbound = static_cast<std::uint32_t>(receiver->inbound_index(pair.from));
  if (timing_ != nullptr) receiver->expect(pair.inbound, due_ns);
}

bool VirtualNetwork::advance() {
  while (!due_.empty()) {
    const Due next = due_.top();
    due_.pop();
    Pair& pair = *next.pair;
    // The frame was dropped when a process was lost. Its entry stayed, because due_ cannot be searched.
    if (pair.flying.empty()) continue;
    now_ns_ = std::max(now_ns_, next.at_ns);
    make_arrive(pair);
    return true;
  }
  return false;
}

void VirtualNetwork::drop(Pair& pair) {
  pair.lost = true;
  const auto is_head = [](const Frame& frame) { return frame.type == Frame::Type::head; };
  // Only heads count as messages.
  counts_.lost += static_cast<std::uint64_t>(std::ranges::count_if(pair.flying, is_head));
  counts_.lost += static_cast<std::uint64_t>(std::ranges::count_if(pair.arrived, is_head));
  pair.flying.clear();
  pair.arrived.clear();
}

void VirtualNetwork::lose(std::uint32_t rank, std::string_view reason) {
  MARGAY_ASSERT(rank < gone_.size() && !reason.empty());
  if (!gone_[rank].empty()) return;
  gone_[rank] = reason;
  // Messages in the lost rank's queue fail, too.
  for (auto& [key, pair] : pairs_) {
    if (timing_ != nullptr || pair.from != rank) continue;
    drop(pair);
    if (wires_[rank] != nullptr) wires_[rank]->fail(pair);
  }
  for (std::uint32_t other = 0; other < wires_.size(); ++other) {
    if (other == rank || wires_[other] == nullptr) continue;
    if (timing_ != nullptr)
      wires_[other]->lost_peers_.push_back(rank);
    else
      wires_[other]->lose_peer(rank);
  }
}

void VirtualNetwork::cut(Pair& pair) {
  // Until the polls, so that neither rank sends more.
  pair.lost = true;
  this->pair(pair.to, pair.from).lost = true;
  wires_[pair.from]->lost_peers_.push_back(pair.to);
  wires_[pair.to]->lost_peers_.push_back(pair.from);
}

void VirtualNetwork::drop_lost() {
  for (auto& [key, pair] : pairs_) {
    if (pair.lost || !gone_[pair.from].empty() || !gone_[pair.to].empty()) drop(pair);
  }
}

}  // namespace margay::sim
