#include "command/trace/export/timeline.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "command/trace/story/fate.hpp"

namespace margay::command {

namespace {

constexpr std::size_t kNowhere = MessageStory::kNone;

// Finds calls and waits by rank and thread; each is ended by an event that names the same thread.
class SpanFinder {
 public:
  SpanFinder(const Trace& trace, Timeline& timeline) : trace_(trace), timeline_(timeline), ranks_(trace.files.size()) {}

  void run() {
    for (std::size_t i = 0; i < trace_.entries.size(); ++i) look_at(i);
    for (std::vector<TimeSpan>* spans : {&timeline_.calls, &timeline_.waits}) {
      for (TimeSpan& span : *spans) {
        // A rank that was killed or still runs is in this call to its last event.
        if (!span.ended) span.end = ranks_[span.file].last;
      }
    }
  }

 private:
  struct Thread {
    // Indices in timeline.calls: entered and not left.
    std::vector<std::size_t> calls;
    // Index in timeline.waits.
    std::size_t wait = kNowhere;
  };
  struct Rank {
    std::unordered_map<std::uint64_t, Thread> threads;
    std::size_t last = 0;
  };

  void look_at(std::size_t at) {
    const auto& [event, file] = trace_.entries[at];
    ranks_[file].last = at;
    switch (event.kind) {
      case sim::TraceKind::mpi_enter: {
        std::vector<std::size_t>& calls = ranks_[file].threads[event.detail].calls;
        const auto depth = static_cast<unsigned>(calls.size());
        calls.push_back(timeline_.calls.size());
        timeline_.calls.push_back({file, event.detail, at, at, false, depth});
        return;
      }
      case sim::TraceKind::mpi_leave: {
        std::vector<std::size_t>& calls = ranks_[file].threads[event.detail].calls;
        // The beginning of this call was overwritten.
        if (calls.empty()) return;
        end(timeline_.calls[calls.back()], at);
        calls.pop_back();
        return;
      }
      case sim::TraceKind::wait_begin:
        ranks_[file].threads[event.detail].wait = timeline_.waits.size();
        timeline_.waits.push_back({file, event.detail, at, at, false, 0});
        return;
      case sim::TraceKind::wait_end: {
        std::size_t& wait = ranks_[file].threads[event.detail].wait;
        if (wait == kNowhere) return;
        end(timeline_.waits[wait], at);
        wait = kNowhere;
        return;
      }
      default:
        return;
    }
  }
  static void end(TimeSpan& span, std::size_t at) {
    span.end = at;
    span.ended = true;
  }

  const Trace& trace_;
  Timeline& timeline_;
  std::vector<Rank> ranks_;
};

bool sends_header(sim::TraceKind kind) {
  return kind == sim::TraceKind::kernel_send || kind == sim::TraceKind::kernel_ack_sent ||
         kind == sim::TraceKind::kernel_reply_sent;
}
bool takes_header(sim::TraceKind kind) {
  return kind == sim::TraceKind::kernel_arrive || kind == sim::TraceKind::kernel_ack_arrived ||
         kind == sim::TraceKind::kernel_get_arrived;
}

// A hop exists if either end was recorded.
void find_hops(const Trace& trace, const Messages& messages, std::vector<Hop>& hops) {
  std::unordered_map<MessageIdentity, std::size_t, MessageHash> known;
  for (std::size_t i = 0; i < trace.entries.size(); ++i) {
    const sim::TraceEvent& event = trace.entries[i].event;
    if (event.sequence == 0 || (!sends_header(event.kind) && !takes_header(event.kind))) continue;
    const auto [found, is_new] = known.try_emplace(identity(event), hops.size());
    if (is_new) hops.push_back({identity(event), messages.root_of(identity(event)), kNowhere, kNowhere});
    Hop& hop = hops[found->second];
    std::size_t& index = sends_header(event.kind) ? hop.sent : hop.arrived;
    // A damaged trace may repeat an event; the first one counts.
    if (index == kNowhere) index = i;
  }
}

}  // namespace

Timeline timeline_of(const Trace& trace, const Messages& messages) {
  Timeline timeline;
  SpanFinder(trace, timeline).run();
  find_hops(trace, messages, timeline.hops);
  for (std::size_t i = 0; i < trace.entries.size(); ++i) {
    if (trace.entries[i].event.kind == sim::TraceKind::library_event) timeline.library_events.push_back(i);
  }
  return timeline;
}

std::uint64_t thread_of(const ExportSource& source, std::size_t at) {
  const std::size_t call = source.messages.call_around(at);
  return call == MessageStory::kNone ? 0 : source.trace.entries[call].event.detail;
}

const Trace::Entry& about(const Trace& trace, const Hop& hop) {
  return trace.entries[hop.sent != kNowhere ? hop.sent : hop.arrived];
}

std::string_view kind_text(const sim::TraceEvent& event) {
  return event.header < portals::kKindCount ? portals::name(static_cast<portals::Kind>(event.header)) : "unknown";
}

// A tag is shown only for portals whose match bits are an envelope, and not for answers.
MessageRow row_of(const ExportSource& source, const MessageStory& story) {
  const Trace::Entry& entry = about(source.trace, story);
  const sim::TraceEvent& event = entry.event;
  // A send_begin has no portal yet, but MPI sends to the receive portal only.
  const std::uint8_t portal = event.kind == sim::TraceKind::send_begin ? mpi_adi::kReceivePortal : event.portal;
  MessageRow row;
  row.story = &story;
  row.protocol = story.begin == kNowhere ? "" : name(source.trace.entries[story.begin].event.protocol);
  if (row.protocol == "none") row.protocol = "";
  row.fate = fate(source.messages, story);
  const Trace::Entry& described = best_described(source.trace, story);
  row.bytes = described.event.bytes;
  row.what = source.event_text.message(described);
  const bool has_tag =
      source.names.is_envelope(entry.file, portal) && !source.names.is_answer(entry.file, portal, event.match_bits);
  if (has_tag) {
    const auto its = source.names.program_tag(entry.file, event.match_bits, event.time);
    row.tag = fmt::format("{}", its.value_or(split_envelope(event.match_bits).tag));
  }
  if (NamedMessage named = source.names.library_message(entry.file, portal, event.match_bits); !named.fields.empty()) {
    row.tag = named.field("tag");
    row.fields = std::move(named.fields);
  }
  if (portal != portals::kNoPortal) row.portal = source.names.portal(entry.file, portal);
  if (event.wire != sim::kNoWire) row.wire = source.names.wire(event.wire);
  return row;
}

// Extracts the site from the phrase that EventText formats, because only that class resolves addresses.
std::string site_text(const ExportSource& source, const Trace::Entry& enter) {
  const std::string call = call_name(source.trace.files[enter.file], enter.event.a);
  // "CALL (SITE)".
  const std::string with_site = source.event_text.call(enter);
  return with_site.size() < call.size() + 3 ? ""
                                            : with_site.substr(call.size() + 2, with_site.size() - call.size() - 3);
}

std::string microseconds_text(std::uint64_t ns) {
  return fmt::format("{}.{:03}", ns / 1000, ns % 1000);
}

std::uint64_t since_start(const Trace& trace, std::size_t at) {
  return trace.entries[at].event.time - trace.entries.front().event.time;
}

std::string identity_text(const MessageIdentity& message) {
  return fmt::format("{}:{}:{}", message.source, message.destination, sim::number_text(message.sequence));
}

}  // namespace margay::command
