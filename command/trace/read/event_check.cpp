#include "command/trace/read/event_check.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "command/trace/read/schema.hpp"
#include "sim/base/limits.hpp"

namespace margay::command {

namespace {

// Bound on how far times of one rank may run backwards: its threads read the counters of different processors. 1.6 ms
// at 2.6 GHz, far more than these counters differ.
constexpr std::uint64_t kTickSlack = std::uint64_t{1} << 22;
constexpr std::uint64_t kMostThreads = std::uint64_t{1} << 32;

// Kinds that carry the time at which their step began, although other events have been recorded since.
bool bears_earlier_time(sim::TraceKind kind) {
  return kind == sim::TraceKind::send_begin || kind == sim::TraceKind::kernel_send ||
         kind == sim::TraceKind::kernel_reply_sent || kind == sim::TraceKind::coprocessor_begin;
}

// Kinds that are recorded before the header's destination is checked, so the destination may be any number.
bool is_before_delivery(sim::TraceKind kind) {
  return kind == sim::TraceKind::kernel_arrive || kind == sim::TraceKind::kernel_get_arrived ||
         kind == sim::TraceKind::kernel_ack_arrived || kind == sim::TraceKind::kernel_drop ||
         kind == sim::TraceKind::kernel_hold;
}

bool names_call(sim::TraceKind kind) {
  return kind == sim::TraceKind::mpi_enter || kind == sim::TraceKind::mpi_leave || kind == sim::TraceKind::wait_begin ||
         kind == sim::TraceKind::wait_end;
}

}  // namespace

EventCheck::EventCheck(const sim::TraceHeader& header)
    : size_(std::max(header.size, std::min(header.flags >> sim::kTracePlacesShift, sim::kRanksMax))),
      names_(header.name_count),
      newest_(header.written - 1),
      first_ticks_(header.anchors[0].ticks),
      last_ticks_(header.anchors[header.anchor_count == 0 ? 0 : sim::anchor_slot(header.anchor_count - 1)].ticks) {
  // Anchors are taken at intervals, so a valid event may be later than the last anchor by kMostAnchorDistance. The
  // minimum prevents an overflow.
  last_ticks_ += std::min(sim::kMostAnchorDistance, ~last_ticks_);
}

// The order matters: the schema's check needs a valid kind.
std::string EventCheck::fault_of(const sim::TraceEvent& event, std::uint64_t number) {
  const auto kind = static_cast<std::uint16_t>(event.kind);
  if (kind == 0 || kind >= sim::kTraceKindCount) return fmt::format("its kind is {}", kind);
  if (std::string fault = fault_of_fields(event); !fault.empty()) return fault;
  // A message has a sender and a receiver; other events may leave either open.
  const auto fits = [&](portals::Rank rank) {
    return rank < size_ || (rank == portals::kAnyRank && event.sequence == 0);
  };
  if (!fits(event.source)) return fmt::format("its source is {} of {} ranks", event.source, size_);
  if (!fits(event.destination) && !is_before_delivery(event.kind)) {
    return fmt::format("its destination is {} of {} ranks", event.destination, size_);
  }
  // In a file without a table of names only call 0 is valid.
  if (names_call(event.kind) && event.a >= std::max(names_, 1U)) {
    return fmt::format("its call is {} of {}", event.a, names_);
  }
  if (names_call(event.kind) && event.detail >= kMostThreads) {
    return fmt::format("its thread is {}, of {}", event.detail, kMostThreads);
  }
  return fault_of_time(event, number);
}

// The newest event may be later than last_ticks_: the rank died before it recorded the next anchor.
std::string EventCheck::fault_of_time(const sim::TraceEvent& event, std::uint64_t number) {
  if (event.time < first_ticks_) return fmt::format("its time is {}, before the recording began", event.time);
  if (event.time > last_ticks_ && number != newest_) {
    return fmt::format("its time is {}, after the recording's last reading of the clock", event.time);
  }
  if (!bears_earlier_time(event.kind) && event.time < latest_ && latest_ - event.time > kTickSlack) {
    return fmt::format("its time is {}, and an earlier event's {}", event.time, latest_);
  }
  latest_ = std::max(latest_, event.time);
  return {};
}

}  // namespace margay::command
