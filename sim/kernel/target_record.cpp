// The records of class Target: trace events, and the log of decisions.
#include "portals/base/assert.hpp"
#include "sim/kernel/target.hpp"

namespace margay::sim {

using portals::Outcome;

// Records the arrival, once for a held message. Then walks for the other records, before anything changes.
void Target::record_arrival(const Arrival& arrival, WireId wire) {
  const portals::Header& header = arrival.header;
  if (recorder_.on() && !was_held(header.source.rank, arrival.sequence)) record_arrival(header, arrival.sequence, wire);
  const bool keep = decisions_.wants(header);
  const std::uint32_t steps = recorder_.walk_steps();
  if (steps == 0 && !keep) return;
  steps_.clear();
  const portals::WalkLimits limits{.steps = steps, .visited = std::max(steps, kWalkEntriesCounted)};
  walk_ = delivery_.explain(header, steps_, keep ? portals::WalkLimits() : limits);  // before decide() takes the room
  if (keep) decisions_.record_walk(header, steps_);
}

void Target::record_decision(const Arrival& arrival, WireId wire, const portals::Verdict& verdict, bool hold) {
  const portals::Header& header = arrival.header;
  if (decisions_.wants(header)) decisions_.record_decision(header, arrival.sequence, wire, verdict, hold);
  if (recorder_.on()) record_verdict(header, arrival.sequence, verdict);
}

void Target::record_arrival(const portals::Header& header, std::uint64_t sequence, WireId wire) {
  TraceEvent event;
  switch (header.kind) {
    case portals::Kind::acknowledgment:
      event = trace_answer(TraceKind::kernel_ack_arrived, header, sequence, answered_sequence(header));
      break;
    case portals::Kind::get:
      event = trace_event(TraceKind::kernel_get_arrived, header, sequence);
      event.detail = header.offset;
      break;
    case portals::Kind::reply:
      event = trace_answer(TraceKind::kernel_arrive, header, sequence, answered_sequence(header));
      break;
    case portals::Kind::put:
      event = trace_event(TraceKind::kernel_arrive, header, sequence);
      event.detail = header.offset;
      break;
  }
  event.wire = static_cast<std::uint8_t>(wire);
  recorder_.record(event);
}

std::uint64_t Target::place_of(const portals::MatchEntry& entry, portals::PortalIndex portal) const {
  return match_probe_.place == nullptr ? entry.order() : match_probe_.place(match_probe_.context, entry, portal);
}

void Target::record_verdict(const portals::Header& header, std::uint64_t sequence, const portals::Verdict& verdict) {
  if (recorder_.walk_steps() != 0) record_walk(header, sequence);
  if (verdict.outcome == Outcome::drop) {
    if (!must_hold(verdict, header)) return;  // drop() counts and records a drop
    TraceEvent event = trace_event(TraceKind::kernel_hold, header, sequence);
    event.reason = static_cast<std::uint8_t>(verdict.reason);
    if (recorder_.walk_steps() != 0) event.a = walk_.visited;
    event.b = walk_.is_whole ? 0 : kTraceWalkCut;
    recorder_.record(event);
    return;
  }
  TraceEvent event = trace_event(TraceKind::kernel_match, header, sequence);
  event.detail = verdict.entry == nullptr ? 0 : place_of(*verdict.entry, header.portal);
  event.a = verdict.visited;
  if (recorder_.walk_steps() != 0) {
    event.a = std::max(walk_.visited, verdict.visited);
    if (verdict.visited < walk_.visited) event.reason |= kTraceWalkByIndex;
    if (!walk_.is_whole) event.reason |= kTraceWalkCut;
  }
  event.b = verdict.descriptor->owner_tag_kind();
  const unsigned type = 1U + static_cast<unsigned>(verdict.descriptor->type());
  event.reason |= static_cast<std::uint8_t>(type << kTraceDescriptorShift);
  event.saved = verdict.saved;
  recorder_.record(event);
  if (match_probe_.matched != nullptr) {
    match_probe_.matched(match_probe_.context, verdict, header, sequence);
  }
}

namespace {

TraceLink link_after(const portals::MatchEntry* entry, portals::Passed passed) {
  if (entry == nullptr) return TraceLink::none;
  switch (passed) {
    case portals::Passed::inactive:
    case portals::Passed::no_match:
      return static_cast<TraceLink>(entry->links().no_match.to);
    case portals::Passed::no_room:
      return static_cast<TraceLink>(entry->links().no_room.to);
    case portals::Passed::too_small:
      return static_cast<TraceLink>(entry->links().too_small.to);
    default:
      return TraceLink::none;
  }
}

TraceEvent pass_event(const portals::Step& step, std::uint32_t at, const portals::Header& header,
                      std::uint64_t sequence) {
  TraceEvent event = trace_event(TraceKind::kernel_pass, header, sequence);
  event.reason = static_cast<std::uint8_t>(step.passed);
  const portals::Descriptor& memory = step.entry != nullptr ? *step.entry->memory() : *step.memory;
  TracePass pass;
  pass.step = std::min<std::uint32_t>(at, 0xffff);
  pass.owner = std::min(memory.owner_tag_kind(), 0xffU);
  pass.link = link_after(step.entry, step.passed);
  pass.type = 1U + static_cast<std::uint32_t>(memory.type());
  event.a = pass.packed();
  if (step.entry != nullptr) {
    event.match_bits = step.entry->criteria().match_bits;
    event.bytes = step.entry->criteria().ignore_bits;
    event.b = step.entry->criteria().source_rank;
  }
  if (step.passed == portals::Passed::too_small) {
    const portals::Options& options = step.entry != nullptr ? step.entry->options() : step.options;
    const std::optional<std::uint64_t> room = room_left(memory, options, header);
    event.b = static_cast<std::uint32_t>(std::min<std::uint64_t>(room.value_or(kTraceRoomUnknown), kTraceRoomUnknown));
  }
  return event;
}

}  // namespace

void Target::record_walk(const portals::Header& header, std::uint64_t sequence) {
  std::uint32_t number = 0;
  for (const portals::Step& step : steps_) {
    const std::uint32_t at = number++;
    // There may be more steps than the trace's limit, because the log of decisions keeps the whole walk.
    if (at >= recorder_.walk_steps()) break;
    if (step.passed == portals::Passed::taken) continue;  // kernel_match records this entry
    TraceEvent event = pass_event(step, at, header, sequence);
    if (step.entry != nullptr) event.detail = place_of(*step.entry, header.portal);
    recorder_.record(event);
  }
}

}  // namespace margay::sim
