#include "sim/kernel/initiator.hpp"

#include "portals/base/assert.hpp"

namespace margay::sim {

Initiator::Initiator(portals::ProcessId me, const Routes& routes, TransmissionList& finished, Registers& registers,
                     Recorder& recorder)
    : me_(me), routes_(routes), finished_(finished), registers_(registers), recorder_(recorder) {}

// Beside the wire's work, a short message costs the update of five counters here. The header's source is not set,
// because the receiver's wire takes it from the channel or connection, which belongs to one peer (Arrival::header).
bool Initiator::try_send(const portals::Header& header, const portals::Region& body, WayCode way) {
  const std::uint32_t peer = header.destination.rank;
  MARGAY_ASSERT(peer < routes_.size() && body.bytes() == header.length && routes_.by(peer, way) != nullptr);
  Wire& wire = *routes_.by(peer, way);
  // The message may have been delivered before try_send() returns, so the time of its departure is taken first.
  const std::uint64_t stamp = recorder_.on() ? recorder_.stamp() : 0;
  if (is_way_lost(peer, way) || !wire.try_send(peer, header, body)) return false;
  count(header, wire, way,
        stamp == 0 || header.length == 0 ? std::uint8_t{0} : body_reason(wire.body_taken(), !body.contiguous()), stamp);
  return true;
}

void Initiator::send(Transmission& transmission) {
  const std::uint32_t peer = transmission.header.destination.rank;
  const WayCode way = transmission.way;
  MARGAY_ASSERT(peer < routes_.size() && transmission.body.bytes() == transmission.header.length);
  MARGAY_ASSERT(routes_.by(peer, way) != nullptr);
  MARGAY_ASSERT(transmission.state != Transmission::State::queued);
  transmission.header.source = me_;
  transmission.stop_asked = false;
  transmission.given_back = false;
  ++registers_.unfinished().transmissions;
  if (is_way_lost(peer, way)) {
    // The transmission finishes at once, as failed. So callers handle a loss before send() and a loss after it in the
    // same place.
    transmission.state = Transmission::State::failed;
    finished_.push(transmission);
    return;
  }
  Wire& wire = *routes_.by(peer, way);
  // The transmission is counted and recorded before the wire gets it, because the wire may complete it at once.
  transmission.state = Transmission::State::queued;
  transmission.sequence = next_sequence(peer, way);
  count(transmission.header, wire, way, body_reason(TraceBody::none, !transmission.body.contiguous()),
        recorder_.on() ? recorder_.stamp() : 0);
  wire.send(peer, transmission);
}

void Initiator::stop(Transmission& transmission) {
  if (transmission.state != Transmission::State::queued) return;
  const std::uint32_t peer = transmission.header.destination.rank;
  if (recorder_.on()) {
    recorder_.record(trace_event(TraceKind::stop, transmission.header, transmission.sequence));
  }
  routes_.by(peer, transmission.way)->stop(peer, transmission);
}

// The replacement takes over the number of the replaced message in its pair, so that both sides' accounts and the trace
// stay consistent.
bool Initiator::replace(Transmission& transmission, Transmission& instead) {
  if (transmission.state != Transmission::State::queued) return false;
  const std::uint32_t peer = transmission.header.destination.rank;
  MARGAY_ASSERT(instead.header.destination.rank == peer && instead.header.length == 0 && instead.body.bytes() == 0);
  instead.header.source = me_;
  instead.stop_asked = instead.given_back = false;
  instead.sequence = transmission.sequence;
  instead.way = transmission.way;
  instead.state = Transmission::State::queued;
  instead.cursor = portals::RegionCursor(instead.body);
  Wire& wire = *routes_.by(peer, transmission.way);
  if (!wire.replace(peer, transmission, instead)) {
    instead.state = Transmission::State::idle;
    return false;
  }
  if (recorder_.on()) {
    TraceEvent event = trace_event(TraceKind::take_back, transmission.header, transmission.sequence);
    event.wire = static_cast<std::uint8_t>(wire.id());
    recorder_.record(event);
  }
  transmission.state = Transmission::State::idle;
  transmission.given_back = true;
  // The bytes of the body were counted when the message was queued, but the body is not sent.
  MARGAY_ASSERT(kinds_[static_cast<std::size_t>(transmission.header.kind)].bytes >= transmission.header.length);
  counts_[static_cast<std::size_t>(wire.id())].bytes -= transmission.header.length;
  kinds_[static_cast<std::size_t>(transmission.header.kind)].bytes -= transmission.header.length;
  return true;
}

void Initiator::count(const portals::Header& header, const Wire& wire, WayCode way, std::uint8_t method,
                      std::uint64_t stamp) {
  const std::uint64_t sequence = registers_.count_sent(header.destination.rank, way);
  WireCounts& counts = counts_[static_cast<std::size_t>(wire.id())];
  ++counts.messages;
  counts.bytes += header.length;
  WireCounts& kind = kinds_[static_cast<std::size_t>(header.kind)];
  ++kind.messages;
  kind.bytes += header.length;
  if (recorder_.on()) [[unlikely]]
    record_sent(header, wire.id(), method, sequence, stamp);
}

// Class Answers records the departure of an acknowledgment or a reply, with the identity of the answered message.
void Initiator::record_sent(const portals::Header& header, WireId wire, std::uint8_t method, std::uint64_t sequence,
                            std::uint64_t stamp) {
  if (header.kind == portals::Kind::acknowledgment || header.kind == portals::Kind::reply) return;
  portals::Header traced = header;
  traced.source = me_;
  TraceEvent event = trace_event(TraceKind::kernel_send, traced, sequence);
  event.wire = static_cast<std::uint8_t>(wire);
  event.reason = method;
  recorder_.record(event, stamp);
}

}  // namespace margay::sim
