#include "sim/kernel/forward_wire.hpp"

#include <algorithm>
#include <span>
#include <utility>

#include "portals/base/assert.hpp"

namespace margay::sim {

using portals::Header;
using portals::Region;
using portals::RegionCursor;

namespace {

// Whether a message with a body of `length` bytes fits one piece, whatever its header.
constexpr bool fits_piece(std::uint64_t length) {
  return length <= kForwardPieceBytes - kFrameHeadMaxBytes;
}

}  // namespace

ForwardWire::ForwardWire(ForwardHops& hops, TransmissionList& finished)
    : Wire(WireId::forward), hops_(hops), finished_(finished) {
  set_hints();
}

void ForwardWire::set_hints() {
  quiet_ = ready_.empty() && held_.empty() && busy_.empty() && !closing_;
  needs_push_ = !busy_.empty() || !held_.empty() || closing_;
}

ForwardWire::Outbound& ForwardWire::outbound(std::uint32_t peer) {
  MARGAY_ASSERT(hops_.paths().forwarded(hops_.paths().me(), peer));
  Outbound& flow = outbound_[peer];
  flow.peer = peer;
  return flow;
}

ForwardWire::Inbound& ForwardWire::inbound(std::uint32_t peer) {
  MARGAY_ASSERT(hops_.paths().forwarded(hops_.paths().me(), peer));
  Inbound& flow = inbound_[peer];
  flow.peer = peer;
  return flow;
}

bool ForwardWire::try_send(std::uint32_t peer, const Header& header, const Region& body) {
  MARGAY_ASSERT(body.bytes() == header.length);
  Outbound& flow = outbound(peer);
  if (flow.lost || !flow.queue.empty() || flow.credits == 0 || !fits_piece(header.length)) return false;
  RegionCursor cursor(body);
  post_head(flow, header, cursor, true);
  return true;
}

void ForwardWire::send(std::uint32_t peer, Transmission& transmission) {
  MARGAY_ASSERT(transmission.body.bytes() == transmission.header.length);
  Outbound& flow = outbound(peer);
  if (flow.lost) {
    transmission.state = Transmission::State::failed;
    finished_.push(transmission);
    return;
  }
  transmission.state = Transmission::State::queued;
  transmission.cursor = RegionCursor(transmission.body);
  // The events of the hops have the methods.
  transmission.method = TraceBody::none;
  const bool was_idle = flow.queue.empty();
  flow.queue.push(transmission);
  if (!was_idle) return;
  while (!flow.queue.empty() && carry(flow)) {
  }
  if (!flow.queue.empty()) busy_.push_back(&flow);
  set_hints();
}

void ForwardWire::stop(std::uint32_t, Transmission& transmission) {
  if (transmission.state == Transmission::State::queued) transmission.stop_asked = true;
}

bool ForwardWire::replace(std::uint32_t peer, Transmission& transmission, Transmission& instead) {
  Outbound& flow = outbound(peer);
  if (flow.begun && flow.queue.front() == &transmission) return false;
  return flow.queue.replace(transmission, instead);
}

bool ForwardWire::push() {
  bool moved = false;
  // A piece of each flow in turn, so that long bodies of several flows interleave.
  for (bool round = true; round;) {
    round = false;
    for (Outbound* flow : busy_) {
      if (!flow->queue.empty()) round |= carry(*flow);
    }
    moved |= round;
  }
  std::erase_if(busy_, [](const Outbound* flow) { return flow->queue.empty(); });
  for (Inbound* flow : held_) {
    flow->state = Inbound::State::between;
    make_ready(*flow);
  }
  held_.clear();
  if (closing_) part();
  set_hints();
  return moved;
}

bool ForwardWire::carry(Outbound& flow) {
  if (flow.lost || flow.credits == 0) return false;
  Transmission& first = *flow.queue.front();
  if (!flow.begun) {
    const bool whole = fits_piece(first.header.length);
    post_head(flow, first.header, first.cursor, whole);
    flow.begun = !whole;
    if (whole) finish(flow, Transmission::State::sent);
    return true;
  }
  if (first.stop_asked) {
    post_piece(flow, ForwardKind::cut, 0);
    finish(flow, Transmission::State::stopped);
    return true;
  }
  const auto bytes = static_cast<std::size_t>(std::min<std::uint64_t>(first.cursor.left(), piece_.size()));
  first.cursor.read(std::span(piece_).first(bytes));
  post_piece(flow, ForwardKind::segment, bytes);
  if (first.cursor.left() == 0) finish(flow, Transmission::State::sent);
  return true;
}

void ForwardWire::post_head(Outbound& flow, const Header& header, RegionCursor& body, bool whole) {
  const std::size_t head = write_head(header, piece_.data());
  const std::size_t length = whole ? static_cast<std::size_t>(header.length) : 0;
  body.read(std::span(piece_).subspan(head, length));
  post_piece(flow, whole ? ForwardKind::whole : ForwardKind::begin, head + length);
}

void ForwardWire::post_piece(Outbound& flow, ForwardKind kind, std::size_t bytes) {
  MARGAY_ASSERT(flow.credits != 0 && bytes <= piece_.size());
  // A message after the farewell needs credits, and so revokes it.
  if (silent_) reopen();
  --flow.credits;
  const ForwardPaths& paths = hops_.paths();
  hops_.post({.kind = kind, .origin = paths.me(), .final = flow.peer, .number = ++flow.pieces}, paths.next(flow.peer),
             Region(piece_.data(), bytes));
}

void ForwardWire::finish(Outbound& flow, Transmission::State state) {
  Transmission* done = flow.queue.pop();
  done->state = state;
  done->copied_bytes = done->header.length - done->cursor.left();
  flow.begun = false;
  finished_.push(*done);
}

std::string ForwardWire::take_piece(const ForwardFrame& frame, const Region& body) {
  Inbound& flow = inbound(frame.origin);
  if (flow.losing || flow.state == Inbound::State::lost) return {};
  if (std::string mistake = add(flow, frame, body); !mistake.empty()) return mistake;
  most_waiting_ = std::max(most_waiting_, ++waiting_);
  make_ready(flow);
  return {};
}

std::string ForwardWire::add(Inbound& flow, const ForwardFrame& frame, const Region& body) {
  if (frame.number != flow.arrived + 1) return "its pieces are out of order";
  if (flow.pieces.size() + flow.unreturned >= kForwardWindow) return "it sent more pieces than its window allows";
  const bool begins = frame.kind == ForwardKind::whole || frame.kind == ForwardKind::begin;
  if (begins != (flow.missing == 0)) return "a piece does not continue the message before it";
  Piece piece;
  piece.kind = frame.kind;
  piece.bytes.resize(static_cast<std::size_t>(body.bytes()));
  RegionCursor(body).read(piece.bytes);
  if (begins) {
    DecodedHead head;
    const DecodeResult result = decode_head(piece.bytes, piece.header, head);
    if (result.verdict != Decode::ok || head.type != FrameType::message) return "a header is malformed";
    const std::uint64_t with_body = piece.bytes.size() - head.bytes;
    const bool whole = frame.kind == ForwardKind::whole;
    if (whole ? with_body != piece.header.length : with_body != 0 || fits_piece(piece.header.length)) {
      return "a header does not fit its body";
    }
    piece.bytes.erase(piece.bytes.begin(), piece.bytes.begin() + static_cast<std::ptrdiff_t>(head.bytes));
    flow.missing = whole ? 0 : piece.header.length;
  } else if (frame.kind == ForwardKind::cut) {
    flow.missing = 0;
  } else {
    if (piece.bytes.size() > flow.missing) return "a body is longer than its header says";
    flow.missing -= piece.bytes.size();
  }
  ++flow.arrived;
  flow.pieces.push_back(std::move(piece));
  return {};
}

std::string ForwardWire::take_credit(std::uint32_t peer, std::uint64_t number) {
  Outbound& flow = outbound(peer);
  if (number > kForwardWindow - flow.credits) return "it returns more credits than it got pieces";
  flow.credits += static_cast<std::uint32_t>(number);
  return {};
}

void ForwardWire::make_ready(Inbound& flow) {
  const bool waits = flow.state == Inbound::State::offered || flow.state == Inbound::State::held;
  if (flow.is_ready || waits || (flow.pieces.empty() && !flow.losing)) return;
  flow.is_ready = true;
  ready_.push_back(&flow);
  quiet_ = false;
}

bool ForwardWire::poll(Arrival& arrival) {
  MARGAY_ASSERT(answering_ == nullptr);
  while (!ready_.empty()) {
    Inbound& flow = *ready_.front();
    ready_.pop_front();
    flow.is_ready = false;
    if (!look(flow, arrival)) continue;
    if (flow.state == Inbound::State::offered) {
      answering_ = &flow;
    } else {
      make_ready(flow);
    }
    return true;
  }
  set_hints();
  return false;
}

bool ForwardWire::look(Inbound& flow, Arrival& arrival) {
  switch (flow.state) {
    case Inbound::State::between:
      return flow.pieces.empty() ? report_loss(flow, arrival) : offer(flow, arrival);
    case Inbound::State::receiving:
    case Inbound::State::passing:
      return move_body(flow, arrival);
    case Inbound::State::offered:
    case Inbound::State::held:
    case Inbound::State::lost:
      return false;
  }
  return false;
}

bool ForwardWire::offer(Inbound& flow, Arrival& arrival) {
  const Piece& piece = flow.pieces.front();
  MARGAY_ASSERT(piece.kind == ForwardKind::whole || piece.kind == ForwardKind::begin);
  arrival.kind = piece.kind == ForwardKind::whole ? Arrival::Kind::whole : Arrival::Kind::started;
  arrival.peer = flow.peer;
  arrival.sequence = flow.sequence + 1;
  arrival.header = piece.header;
  // From the authenticated frame, as other wires take them from the connection.
  arrival.header.source = {0, flow.peer};
  arrival.header.destination = {0, hops_.paths().me()};
  // The region is only read.
  arrival.body = Region(const_cast<std::byte*>(piece.bytes.data()), piece.bytes.size());
  arrival.cookie = nullptr;
  flow.state = Inbound::State::offered;
  return true;
}

bool ForwardWire::move_body(Inbound& flow, Arrival& arrival) {
  while (!flow.pieces.empty()) {
    const Piece& piece = flow.pieces.front();
    if (piece.kind == ForwardKind::cut) {
      take_front(flow);
      return end_body(flow, Arrival::Kind::cut, arrival);
    }
    MARGAY_ASSERT(piece.kind == ForwardKind::segment && piece.bytes.size() <= flow.left_bytes);
    if (flow.state == Inbound::State::receiving) {
      const std::size_t here = std::min<std::uint64_t>(piece.bytes.size(), flow.landing.left());
      flow.landing.write(std::span(piece.bytes).first(here));
    }
    flow.left_bytes -= piece.bytes.size();
    body_moved_ = true;
    take_front(flow);
    if (flow.left_bytes == 0) return end_body(flow, Arrival::Kind::finished, arrival);
  }
  return flow.losing && end_body(flow, Arrival::Kind::cut, arrival);
}

bool ForwardWire::end_body(Inbound& flow, Arrival::Kind kind, Arrival& arrival) {
  const bool accepted = flow.state == Inbound::State::receiving;
  flow.state = Inbound::State::between;
  if (!accepted) return look(flow, arrival);
  arrival.kind = kind;
  arrival.peer = flow.peer;
  arrival.cookie = flow.cookie;
  return true;
}

bool ForwardWire::report_loss(Inbound& flow, Arrival& arrival) {
  if (!flow.losing) return false;
  flow.losing = false;
  flow.state = Inbound::State::lost;
  arrival.kind = flow.left ? Arrival::Kind::left : Arrival::Kind::lost;
  arrival.peer = flow.peer;
  arrival.loss = flow.loss;
  return true;
}

void ForwardWire::take_front(Inbound& flow) {
  flow.pieces.pop_front();
  --waiting_;
  ++flow.unreturned;
  return_credits(flow);
}

void ForwardWire::return_credits(Inbound& flow) {
  if (flow.unreturned < kForwardCreditStep || silent_ || flow.losing) return;
  const ForwardPaths& paths = hops_.paths();
  if (hops_.neighbour(paths.next(flow.peer)).said_bye) return;
  hops_.post({.kind = ForwardKind::credit, .origin = paths.me(), .final = flow.peer, .number = flow.unreturned},
             paths.next(flow.peer));
  flow.unreturned = 0;
}

ForwardWire::Inbound& ForwardWire::end_answer(Inbound::State state) {
  MARGAY_ASSERT(answering_ != nullptr && answering_->state == Inbound::State::offered);
  Inbound& flow = *answering_;
  answering_ = nullptr;
  flow.state = state;
  return flow;
}

void ForwardWire::consume() {
  Inbound& flow = end_answer(Inbound::State::between);
  MARGAY_ASSERT(flow.pieces.front().kind == ForwardKind::whole);
  ++flow.sequence;
  take_front(flow);
  make_ready(flow);
}

void ForwardWire::hold() {
  held_.push_back(&end_answer(Inbound::State::held));
  needs_push_ = true;
}

void ForwardWire::accept(const Region& landing, void* cookie) {
  Inbound& flow = end_answer(Inbound::State::receiving);
  flow.left_bytes = flow.pieces.front().header.length;
  MARGAY_ASSERT(flow.pieces.front().kind == ForwardKind::begin && landing.bytes() <= flow.left_bytes);
  flow.landing = RegionCursor(landing);
  flow.cookie = cookie;
  ++flow.sequence;
  take_front(flow);
  make_ready(flow);
}

void ForwardWire::refuse() {
  Inbound& flow = end_answer(Inbound::State::passing);
  flow.left_bytes = flow.pieces.front().header.length;
  MARGAY_ASSERT(flow.pieces.front().kind == ForwardKind::begin);
  ++flow.sequence;
  take_front(flow);
  make_ready(flow);
}

void ForwardWire::lose(std::uint32_t peer, std::string_view reason, bool left) {
  if (!hops_.paths().forwarded(hops_.paths().me(), peer)) return;
  Outbound& out = outbound(peer);
  if (out.lost) return;
  out.lost = true;
  while (!out.queue.empty()) finish(out, Transmission::State::failed);
  std::erase(busy_, &out);
  Inbound& in = inbound(peer);
  in.losing = true;
  in.left = left;
  in.loss = reason;
  make_ready(in);
  set_hints();
}

void ForwardWire::nudge(std::uint32_t peer) {
  const ForwardPaths& paths = hops_.paths();
  Outbound& flow = outbound(peer);
  const std::uint64_t now = hops_.now_ns();
  const bool is_due = flow.nudged_ns == 0 || now - flow.nudged_ns >= kNudgeEachNs;
  if (is_due && !silent_ && !hops_.neighbour(paths.next(peer)).said_bye) {
    flow.nudged_ns = now;
    hops_.post_hint({.kind = ForwardKind::nudge, .origin = paths.me(), .final = peer, .number = 0}, paths.next(peer));
  }
  hops_.nudge(paths.next(peer));
}

void ForwardWire::monitor(std::uint32_t peer) {
  const ForwardPaths& paths = hops_.paths();
  const std::uint32_t next = paths.next(peer);
  hops_.monitor(next);
  Outbound& flow = outbound(peer);
  if (flow.lost || silent_ || hops_.neighbour(next).said_bye || std::exchange(flow.monitored, true)) return;
  // Queued, because it is not repeated as other nudges are.
  hops_.post({.kind = ForwardKind::nudge, .origin = paths.me(), .final = peer, .number = 0}, next);
}

void ForwardWire::nudge_queued() {
  for (const Outbound* flow : busy_) nudge(flow->peer);
}

bool ForwardWire::node_is_done() const {
  const ForwardPaths& paths = hops_.paths();
  return !paths.is_forwarder(paths.me()) ||
         std::ranges::all_of(paths.locals(), [this](std::uint32_t rank) { return hops_.neighbour(rank).said_bye; });
}

bool ForwardWire::forwards_for_others() const {
  return hops_.paths().is_forwarder(hops_.paths().me()) && !hops_.paths().locals().empty();
}

bool ForwardWire::node_has_parted() const {
  return std::ranges::all_of(hops_.paths().locals(),
                             [this](std::uint32_t rank) { return hops_.neighbour(rank).has_parted; });
}

void ForwardWire::close() {
  closing_ = true;
  set_hints();
}

void ForwardWire::part() {
  if (silent_ || !busy_.empty() || !node_is_done()) return;
  silent_ = true;
  const ForwardPaths& paths = hops_.paths();
  if (!paths.is_forwarder(paths.me())) static_cast<void>(hops_.neighbour(paths.forwarder_of(paths.me())));
  for (const auto& [rank, neighbour] : hops_.neighbours()) {
    const bool is_local = paths.same_node(rank, paths.me());
    if (is_local && paths.is_forwarder(paths.me())) continue;  // the relay has answered its bye
    hops_.post({.kind = ForwardKind::bye, .origin = paths.me(), .final = rank, .number = 0}, rank);
  }
}

bool ForwardWire::is_closed() const {
  if (!silent_) return false;
  return std::ranges::all_of(hops_.neighbours(), [](const auto& each) { return each.second.said_bye; });
}

void ForwardWire::reopen() {
  if (!silent_) return;
  silent_ = false;
  const ForwardPaths& paths = hops_.paths();
  for (auto& [rank, neighbour] : hops_.neighbours()) {
    const bool is_local = paths.same_node(rank, paths.me());
    if (is_local && paths.is_forwarder(paths.me())) continue;
    // The bye of this node's forwarder was the answer to this process's own one.
    if (is_local) neighbour.said_bye = false;
    hops_.post({.kind = ForwardKind::open, .origin = paths.me(), .final = rank, .number = 0}, rank);
  }
  return_kept();
}

void ForwardWire::return_kept() {
  for (auto& [peer, flow] : inbound_) return_credits(flow);
}

void ForwardWire::resume() {
  closing_ = false;
  reopen();
  set_hints();
}

}  // namespace margay::sim
