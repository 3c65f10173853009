#include "sim/trace/event.hpp"

#include <array>

namespace margay::sim {

namespace {

// The names, in the order of the enumerations. The assertion below each table detects a missing name. Names are never
// removed.
constexpr std::array<std::string_view, kTraceKindCount> kKindNames = {
    "none",
    "send_begin",
    "kernel_send",
    "kernel_sent",
    "kernel_arrive",
    "kernel_match",
    "kernel_pass",
    "kernel_deposit_begin",
    "kernel_deposit",
    "kernel_ack_sent",
    "kernel_ack_arrived",
    "kernel_get_arrived",
    "kernel_reply_sent",
    "kernel_drop",
    "kernel_hold",
    "post_receive",
    "search_hit",
    "search_miss",
    "receive_complete",
    "request_complete",
    "pull_begin",
    "pull_complete",
    "stop",
    "wait_begin",
    "wait_end",
    "sleep",
    "wake",
    "coprocessor_begin",
    "coprocessor_end",
    "peer_lost",
    "mpi_enter",
    "mpi_leave",
    "take_back",
    "shared_write",
    "shared_read",
    "window_access",
    "window_sync",
    "synchronous_answer",
    "collective_begin",
    "collective_end",
    "given_back",
    "found",
    "entry_linked",
    "entry_unlinked",
    "entry_switched",
    "heap_left",
    "finding",
    "library_event",
    "poll_interval_changed",
};
static_assert(!kKindNames.back().empty());

constexpr std::array<std::string_view, kTraceProtocolCount> kProtocolNames = {
    "none",        "short",      "long",     "long_rendezvous", "synchronous_short", "synchronous_long",
    "ready_short", "ready_long", "buffered",
};
static_assert(!kProtocolNames.back().empty());

constexpr std::array<std::string_view, kTraceChoiceCount> kChoiceNames = {
    "none", "fits_short", "above_short", "mode", "option",
};
static_assert(!kChoiceNames.back().empty());

constexpr std::array<std::string_view, kTraceLinkCount> kLinkNames = {"next", "entry", "drop", "none"};
static_assert(!kLinkNames.back().empty());

constexpr std::array<std::string_view, kTraceAccessCount> kAccessNames = {
    "put", "get", "accumulate", "get_accumulate", "fetch_and_op", "compare_and_swap",
};
static_assert(!kAccessNames.back().empty());

constexpr std::array<std::string_view, kTraceBodyCount> kBodyNames = {
    "none",         "slot", "straight", "cell",  "ring",           "ring_in_parts",
    "ring_instead", "read", "epoll",    "uring", "uring_provided", "virtual",
};
static_assert(!kBodyNames.back().empty());

constexpr std::array<std::string_view, kTraceEpochCount> kEpochNames = {
    "none", "fence", "start", "lock_shared", "lock_exclusive", "lock_all",
};
static_assert(!kEpochNames.back().empty());

constexpr std::array<std::string_view, kTraceSyncCount> kSyncNames = {
    "fence", "post",      "start",       "complete",        "wait", "lock", "unlock", "lock_all", "unlock_all",
    "flush", "flush_all", "flush_local", "flush_local_all", "sync",
};
static_assert(!kSyncNames.back().empty());

constexpr std::array<std::string_view, kTraceProbeCount> kProbeNames = {"MPI_Probe", "MPI_Iprobe", "MPI_Mprobe",
                                                                        "MPI_Improbe"};
static_assert(!kProbeNames.back().empty());

constexpr std::array<std::string_view, kTraceRootCount> kRootNames = {"member", "remote", "here", "another", "of_both"};
static_assert(!kRootNames.back().empty());

// The name for a number, which may come from a file and be beyond the table.
template <std::size_t count, typename Number>
std::string_view lookup(const std::array<std::string_view, count>& names, Number number) {
  const auto index = static_cast<std::size_t>(number);
  return index < count ? names[index] : "unknown";
}

}  // namespace

std::string_view name(TraceKind kind) {
  return lookup(kKindNames, kind);
}
std::string_view name(TraceProtocol protocol) {
  return lookup(kProtocolNames, protocol);
}
std::string_view name(TraceChoice choice) {
  return lookup(kChoiceNames, choice);
}
std::string_view name(TraceLink link) {
  return lookup(kLinkNames, link);
}
std::string_view name(TraceAccess access) {
  return lookup(kAccessNames, access);
}
std::string_view name(TraceBody body) {
  return lookup(kBodyNames, body);
}
std::string_view name(TraceEpoch epoch) {
  return lookup(kEpochNames, epoch);
}
std::string_view name(TraceSync sync) {
  return lookup(kSyncNames, sync);
}

std::string_view name(TraceProbe probe) {
  return lookup(kProbeNames, probe);
}
std::string_view name(TraceRoot root) {
  return lookup(kRootNames, root);
}

// Linear, so it is for options and files, not for each event.
std::optional<TraceKind> trace_kind(std::string_view name) {
  // From 1, because "none" is not the name of an event.
  for (std::size_t i = 1; i < kKindNames.size(); ++i) {
    if (kKindNames[i] == name) return static_cast<TraceKind>(i);
  }
  return std::nullopt;
}

}  // namespace margay::sim
