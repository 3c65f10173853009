#include "sim/wire/virtual/virtual_wire.hpp"

#include <algorithm>

#include "portals/base/assert.hpp"

namespace margay::sim {

using portals::Header;
using portals::ProcessId;
using portals::Region;
using portals::RegionCursor;

VirtualWire::VirtualWire(VirtualNetwork& network, std::uint32_t rank, TransmissionList& finished)
    : Wire(network.options_.wire), network_(network), rank_(rank), finished_(finished) {}

// The window limits the frames in flight of a pair, as a ring or a socket's buffer would.
bool VirtualWire::room(const Pair& pair, std::uint64_t bytes) const {
  return pair.used_messages < network_.options_.window_messages &&
         pair.used_bytes + bytes <= network_.options_.window_bytes;
}

bool VirtualWire::try_send(std::uint32_t peer, const Header& header, const Region& body) {
  MARGAY_ASSERT(body.bytes() == header.length && peer != rank_);
  Pair& pair = network_.pair(rank_, peer);
  if (pair.lost || !pair.queue.empty() || header.length > network_.options_.segment_bytes) return false;
  // Fails at random although there is room, so that tests also reach the path by send().
  if (!room(pair, header.length) || network_.chance(network_.options_.full_probability)) return false;
  Frame frame;
  frame.header = header;
  frame.bytes.resize(static_cast<std::size_t>(header.length));
  RegionCursor(body).read(frame.bytes);
  network_.launch(pair, std::move(frame));
  return true;
}

void VirtualWire::send(std::uint32_t peer, Transmission& transmission) {
  MARGAY_ASSERT(transmission.body.bytes() == transmission.header.length && peer != rank_);
  Pair& pair = network_.pair(rank_, peer);
  if (pair.lost) {
    transmission.state = Transmission::State::failed;
    finished_.push(transmission);
    return;
  }
  transmission.state = Transmission::State::queued;
  transmission.cursor = RegionCursor(transmission.body);
  transmission.method = TraceBody::virtual_;
  const bool was_idle = pair.queue.empty();
  pair.queue.push(transmission);
  if (!was_idle) return;
  // Sends at once as much as the window permits; push() continues.
  while (!pair.queue.empty() && carry(pair)) {
  }
  if (!pair.queue.empty()) busy_.push_back(&pair);
}

void VirtualWire::stop(std::uint32_t, Transmission& transmission) {
  if (transmission.state == Transmission::State::queued) transmission.stop_asked = true;
}

bool VirtualWire::replace(std::uint32_t peer, Transmission& transmission, Transmission& instead) {
  Pair& pair = network_.pair(rank_, peer);
  // Too late, because the head of the message has left.
  if (pair.begun && pair.queue.front() == &transmission) return false;
  return pair.queue.replace(transmission, instead);
}

bool VirtualWire::push() {
  bool moved = false;
  // Sends one frame of each pair in turn, so that long bodies of several pairs interleave.
  for (bool round = true; round;) {
    round = false;
    for (Pair* pair : busy_) {
      if (!pair->queue.empty()) round |= carry(*pair);
    }
    moved |= round;
  }
  std::erase_if(busy_, [](const Pair* pair) { return pair->queue.empty(); });
  if (held_ == 0) return moved;
  held_ = 0;
  for (Inbound& inbound : inbound_) {
    if (inbound.state == Inbound::State::held) inbound.state = Inbound::State::between;
  }
  for (const Expected& again : held_expected_) expected_.push(again);
  held_expected_.clear();
  return moved;
}

// Sends the next frame of the first queued transmission. false: the window is full.
bool VirtualWire::carry(Pair& pair) {
  // A frame before this one has cut the pair, and the next poll fails its messages.
  if (pair.lost) return false;
  Transmission& first = *pair.queue.front();
  const std::uint64_t segment = network_.options_.segment_bytes;
  Frame frame;
  if (!pair.begun) {
    frame.whole = first.header.length <= segment;
    // A long message's head carries no body.
    const std::uint64_t inside = frame.whole ? first.header.length : 0;
    if (!room(pair, inside)) return false;
    frame.header = first.header;
    frame.bytes.resize(static_cast<std::size_t>(inside));
    pair.begun = true;
  } else if (first.stop_asked) {
    frame.type = Frame::Type::cut;
  } else {
    const std::uint64_t part = std::min(segment, first.cursor.left());
    // A segment occupies bytes of the window only, because the message was counted with its head.
    if (pair.used_bytes + part > network_.options_.window_bytes) return false;
    frame.type = Frame::Type::segment;
    frame.bytes.resize(static_cast<std::size_t>(part));
  }
  first.cursor.read(frame.bytes);
  // The type is read before the frame is moved away.
  const bool stopped = frame.type == Frame::Type::cut;
  network_.launch(pair, std::move(frame));
  if (stopped) {
    finish(pair, Transmission::State::stopped);
  } else if (first.cursor.left() == 0) {
    finish(pair, Transmission::State::sent);
  }
  return true;
}

void VirtualWire::finish(Pair& pair, Transmission::State state) {
  Transmission* done = pair.queue.pop();
  done->state = state;
  done->copied_bytes = done->header.length - done->cursor.left();
  pair.begun = false;
  finished_.push(*done);
}

// The state is made at the first frame from that rank, or at its loss.
std::size_t VirtualWire::inbound_index(std::uint32_t rank) {
  const auto [found, fresh] = index_of_sender_.try_emplace(rank, inbound_.size());
  if (fresh) {
    inbound_.emplace_back();
    inbound_.back().rank = rank;
    inbound_.back().pair = &network_.pair(rank, rank_);
  }
  return found->second;
}

bool VirtualWire::poll(Arrival& arrival) {
  if (network_.timing_ != nullptr) {
    visible_ns_ = network_.timing_->begin_poll(rank_);
    while (!lost_peers_.empty()) {
      const std::uint32_t peer = lost_peers_.back();
      lost_peers_.pop_back();
      lose_peer(peer);
    }
    return poll_by_time(arrival);
  }
  const std::size_t count = inbound_.size();
  for (std::size_t looked = 0; looked < count; ++looked) {
    // Senders are polled in turn, so that no sender starves.
    turn_ = turn_ + 1 < count ? turn_ + 1 : 0;
    if (!look(inbound_[turn_], arrival)) continue;
    answering_ = turn_;
    return true;
  }
  return false;
}

// Segments of a body may make no event, and then the search continues.
bool VirtualWire::poll_by_time(Arrival& arrival) {
  while (!expected_.empty() && expected_.top().at_ns <= visible_ns_) {
    const Expected next = expected_.top();
    Inbound& inbound = inbound_[next.inbound];
    const auto& arrived = inbound.pair->arrived;
    if (inbound.state == Inbound::State::held) {
      held_expected_.push_back(next);
      expected_.pop();
    } else if (inbound.state != Inbound::State::losing && (arrived.empty() || arrived.front().due_ns != next.at_ns)) {
      expected_.pop();  // its frame was taken
    } else {
      answering_ = next.inbound;
      if (look(inbound, arrival)) return true;
    }
  }
  return false;
}

bool VirtualWire::has_frame(const Inbound& inbound) const {
  return !inbound.pair->arrived.empty() && inbound.pair->arrived.front().due_ns <= visible_ns_;
}

bool VirtualWire::look(Inbound& inbound, Arrival& arrival) {
  switch (inbound.state) {
    case Inbound::State::between:
      return has_frame(inbound) && offer(inbound, arrival);
    case Inbound::State::receiving:
    case Inbound::State::passing:
      return move_body(inbound, arrival);
    case Inbound::State::losing:
      return report_loss(inbound, arrival);
    case Inbound::State::offered:
      MARGAY_ASSERT(false && "an arrival waits for its answer");
      return false;
    case Inbound::State::held:
    case Inbound::State::lost:
      return false;
  }
  return false;
}

bool VirtualWire::offer(Inbound& inbound, Arrival& arrival) {
  Frame& frame = inbound.pair->arrived.front();
  MARGAY_ASSERT(frame.type == Frame::Type::head);
  arrival.kind = frame.whole ? Arrival::Kind::whole : Arrival::Kind::started;
  arrival.peer = inbound.rank;
  arrival.sequence = inbound.sequence + 1;
  arrival.header = frame.header;
  arrival.header.source = ProcessId{network_.group_, inbound.rank};
  arrival.header.destination = ProcessId{network_.group_, rank_};
  // The body is not copied: the frame stays in the queue until it is answered.
  arrival.body = Region(frame.bytes.data(), frame.bytes.size());
  arrival.cookie = nullptr;
  inbound.state = Inbound::State::offered;
  return true;
}

// Removing the frame frees its part of the window.
void VirtualWire::take(Inbound& inbound) {
  Frame& frame = inbound.pair->arrived.front();
  inbound.pair->used_bytes -= frame.bytes.size();
  const bool begins = frame.type == Frame::Type::head;
  if (begins) {
    --inbound.pair->used_messages;
    ++network_.counts_.delivered;
    ++inbound.sequence;
  }
  inbound.pair->arrived.pop_front();
  if (network_.timing_ != nullptr) network_.timing_->taken(rank_, inbound.rank, begins);
}

bool VirtualWire::move_body(Inbound& inbound, Arrival& arrival) {
  while (has_frame(inbound)) {
    Frame& frame = inbound.pair->arrived.front();
    if (frame.type == Frame::Type::cut) {
      take(inbound);
      return end_body(inbound, Arrival::Kind::cut, arrival);
    }
    // Frames of a pair are in order, so only segments, or a cut, can follow a head that is not whole.
    MARGAY_ASSERT(frame.type == Frame::Type::segment && frame.bytes.size() <= inbound.left);
    if (inbound.state == Inbound::State::receiving) {
      const std::size_t here = std::min<std::uint64_t>(frame.bytes.size(), inbound.landing.left());
      inbound.landing.write(std::span(frame.bytes).first(here));
    }
    inbound.left -= frame.bytes.size();
    body_moved_ = true;
    take(inbound);
    if (inbound.left == 0) return end_body(inbound, Arrival::Kind::finished, arrival);
  }
  return false;
}

bool VirtualWire::end_body(Inbound& inbound, Arrival::Kind kind, Arrival& arrival) {
  const bool accepted = inbound.state == Inbound::State::receiving;
  inbound.state = Inbound::State::between;
  // The end of a refused body is not an event, so the poll continues with the next frame.
  if (!accepted) return look(inbound, arrival);
  arrival.kind = kind;
  arrival.peer = inbound.rank;
  arrival.cookie = inbound.cookie;
  return true;
}

void VirtualWire::consume() {
  Inbound& inbound = inbound_[answering_];
  MARGAY_ASSERT(inbound.state == Inbound::State::offered && inbound.pair->arrived.front().whole);
  take(inbound);
  inbound.state = Inbound::State::between;
}

void VirtualWire::hold() {
  MARGAY_ASSERT(inbound_[answering_].state == Inbound::State::offered);
  inbound_[answering_].state = Inbound::State::held;
  ++held_;
}

void VirtualWire::answer_started(Inbound::State state) {
  Inbound& inbound = inbound_[answering_];
  MARGAY_ASSERT(inbound.state == Inbound::State::offered && !inbound.pair->arrived.front().whole);
  inbound.left = inbound.pair->arrived.front().header.length;
  take(inbound);
  inbound.state = state;
}

void VirtualWire::accept(const Region& landing, void* cookie) {
  answer_started(Inbound::State::receiving);
  Inbound& inbound = inbound_[answering_];
  MARGAY_ASSERT(landing.bytes() <= inbound.left);
  inbound.landing = RegionCursor(landing);
  inbound.cookie = cookie;
}

void VirtualWire::refuse() {
  answer_started(Inbound::State::passing);
}

void VirtualWire::fail(Pair& pair) {
  while (!pair.queue.empty()) finish(pair, Transmission::State::failed);
  // The pair is removed, because push() must not visit it again.
  std::erase(busy_, &pair);
}

void VirtualWire::lose_peer(std::uint32_t peer) {
  Inbound& gone = inbound(peer);
  network_.drop(*gone.pair);
  Pair& out = network_.pair(rank_, peer);
  network_.drop(out);
  fail(out);
  MARGAY_ASSERT(gone.state != Inbound::State::offered);
  // The loss has been reported already.
  if (gone.state == Inbound::State::lost) return;
  // An accepted body must end with a cut before the loss is reported.
  gone.accepted = gone.state == Inbound::State::receiving;
  gone.state = Inbound::State::losing;
  // One for a cut, one for the loss.
  if (network_.timing_ != nullptr) expect(inbound_index(peer), 0);
}

bool VirtualWire::report_loss(Inbound& inbound, Arrival& arrival) {
  arrival.peer = inbound.rank;
  if (inbound.accepted) {
    inbound.accepted = false;
    arrival.kind = Arrival::Kind::cut;
    arrival.cookie = inbound.cookie;
    return true;
  }
  arrival.kind = Arrival::Kind::lost;
  const std::string_view reason = network_.gone_[inbound.rank];
  arrival.loss = reason.empty() ? "a link on the way is down" : reason;
  inbound.state = Inbound::State::lost;
  return true;
}

}  // namespace margay::sim
