#include "sim/kernel/kernel.hpp"

#include <algorithm>
#include <utility>

#include "portals/base/assert.hpp"

namespace margay::sim {

Kernel::Kernel(portals::ProcessId me, Routes routes, TransmissionList& finished, Recorder& recorder)
    : me_(me),
      routes_(std::move(routes)),
      wires_(routes_.wires()),
      polling_(wires_, recorder),
      finished_(finished),
      recorder_(recorder),
      registers_(routes_.size(), routes_.has_ways()),
      delivery_(table_, changed_),
      owed_(routes_.size()),
      initiator_(me, routes_, finished, registers_, recorder),
      answers_(initiator_, delivery_, recorder),
      target_(me, delivery_, initiator_, answers_, registers_, recorder) {}

void Kernel::add_wire(Wire& wire) {
  MARGAY_ASSERT(wires_.empty() || wires_.back()->id() < wire.id());
  wires_.push_back(&wire);
  polling_.add(wire);
}

void Kernel::measure_polls() {
  constexpr int kPolls = 64;
  const Clock& clock = recorder_.clock();
  auto after_each = [] {};
  for (const PolledWire& polled : polling_.rows()) {
    if (polled.scheduled != nullptr || !PollSchedule::is_polled(*polled.wire)) continue;
    bool found_any = false;
    const std::uint64_t begin = clock.now_ns();
    for (int poll = 0; poll < kPolls; ++poll) {
      found_any |= (serve(*polled.wire, false, false, kArrivalsPerRound, after_each) & kFound) != 0;
    }
    // Polls that found something cost more, and are not vain.
    if (!found_any) polling_.record_cost(polled, static_cast<double>(clock.now_ns() - begin) / kPolls);
  }
  polling_.update_counts(rounds());
}

portals::Status Kernel::poll_counts(std::string_view wire, PollCounts& out) {
  PolledWire* row = nullptr;
  if (portals::Status status = polling_.find(wire, row); !status.ok()) return status;
  out = {.interval = 0};
  if (row == nullptr) return {};
  if (row->scheduled == nullptr && polling_.state_of(*row).interval.cost_ns() == 0) measure_polls();
  polling_.update_counts(rounds());
  out = *polling_.state_of(*row).counts;
  return {};
}

void Kernel::skip_rounds(std::uint64_t rounds) {
  polling_.skip_rounds(rounds);
  complete_rounds_.set(complete_rounds_.get() + rounds);
}

Transmission* Kernel::take_finished() {
  // Several transmissions of the kernel itself may precede the next one of the program.
  while (Transmission* transmission = finished_.pop()) {
    MARGAY_ASSERT(transmission->state != Transmission::State::queued && !transmission->given_back);
    initiator_.gave_back();
    transmission->given_back = true;
    if (recorder_.on()) record_sent(*transmission);
    // Answers and hops are the kernel's own transmissions and end here. The program gets only its own.
    if (transmission->owner_tag_kind == kOwnerKernel) {
      answers_.finish(*transmission);
    } else if (transmission->owner_tag_kind == kOwnerForward && hops_ != nullptr) {
      hops_->finish(*transmission);
    } else {
      return transmission;
    }
  }
  return nullptr;
}

void Kernel::set_way(const Wire& wire) {
  arrival_.way = routes_.way(wire, arrival_.peer);
  arrival_.sequence = message_number(arrival_.way, position_of(arrival_.sequence));
}

void Kernel::move(std::uint32_t peer, WayCode from, WayCode to) {
  MARGAY_ASSERT(target_.moves().enabled());
  if (from == to || initiator_.is_way_lost(peer, to)) return;
  const std::uint32_t number = target_.moves().next(peer);
  // The peer learns of the loss of the old way from its own wire.
  if (!initiator_.is_way_lost(peer, from)) {
    answers_.send_marker(Moves::marker(peer, number, from, Moves::Role::end), from);
  }
  answers_.send_marker(Moves::marker(peer, number, from, Moves::Role::begin), to);
}

bool Kernel::nudge() {
  bool any = false;
  // Visits only the elements that exist, because a rank among thousands waits for few others.
  owed_.for_each([&](std::uint32_t peer, std::uint32_t owed) {
    if (owed == 0) return;
    routes_[peer]->nudge(peer);
    any = true;
  });
  for (Wire* wire : wires_) {
    // A peer that does not take its queued messages may be computing.
    if (wire->idle()) continue;
    wire->nudge_queued();
    any = true;
  }
  return any;
}

bool Kernel::in_transit() const {
  return std::ranges::any_of(wires_, [](const Wire* wire) { return wire->in_transit(); });
}

std::uint64_t Kernel::bodies_read_on() const {
  std::uint64_t sum = 0;
  for (const Wire* wire : wires_) sum += wire->bodies_read_on();
  return sum;
}

bool Kernel::idle() const {
  return answers_.idle() && target_.incoming() == 0 &&
         std::all_of(wires_.begin(), wires_.end(), [](const Wire* wire) { return wire->idle(); });
}

void Kernel::record_sent(const Transmission& transmission) {
  // No event for a failed transmission, which was sent in part at most. The loss of its peer has an event of its own.
  if (transmission.state == Transmission::State::failed) return;
  TraceEvent event = trace_event(TraceKind::kernel_sent, transmission.header, transmission.sequence);
  event.wire = static_cast<std::uint8_t>(routes_.by(transmission.header.destination.rank, transmission.way)->id());
  event.reason = body_reason(transmission.method, false);
  event.detail = transmission.copied_bytes;
  recorder_.record(event);
}

}  // namespace margay::sim
