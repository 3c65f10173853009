#include "sim/kernel/target.hpp"

#include "portals/base/assert.hpp"

namespace margay::sim {

using portals::DropReason;
using portals::Outcome;

Target::Target(portals::ProcessId me, portals::Delivery& delivery, Initiator& initiator, Answers& answers,
               Registers& registers, Recorder& recorder)
    : me_(me),
      delivery_(delivery),
      initiator_(initiator),
      answers_(answers),
      registers_(registers),
      recorder_(recorder) {}

bool Target::take(Wire& wire, Arrival& arrival) {
  return arrival.kind == Arrival::Kind::whole ? whole(wire, arrival) : take_partial(wire, arrival);
}

bool Target::take_partial(Wire& wire, Arrival& arrival) {
  switch (arrival.kind) {
    case Arrival::Kind::whole:
      break;
    case Arrival::Kind::started:
      return started(wire, arrival);
    case Arrival::Kind::finished:
      finished(wire, incoming_of(arrival));
      return true;
    case Arrival::Kind::cut:
      cut(incoming_of(arrival));
      return true;
    case Arrival::Kind::lost:
    case Arrival::Kind::left:
      lost(wire, arrival);
      return true;
  }
  return true;
}

// Header and body are both here: one walk, and one copy from the wire's memory to the memory that the walk found.
bool Target::whole(Wire& wire, Arrival& arrival) {
  const portals::Header& header = arrival.header;
  if (is_observed()) [[unlikely]]
    record_arrival(arrival, wire.id());
  if (header.portal >= kForwardPortal) [[unlikely]] {
    if (bool moved = false; take_reserved(wire, arrival, moved)) return moved;
  }
  if (const portals::Placed placed = delivery_.put_whole(header, arrival.body)) [[likely]] {
    // consume() comes first: the body has been copied, and the sender may need the wire's slot.
    wire.consume();
    entries_walked_ += placed.visited;
    registers_.count_delivered(header.source.rank, arrival.way);
    if (is_observed()) [[unlikely]]
      record_placed(arrival, wire, placed);
    return true;
  }
  return decide_whole(wire, arrival);
}

bool Target::decide_whole(Wire& wire, Arrival& arrival) {
  const portals::Header& header = arrival.header;
  const portals::Verdict verdict = decide(arrival, wire.id());
  if (verdict.outcome == Outcome::deposit) {
    const std::uint64_t bytes = verdict.landing.bytes();
    // A truncating entry takes the beginning of the body; the wire discards the remainder with consume().
    if (bytes != 0) portals::copy(verdict.landing, arrival.body.slice(0, bytes));
    wire.consume();
    complete_deposit(wire, verdict, header, arrival.sequence);
    return true;
  }
  return not_deposited(wire, arrival, verdict);
}

bool Target::not_deposited(Wire& wire, const Arrival& arrival, const portals::Verdict& verdict) {
  const portals::Header& header = arrival.header;
  MARGAY_ASSERT(verdict.outcome != Outcome::deposit);
  // A get has no body, so consume() frees its slot before the reply, which may take longer.
  if (verdict.outcome == Outcome::reply) {
    wire.consume();
    ++counts_.replied;
    registers_.count_delivered(header.source.rank, arrival.way);
    answers_.reply(verdict, header, arrival.sequence);
    return true;
  }
  if (must_hold(verdict, header)) {
    ++counts_.held;
    wire.hold();
    return false;
  }
  wire.consume();
  drop(header, arrival.sequence, verdict.reason);
  return true;
}

static_assert(kForwardPortal + 1 == kMarkerPortal && kMarkerPortal + 1 == portals::kPortalCount);

// Only other wires carry hops: a message that arrives by the forwarding wire may name any portal.
bool Target::take_reserved(Wire& wire, const Arrival& arrival, bool& moved) {
  const portals::Header& header = arrival.header;
  if (header.portal == kMarkerPortal && moves_.is_marker(header)) {
    moved = take_marker(wire, arrival);
    return true;
  }
  if (header.portal != kForwardPortal || relay_ == nullptr || wire.id() == WireId::forward) return false;
  take_hop(wire, arrival);
  moved = !is_forward_nudge(header);
  return true;
}

// The relay reads the body where the wire has it, so consume() comes afterwards.
void Target::take_hop(Wire& wire, const Arrival& arrival) {
  if (relay_->take(arrival.header, arrival.body)) {
    deposit_reserved(wire, arrival);
    return;
  }
  wire.consume();
  walk_ = {};
  drop(arrival.header, arrival.sequence, DropReason::no_such_portal);
}

void Target::deposit_reserved(Wire& wire, const Arrival& arrival) {
  const portals::Header& header = arrival.header;
  wire.consume();
  registers_.count_delivered(header.source.rank, arrival.way);
  if (!recorder_.on()) return;
  TraceEvent event = trace_event(TraceKind::kernel_deposit, header, arrival.sequence);
  event.wire = static_cast<std::uint8_t>(wire.id());
  if (header.length != 0) event.reason = body_reason(wire.body_report().method, false);
  recorder_.record(event);
}

// A marker has no body and matches nothing. In the trace it arrives, and is held or deposited, as other messages.
bool Target::take_marker(Wire& wire, const Arrival& arrival) {
  const portals::Header& header = arrival.header;
  if (!moves_.take(header, arrival.way, initiator_.is_way_lost(header.source.rank, moves_.old_way(header)))) {
    if (first_hold(header, arrival.sequence) && recorder_.on()) {
      TraceEvent event = trace_event(TraceKind::kernel_hold, header, arrival.sequence);
      event.reason = static_cast<std::uint8_t>(DropReason::none);
      recorder_.record(event);
    }
    ++counts_.held;
    wire.hold();
    return false;
  }
  deposit_reserved(wire, arrival);
  return true;
}

bool Target::started(Wire& wire, Arrival& arrival) {
  const portals::Header& header = arrival.header;
  if (is_observed()) [[unlikely]]
    record_arrival(arrival, wire.id());
  const portals::Verdict verdict = decide(arrival, wire.id());
  if (verdict.outcome == Outcome::deposit && verdict.landing.bytes() != 0) {
    Incoming& incoming = make_incoming();
    incoming.header = header;
    incoming.verdict = verdict;
    incoming.sequence = arrival.sequence;
    if (recorder_.on()) {
      TraceEvent event = trace_event(TraceKind::kernel_deposit_begin, header, arrival.sequence);
      event.detail = verdict.offset;
      recorder_.record(event);
    }
    wire.accept(verdict.landing, &incoming);
    return true;
  }
  if (verdict.outcome == Outcome::drop && must_hold(verdict, header)) {
    ++counts_.held;
    wire.hold();
    return false;
  }
  // No byte of the body is stored. If the sender requested an acknowledgment, it can stop the body when that arrives.
  wire.refuse();
  if (verdict.outcome == Outcome::deposit) {
    complete_deposit(wire, verdict, header, arrival.sequence);
  } else {
    drop(header, arrival.sequence, verdict.reason);
  }
  return true;
}

void Target::finished(const Wire& wire, Incoming& incoming) {
  complete_deposit(wire, incoming.verdict, incoming.header, incoming.sequence);
  release(incoming);
}

void Target::cut(Incoming& incoming) {
  delivery_.abandon(incoming.verdict);
  walk_ = {};  // this drop did not result from a walk
  drop(incoming.header, incoming.sequence, DropReason::peer_lost);
  release(incoming);
}

void Target::lost(Wire& wire, const Arrival& arrival) {
  if (arrival.way == kUsualWay) {
    initiator_.mark_unreachable(arrival.peer, arrival.loss, arrival.kind == Arrival::Kind::left);
  } else {
    initiator_.mark_way_lost(arrival.peer, arrival.way, arrival.loss);
  }
  if (relay_ != nullptr && wire.id() != WireId::forward && arrival.way == kUsualWay) {
    relay_->neighbour_lost(arrival.peer, arrival.loss, arrival.kind == Arrival::Kind::left);
  }
  if (!recorder_.on()) return;
  TraceEvent event;
  event.kind = TraceKind::peer_lost;
  event.source = arrival.peer;
  event.destination = me_.rank;
  event.wire = static_cast<std::uint8_t>(wire.id());
  event.reason = static_cast<std::uint8_t>(DropReason::peer_lost);
  recorder_.record(event);
}

void Target::record_placed(const Arrival& arrival, const Wire& wire, const portals::Placed& placed) {
  const portals::Verdict verdict = portals::Delivery::verdict_of(placed, arrival.header);
  record_decision(arrival, wire.id(), verdict, false);
  finish_deposit(wire, verdict, arrival.header, arrival.sequence);
}

void Target::finish_deposit(const Wire& wire, const portals::Verdict& verdict, const portals::Header& header,
                            std::uint64_t sequence) {
  if (recorder_.on()) {
    TraceEvent event = trace_event(TraceKind::kernel_deposit, header, sequence);
    event.saved = verdict.saved;
    event.wire = static_cast<std::uint8_t>(wire.id());
    event.bytes = verdict.landing.bytes();
    event.detail = verdict.offset;
    if (event.bytes != 0) {
      const BodyReport body = wire.body_report();
      event.reason = body_reason(body.method, !verdict.landing.contiguous());
      event.a = static_cast<std::uint32_t>(body.aside_bytes);
      event.b = static_cast<std::uint32_t>(body.aside_bytes >> 32U);
    }
    recorder_.record(event);
  }
  if (verdict.acknowledge) answers_.acknowledge(verdict, header, sequence);
}

bool Target::must_hold(const portals::Verdict& verdict, const portals::Header& header) const {
  const bool no_space = verdict.reason == DropReason::no_room || verdict.reason == DropReason::too_small;
  return no_space && header.portal < portals::kPortalCount && ((hold_portals_ >> header.portal) & 1U) != 0;
}

bool Target::holds(std::uint32_t rank, WayCode way) const {
  // Wires are in order, so the next message's number is one more than the count of delivered and dropped messages.
  std::uint64_t taken = registers_.delivered(rank, way);
  for (const std::uint64_t dropped : registers_.dropped(rank, way)) taken += dropped;
  return was_held(rank, message_number(way, taken + 1));
}

void Target::drop(const portals::Header& header, std::uint64_t sequence, DropReason reason) {
  registers_.count_dropped(header.source.rank, reason, way_of(sequence));
  if (reason == DropReason::no_match) {
    if (header.kind == portals::Kind::put && header.portal < portals::kPortalCount) ++unmatched_puts_[header.portal];
    if (first_unmatched_.size() < kUnmatchedKept) first_unmatched_.push_back(header);
  }
  if (!recorder_.on()) return;
  TraceEvent event = trace_event(TraceKind::kernel_drop, header, sequence);
  event.reason = static_cast<std::uint8_t>(reason);
  if (recorder_.walk_steps() != 0) event.a = walk_.visited;
  event.b = walk_.is_whole ? 0 : kTraceWalkCut;
  recorder_.record(event);
}

Target::Incoming& Target::make_incoming() {
  if (free_.empty()) {
    pool_.push_back(std::make_unique<Incoming>());
    free_.push_back(pool_.back().get());
  }
  Incoming& incoming = *free_.back();
  free_.pop_back();
  ++incoming_bodies_;
  return incoming;
}

void Target::release(Incoming& incoming) {
  MARGAY_ASSERT(incoming_bodies_ != 0 && incoming.verdict.outcome == Outcome::deposit);
  --incoming_bodies_;
  free_.push_back(&incoming);
}

}  // namespace margay::sim
