#include "command/trace/names/text.hpp"

#include <fmt/core.h>
#include <fmt/format.h>

#include "portals/base/verdict.hpp"
#include "sim/base/counted.hpp"

namespace margay::command {

namespace {

// Gathers ", "-separated words.
class Words {
 public:
  template <typename... Values>
  void add(fmt::format_string<Values...> format, Values&&... values) {
    if (!text_.empty()) text_ += ", ";
    fmt::format_to(std::back_inserter(text_), format, std::forward<Values>(values)...);
  }
  [[nodiscard]] std::string take() { return std::move(text_); }

 private:
  std::string text_;
};

std::string rank_text(portals::Rank rank) {
  return rank == portals::kAnyRank ? "any" : fmt::format("{}", rank);
}

void add_message_fields(Words& words, const sim::TraceEvent& event, WireName wire_name) {
  if (event.header < portals::kKindCount) words.add("{}", name(static_cast<portals::Kind>(event.header)));
  if (event.protocol != sim::TraceProtocol::none) words.add("{}", name(event.protocol));
  if (const std::string_view reason = reason_text(event); !reason.empty()) words.add("because {}", reason);
  if (event.portal != portals::kNoPortal) words.add("portal {}", event.portal);
  if (event.wire != sim::kNoWire) {
    if (wire_name != nullptr) {
      words.add("{}", wire_name(event.wire));
    } else {
      words.add("wire {}", event.wire);
    }
  }
  if (event.saved == portals::Saved::nothing) return;
  if (event.saved <= portals::Saved::both) {
    words.add("saved {}", name(event.saved));
  } else {
    words.add("saved {}", static_cast<unsigned>(event.saved));
  }
}

bool tells_bytes(const sim::TraceEvent& event) {
  if (event.kind == sim::TraceKind::kernel_pass || event.kind == sim::TraceKind::entry_linked)
    return false;  // bits there
  return event.bytes != 0 || event.header != sim::kNoHeader;
}

// A call, and the thread that is in it where a rank has several.
void add_call(Words& words, const TraceFile& file, const sim::TraceEvent& event) {
  words.add("{}", call_name(file, event.a));
  if (event.detail != 0) words.add("thread {}", event.detail);
}

void add_pass(Words& words, const sim::TraceEvent& event) {
  const sim::TracePass pass = sim::TracePass::of(event.a);
  words.add("ignores 0x{:016x}, entry {}, step {}, owner {}, link {}", event.bytes, event.detail, pass.step, pass.owner,
            name(pass.link));
  if (pass.type != 0) words.add("descriptor {}", pass.type - 1);
  if (event.reason != static_cast<std::uint8_t>(portals::Passed::too_small)) {
    words.add("from {}", rank_text(event.b));
  } else if (event.b != sim::kTraceRoomUnknown) {
    words.add("room {}", event.b);
  }
}

void add_walk(Words& words, const sim::TraceEvent& event) {
  const bool is_taken = event.kind == sim::TraceKind::kernel_match;
  if (!is_taken && event.a == 0) return;
  const std::uint32_t how = is_taken ? event.reason : event.b;
  if (is_taken) words.add("entry {}", event.detail);
  if (is_taken && sim::matched_descriptor(event.reason) != 0)
    words.add("descriptor {}", sim::matched_descriptor(event.reason) - 1);
  words.add("{}{} visited{}", (how & sim::kTraceWalkCut) != 0 ? "at least " : "", event.a,
            (how & sim::kTraceWalkByIndex) != 0 ? " but for the index" : "");
}

// Of the arrival of a put or a get.
void add_place(Words& words, const sim::TraceEvent& event) {
  const bool is_reply = event.header == static_cast<std::uint8_t>(portals::Kind::reply);
  if (event.detail != 0 && !is_reply) words.add("for offset {}", event.detail);
}

// Of collective calls and windows; what is told of the rank alone.
void add_call_fields(Words& words, const sim::TraceEvent& event) {
  switch (event.kind) {
    case sim::TraceKind::shared_write:
    case sim::TraceKind::shared_read:
      words.add("collective call {}", event.a);
      break;
    case sim::TraceKind::window_access:
      words.add("at offset {}, window {}, {}, epoch {}, by {}", event.detail, event.match_bits >> 32,
                name(static_cast<sim::TraceAccess>(event.a)), name(static_cast<sim::TraceEpoch>(event.b)),
                name(static_cast<mpi_adi::WindowWay>(event.reason)));
      break;
    case sim::TraceKind::window_sync:
      words.add("window {}, {}", event.match_bits >> 32, name(static_cast<sim::TraceSync>(event.a)));
      break;
    case sim::TraceKind::collective_begin:
      words.add("call {}, root {} ({})", event.a, event.b >> 16U, name(static_cast<sim::TraceRoot>(event.reason)));
      break;
    case sim::TraceKind::entry_linked: {
      const sim::TraceEntry entry = sim::TraceEntry::of(event.b);
      words.add("ignores 0x{:016x}, entry {}, before {}, descriptor {}, heap {}, flags {}, from {}", event.bytes,
                event.detail, event.a, entry.type - 1, entry.heap, event.reason, rank_text(event.source));
      break;
    }
    case sim::TraceKind::entry_unlinked:
    case sim::TraceKind::entry_switched:
      words.add("entry {}, flags {}", event.detail, event.reason);
      break;
    case sim::TraceKind::heap_left:
      words.add("heap {}, {}", event.a,
                event.reason == sim::kTraceHeapDestroyed  ? "dropped with it"
                : event.reason == sim::kTraceHeapReleased ? "released"
                                                          : "off the queue");
      break;
    case sim::TraceKind::coprocessor_end:
      words.add("{}", sim::counted(event.a, "message"));
      break;
    default:
      break;
  }
}

// What `detail`, `a` and `b` mean is each kind's own.
void add_own_fields(Words& words, const TraceFile& file, const sim::TraceEvent& event) {
  switch (event.kind) {
    case sim::TraceKind::kernel_match:
    case sim::TraceKind::kernel_drop:
    case sim::TraceKind::kernel_hold:
      add_walk(words, event);
      break;
    case sim::TraceKind::kernel_pass:
      add_pass(words, event);
      break;
    case sim::TraceKind::kernel_arrive:
    case sim::TraceKind::kernel_get_arrived:
      add_place(words, event);
      break;
    case sim::TraceKind::kernel_deposit_begin:
    case sim::TraceKind::kernel_deposit:
      if (event.detail != 0) words.add("at offset {}", event.detail);
      break;
    case sim::TraceKind::kernel_ack_sent:
    case sim::TraceKind::kernel_ack_arrived:
    case sim::TraceKind::kernel_reply_sent:
      if (event.detail != 0) {
        words.add("answers {}>{} #{}", rank_text(event.destination), rank_text(event.source), event.detail);
      }
      break;
    case sim::TraceKind::post_receive:
      words.add("ignore 0x{:016x}, request {}", event.detail, event.a);
      break;
    case sim::TraceKind::found:
      words.add("{}, {} in vain before", name(static_cast<sim::TraceProbe>(event.reason)),
                sim::counted(event.a, "poll"));
      break;
    case sim::TraceKind::search_hit:
      if (event.reason != 0) words.add("taken out before");
      if (event.a != 0) words.add("request {}", event.a);
      break;
    case sim::TraceKind::request_complete:
      if (event.reason == sim::kTraceCancelled) words.add("cancelled");
      if (event.b != 0) words.add("error class {}", event.b);
      [[fallthrough]];
    case sim::TraceKind::send_begin:
    case sim::TraceKind::search_miss:
    case sim::TraceKind::receive_complete:
    case sim::TraceKind::pull_begin:
    case sim::TraceKind::pull_complete:
      if (event.a != 0 && event.a != sim::kTraceNoRequest) words.add("request {}", event.a);
      break;
    case sim::TraceKind::wait_begin:
    case sim::TraceKind::wait_end:
    case sim::TraceKind::mpi_enter:
      add_call(words, file, event);
      break;
    case sim::TraceKind::mpi_leave:
      add_call(words, file, event);
      if (event.b != 0) words.add("error class {}", event.b);
      if (event.reason != 0) words.add("fatal");
      break;
    case sim::TraceKind::sleep:
      if (event.detail != 0) words.add("at most {} ns", event.detail);
      break;
    default:
      add_call_fields(words, event);
  }
}

}  // namespace

std::string_view body_text(const sim::TraceEvent& event) {
  const sim::TraceBody way = sim::body_way(event.reason);
  return !sim::tells_body(event.kind) || way == sim::TraceBody::none ? "" : name(way);
}

namespace {

// Of other kinds it is a way, how the walk went, how a root is named.
bool is_drop_reason(sim::TraceKind kind) {
  switch (kind) {
    case sim::TraceKind::window_access:
    case sim::TraceKind::kernel_match:
    case sim::TraceKind::search_hit:
    case sim::TraceKind::entry_linked:
    case sim::TraceKind::entry_unlinked:
    case sim::TraceKind::entry_switched:
    case sim::TraceKind::heap_left:
    case sim::TraceKind::request_complete:
    case sim::TraceKind::collective_begin:
    case sim::TraceKind::found:
      return false;
    default:
      return !sim::tells_body(kind);
  }
}

}  // namespace

std::string_view reason_text(const sim::TraceEvent& event) {
  if (event.kind == sim::TraceKind::send_begin)
    return event.reason == 0 ? "" : name(static_cast<sim::TraceChoice>(event.reason));
  if (event.kind == sim::TraceKind::kernel_pass) {
    const auto passed = static_cast<portals::Passed>(event.reason);
    return passed <= portals::Passed::taken ? name(passed) : "unknown";
  }
  if (event.reason == 0 || !is_drop_reason(event.kind)) return "";
  return event.reason < portals::kDropReasonCount ? name(static_cast<portals::DropReason>(event.reason)) : "unknown";
}

std::string time_text(std::uint64_t time_ns, std::uint64_t origin_ns) {
  const bool early = time_ns < origin_ns;
  const std::uint64_t distance_ns = early ? origin_ns - time_ns : time_ns - origin_ns;
  return fmt::format("{}{}.{:03}", early ? "-" : "", distance_ns / 1000, distance_ns % 1000);
}

std::string message_text(const sim::TraceEvent& event) {
  if (event.source == portals::kAnyRank && event.destination == portals::kAnyRank) return "";
  if (event.kind == sim::TraceKind::entry_linked) return "";  // about no message: its source is what the entry accepts
  std::string text = rank_text(event.source) + ">" + rank_text(event.destination);
  if (event.sequence != 0) text += fmt::format(" #{}", event.sequence);
  return text;
}

std::string text_heading() {
  return fmt::format("{:>14} {:>5}  {:<20}  {:<14}  {}", "microseconds", "rank", "event", "message", "what");
}

std::string text_line(const Trace& trace, const Trace::Entry& entry, std::uint64_t origin_ns, WireName wire_name) {
  const sim::TraceEvent& event = entry.event;
  const TraceFile& file = trace.files[entry.file];
  Words words;
  add_message_fields(words, event, wire_name);
  if (tells_bytes(event)) words.add("{}", sim::counted(event.bytes, "byte"));
  if (event.match_bits != 0) words.add("bits 0x{:016x}", event.match_bits);
  add_own_fields(words, file, event);
  if (const std::string_view body = body_text(event); !body.empty()) words.add("body by {}", body);
  const std::string kind = static_cast<std::uint16_t>(event.kind) < sim::kTraceKindCount
                               ? std::string(name(event.kind))
                               : fmt::format("kind {}", static_cast<std::uint16_t>(event.kind));
  std::string line = fmt::format("{:>14} {:>5}  {:<20}  {:<14}  {}", time_text(event.time, origin_ns), file.rank, kind,
                                 message_text(event), words.take());
  line.erase(line.find_last_not_of(' ') + 1);
  return line;
}

}  // namespace margay::command
