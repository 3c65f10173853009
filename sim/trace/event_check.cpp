#include "sim/trace/event_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "portals/header.hpp"
#include "portals/verdict.hpp"
#include "sim/trace/definition.hpp"

namespace margay::sim {

namespace {

// Threads of a rank read the counters of different processors. 1.6 ms at 2.6 GHz: far more than these can differ by.
constexpr std::uint64_t kTickSlack = std::uint64_t{1} << 22;
constexpr std::uint8_t kPassedCount = static_cast<std::uint8_t>(portals::Passed::taken) + 1;
constexpr std::uint8_t kWires = 4;
constexpr std::uint64_t kMostThreads = std::uint64_t{1} << 32;

// They bear the time at which their step began, and others have been recorded since.
bool bears_earlier_time(TraceKind kind) {
  return kind == TraceKind::send_begin || kind == TraceKind::kernel_send || kind == TraceKind::kernel_reply_sent ||
         kind == TraceKind::coprocessor_begin;
}

// The destination that a header names is not yet known to be there.
bool is_before_delivery(TraceKind kind) {
  return kind == TraceKind::kernel_arrive || kind == TraceKind::kernel_get_arrived ||
         kind == TraceKind::kernel_ack_arrived || kind == TraceKind::kernel_drop || kind == TraceKind::kernel_hold;
}

bool names_call(TraceKind kind) {
  return kind == TraceKind::mpi_enter || kind == TraceKind::mpi_leave || kind == TraceKind::wait_begin ||
         kind == TraceKind::wait_end;
}

bool is_reason(const TraceEvent& event) {
  if (tells_body(event.kind)) return static_cast<std::uint8_t>(body_way(event.reason)) < kTraceBodyCount;
  switch (event.kind) {
    case TraceKind::send_begin:
      return event.reason < kTraceChoiceCount;
    case TraceKind::kernel_pass:
      return event.reason < kPassedCount;
    case TraceKind::kernel_match:
      return (event.reason & ((1U << kTraceDescriptorShift) - 1)) <= (kTraceWalkByIndex | kTraceWalkCut) &&
             matched_descriptor(event.reason) < kTraceDescriptorKinds;
    case TraceKind::entry_linked:
    case TraceKind::entry_unlinked:
    case TraceKind::entry_switched:
      return event.reason <= kTraceEntryFlags;
    case TraceKind::heap_left:
      return event.reason <= kTraceHeapDestroyed;
    case TraceKind::window_access:
      return event.reason < kTraceWayCount;
    case TraceKind::collective_begin:
      return event.reason < kTraceRootCount;
    case TraceKind::found:
      return event.reason < kTraceProbeCount;
    case TraceKind::search_hit:
      return event.reason <= 1;
    case TraceKind::request_complete:
      return event.reason <= kTraceCancelled;
    case TraceKind::given_back:
      return event.reason >= static_cast<std::uint8_t>(TraceGivenBack::cancelled) &&
             event.reason <= static_cast<std::uint8_t>(TraceGivenBack::freed);
    default:
      return event.reason < portals::kDropReasonCount;
  }
}

// What `a`, `b` and `detail` of the kinds that number things by an enumeration say.
std::string fault_of_numbers(const TraceEvent& event) {
  const auto above = [](std::string_view what, std::uint64_t value, std::uint64_t count) {
    return value < count ? std::string() : fmt::format("its {} is {}, of {}", what, value, count);
  };
  switch (event.kind) {
    case TraceKind::kernel_pass:
      if (std::string fault = above("descriptor", TracePass::of(event.a).type, kTraceDescriptorKinds); !fault.empty()) {
        return fault;
      }
      return above("link", static_cast<std::uint64_t>(TracePass::of(event.a).link), kTraceLinkCount);
    case TraceKind::entry_linked:
      return above("descriptor", TraceEntry::of(event.b).type, kTraceDescriptorKinds);
    case TraceKind::window_access:
      if (std::string fault = above("epoch", event.b, kTraceEpochCount); !fault.empty()) return fault;
      return above("access", event.a, kTraceAccessCount);
    case TraceKind::window_sync:
      return above("synchronisation", event.a, kTraceSyncCount);
    case TraceKind::shared_write:
    case TraceKind::shared_read:
      return above("operation", event.b & 0xffU, kTraceOperationCount);
    case TraceKind::collective_begin:
      if (std::string fault = above("algorithm", event.b >> 8U & 0xffU, kTraceAlgorithmCount); !fault.empty()) {
        return fault;
      }
      return above("operation", event.b & 0xffU, kTraceOperationCount);
    case TraceKind::mpi_enter:
    case TraceKind::mpi_leave:
    case TraceKind::wait_begin:
    case TraceKind::wait_end:
      return above("thread", event.detail, kMostThreads);
    default:
      return {};
  }
}

}  // namespace

EventCheck::EventCheck(const TraceHeader& header)
    : size_(header.size),
      names_(header.name_count),
      newest_(header.written - 1),
      first_ticks_(header.anchors[0].ticks),
      last_ticks_(header.anchors[header.anchor_count == 0 ? 0 : anchor_slot(header.anchor_count - 1)].ticks) {
  last_ticks_ += std::min(kMostAnchorDistance, ~last_ticks_);
}

std::string EventCheck::fault_of(const TraceEvent& event, std::uint64_t number) {
  const auto kind = static_cast<std::uint16_t>(event.kind);
  if (kind == 0 || kind >= kTraceKindCount) return fmt::format("its kind is {}", kind);
  if (event.wire >= kWires && event.wire != kNoWire) return fmt::format("its wire is {}", event.wire);
  const auto protocol = static_cast<std::uint8_t>(event.protocol);
  if (protocol >= kTraceProtocolCount) return fmt::format("its protocol is {}", protocol);
  if (event.header >= portals::kKindCount && event.header != kNoHeader) {
    return fmt::format("its header is of kind {}", event.header);
  }
  if (!is_reason(event)) return fmt::format("its reason is {}", event.reason);
  const auto saved = static_cast<std::uint8_t>(event.saved);
  if (saved > static_cast<std::uint8_t>(portals::Saved::both)) return fmt::format("its saved is {}", saved);
  // A message has a sender and a receiver; what is about none may leave either open.
  const auto fits = [&](portals::Rank rank) {
    return rank < size_ || (rank == portals::kAnyRank && event.sequence == 0);
  };
  if (!fits(event.source)) return fmt::format("its source is {} of {} ranks", event.source, size_);
  if (!fits(event.destination) && !is_before_delivery(event.kind)) {
    return fmt::format("its destination is {} of {} ranks", event.destination, size_);
  }
  if (names_call(event.kind) && event.a >= std::max(names_, 1U)) {
    return fmt::format("its call is {} of {}", event.a, names_);
  }
  if (std::string fault = fault_of_numbers(event); !fault.empty()) return fault;
  return fault_of_time(event, number);
}

std::string EventCheck::fault_of_time(const TraceEvent& event, std::uint64_t number) {
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

}  // namespace margay::sim
