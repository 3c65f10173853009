#include "command/trace/read/event_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "collectives/cost/facts.hpp"
#include "mpi_adi/rma/window.hpp"
#include "portals/base/header.hpp"
#include "portals/base/verdict.hpp"
#include "sim/trace/definition.hpp"

namespace margay::command {

namespace {

// Threads of a rank read the counters of different processors. 1.6 ms at 2.6 GHz: far more than these can differ by.
constexpr std::uint64_t kTickSlack = std::uint64_t{1} << 22;
constexpr std::uint8_t kPassedCount = static_cast<std::uint8_t>(portals::Passed::taken) + 1;
constexpr std::uint8_t kWires = 4;
constexpr std::uint64_t kMostThreads = std::uint64_t{1} << 32;

// They bear the time at which their step began, and others have been recorded since.
bool bears_earlier_time(sim::TraceKind kind) {
  return kind == sim::TraceKind::send_begin || kind == sim::TraceKind::kernel_send ||
         kind == sim::TraceKind::kernel_reply_sent || kind == sim::TraceKind::coprocessor_begin;
}

// The destination that a header names is not yet known to be there.
bool is_before_delivery(sim::TraceKind kind) {
  return kind == sim::TraceKind::kernel_arrive || kind == sim::TraceKind::kernel_get_arrived ||
         kind == sim::TraceKind::kernel_ack_arrived || kind == sim::TraceKind::kernel_drop ||
         kind == sim::TraceKind::kernel_hold;
}

bool names_call(sim::TraceKind kind) {
  return kind == sim::TraceKind::mpi_enter || kind == sim::TraceKind::mpi_leave || kind == sim::TraceKind::wait_begin ||
         kind == sim::TraceKind::wait_end;
}

bool is_reason(const sim::TraceEvent& event) {
  if (sim::tells_body(event.kind)) return static_cast<std::uint8_t>(sim::body_way(event.reason)) < sim::kTraceBodyCount;
  switch (event.kind) {
    case sim::TraceKind::send_begin:
      return event.reason < sim::kTraceChoiceCount;
    case sim::TraceKind::kernel_pass:
      return event.reason < kPassedCount;
    case sim::TraceKind::kernel_match:
      return (event.reason & ((1U << sim::kTraceDescriptorShift) - 1)) <=
                 (sim::kTraceWalkByIndex | sim::kTraceWalkCut) &&
             sim::matched_descriptor(event.reason) < sim::kTraceDescriptorKinds;
    case sim::TraceKind::entry_linked:
    case sim::TraceKind::entry_unlinked:
    case sim::TraceKind::entry_switched:
      return event.reason <= sim::kTraceEntryFlags;
    case sim::TraceKind::heap_left:
      return event.reason <= sim::kTraceHeapDestroyed;
    case sim::TraceKind::window_access:
      return event.reason < mpi_adi::kWindowWays;
    case sim::TraceKind::collective_begin:
      return event.reason < sim::kTraceRootCount;
    case sim::TraceKind::found:
      return event.reason < sim::kTraceProbeCount;
    case sim::TraceKind::search_hit:
      return event.reason <= 1;
    case sim::TraceKind::request_complete:
      return event.reason <= sim::kTraceCancelled;
    case sim::TraceKind::given_back:
      return event.reason >= static_cast<std::uint8_t>(sim::TraceGivenBack::cancelled) &&
             event.reason <= static_cast<std::uint8_t>(sim::TraceGivenBack::freed);
    default:
      return event.reason < portals::kDropReasonCount;
  }
}

// What `a`, `b` and `detail` of the kinds that number things by an enumeration say.
std::string fault_of_numbers(const sim::TraceEvent& event) {
  const auto above = [](std::string_view what, std::uint64_t value, std::uint64_t count) {
    return value < count ? std::string() : fmt::format("its {} is {}, of {}", what, value, count);
  };
  switch (event.kind) {
    case sim::TraceKind::kernel_pass:
      if (std::string fault = above("descriptor", sim::TracePass::of(event.a).type, sim::kTraceDescriptorKinds);
          !fault.empty()) {
        return fault;
      }
      return above("link", static_cast<std::uint64_t>(sim::TracePass::of(event.a).link), sim::kTraceLinkCount);
    case sim::TraceKind::entry_linked:
      return above("descriptor", sim::TraceEntry::of(event.b).type, sim::kTraceDescriptorKinds);
    case sim::TraceKind::window_access:
      if (std::string fault = above("epoch", event.b, sim::kTraceEpochCount); !fault.empty()) return fault;
      return above("access", event.a, sim::kTraceAccessCount);
    case sim::TraceKind::window_sync:
      return above("synchronisation", event.a, sim::kTraceSyncCount);
    case sim::TraceKind::shared_write:
    case sim::TraceKind::shared_read:
      return above("operation", event.b & 0xffU, collectives::kOperationCount + 1);
    case sim::TraceKind::collective_begin:
      if (std::string fault = above("algorithm", event.b >> 8U & 0xffU, collectives::kAlgorithmCount); !fault.empty()) {
        return fault;
      }
      return above("operation", event.b & 0xffU, collectives::kOperationCount + 1);
    case sim::TraceKind::mpi_enter:
    case sim::TraceKind::mpi_leave:
    case sim::TraceKind::wait_begin:
    case sim::TraceKind::wait_end:
      return above("thread", event.detail, kMostThreads);
    default:
      return {};
  }
}

}  // namespace

EventCheck::EventCheck(const sim::TraceHeader& header)
    : size_(header.size),
      names_(header.name_count),
      newest_(header.written - 1),
      first_ticks_(header.anchors[0].ticks),
      last_ticks_(header.anchors[header.anchor_count == 0 ? 0 : sim::anchor_slot(header.anchor_count - 1)].ticks) {
  last_ticks_ += std::min(sim::kMostAnchorDistance, ~last_ticks_);
}

std::string EventCheck::fault_of(const sim::TraceEvent& event, std::uint64_t number) {
  const auto kind = static_cast<std::uint16_t>(event.kind);
  if (kind == 0 || kind >= sim::kTraceKindCount) return fmt::format("its kind is {}", kind);
  if (event.wire >= kWires && event.wire != sim::kNoWire) return fmt::format("its wire is {}", event.wire);
  const auto protocol = static_cast<std::uint8_t>(event.protocol);
  if (protocol >= sim::kTraceProtocolCount) return fmt::format("its protocol is {}", protocol);
  if (event.header >= portals::kKindCount && event.header != sim::kNoHeader) {
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
