#include "command/trace/export/exports.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <utility>

#include "sim/base/text.hpp"

namespace margay::command {

namespace {

using Json = nlohmann::ordered_json;

// Writes events one by one, so memory does not grow with the trace.
class ChromeWriter {
 public:
  ChromeWriter(const ExportSource& source, std::ostream& out) : source_(source), trace_(source.trace), out_(out) {}

  void run(const std::vector<MessageStory>& stories) {
    const Timeline timeline = timeline_of(trace_, source_.messages);
    out_ << "{\"displayTimeUnit\": \"ns\",\n\"traceEvents\": [";
    name_ranks(timeline);
    for (const TimeSpan& call : timeline.calls) put_call(call);
    for (const TimeSpan& wait : timeline.waits) put_wait(wait);
    for (const std::size_t at : timeline.library_events) put_library_event(at);
    for (const MessageStory& story : stories) put_message(story);
    out_ << "\n]}\n";
  }

 private:
  void put(const Json& event) {
    out_ << (first_ ? "\n" : ",\n") << event.dump(-1, ' ', false, Json::error_handler_t::replace);
    first_ = false;
  }
  // Microseconds. The shortest decimal of the double has all nanoseconds up to 2^43 us, 101 days: below that, doubles
  // are less than 1 ns apart.
  [[nodiscard]] double at_us(std::size_t at) const { return static_cast<double>(since_start(trace_, at)) / 1000.0; }
  // A rank is a process of the format, and each thread of the rank is a thread of this process, so that the viewer
  // groups lanes by rank.
  [[nodiscard]] Json event_at_location(std::string_view phase, std::string_view name, std::string_view category,
                                       std::size_t at, std::uint64_t thread) const {
    return {{"name", name},
            {"cat", category},
            {"ph", phase},
            {"ts", at_us(at)},
            {"pid", trace_.files[trace_.entries[at].file].rank},
            {"tid", thread}};
  }
  // A complete event ("X") needs no matching end, so an unfinished call has a length too.
  [[nodiscard]] Json span(const TimeSpan& span, std::string_view name, std::string_view category) const {
    Json event = event_at_location("X", name, category, span.begin, span.thread);
    const std::uint64_t took = since_start(trace_, span.end) - since_start(trace_, span.begin);
    event["dur"] = static_cast<double>(took) / 1000.0;
    if (!span.ended) event["args"]["never_ended"] = true;
    return event;
  }

  // Metadata events give ranks and threads their names; a lane without one would show a number.
  void name_ranks(const Timeline& timeline) {
    std::set<std::pair<std::uint32_t, std::uint64_t>> threads;
    for (const TimeSpan& call : timeline.calls) threads.emplace(call.file, call.thread);
    for (std::uint32_t i = 0; i < trace_.files.size(); ++i) {
      const TraceFile& file = trace_.files[i];
      threads.emplace(i, 0);
      Json args = {{"name", fmt::format("rank {} on node {}", file.rank, file.node)}};
      put({{"name", "process_name"}, {"ph", "M"}, {"pid", file.rank}, {"args", args}});
      put({{"name", "process_sort_index"}, {"ph", "M"}, {"pid", file.rank}, {"args", {{"sort_index", file.rank}}}});
      args = {{"process_id", file.process_id},
              {"events", file.written},
              {"events_lost", file.lost},
              {"closed", file.closed}};
      put({{"name", "process_labels"},
           {"ph", "M"},
           {"pid", file.rank},
           {"args",
            {{"labels", file.lost == 0
                            ? ""
                            : fmt::format("the first {} lost", sim::counted(file.lost, "event is", "events are"))}}}});
      put({{"name", "recording"}, {"ph", "i"}, {"s", "p"}, {"ts", 0}, {"pid", file.rank}, {"tid", 0}, {"args", args}});
    }
    for (const auto& [file, thread] : threads) {
      put({{"name", "thread_name"},
           {"ph", "M"},
           {"pid", trace_.files[file].rank},
           {"tid", thread},
           {"args", {{"name", thread == 0 ? "MPI_Init's thread" : fmt::format("thread {}", thread)}}}});
    }
  }

  void put_call(const TimeSpan& call) {
    const Trace::Entry& entry = trace_.entries[call.begin];
    const std::string name = call_name(trace_.files[call.file], entry.event.a);
    Json event = span(call, name, "call");
    if (const std::string site = site_text(source_, entry); !site.empty()) event["args"]["from"] = site;
    if (call.ended && trace_.entries[call.end].event.b != 0) {
      event["args"]["error_class"] = trace_.entries[call.end].event.b;
    }
    put(event);
  }

  void put_wait(const TimeSpan& wait) { put(span(wait, "waiting", "wait")); }

  // An instant in the thread whose call recorded it.
  void put_library_event(std::size_t at) {
    const sim::TraceEvent& traced = trace_.entries[at].event;
    Json event =
        event_at_location("i", source_.event_text.of(trace_.entries[at]), "library", at, thread_of(source_, at));
    event["s"] = "t";
    if (traced.sequence != 0) event["args"]["message"] = identity_text(identity(traced));
    put(event);
  }

  // An arrow needs both ends, a bar does not.
  void put_message(const MessageStory& story) {
    const MessageRow row = row_of(source_, story);
    const std::string id = identity_text(story.identity);
    const std::string name = fmt::format("{}>{} #{}", story.identity.source, story.identity.destination,
                                         sim::number_text(story.identity.sequence));
    const std::size_t from = story.sent;
    // The message ends when the program receives it, or at its arrival if no receive took it.
    const std::size_t to = story.received != MessageStory::kNone ? story.received : story.arrived;
    if (from != MessageStory::kNone && to != MessageStory::kNone) {
      Json arrow = event_at_location("s", "message", "message", from, thread_of(source_, from));
      arrow["id"] = id;
      put(arrow);
      arrow = event_at_location("f", "message", "message", to, thread_of(source_, to));
      arrow["id"] = id;
      // Binds the arrow to the slice around it, not to the next one.
      arrow["bp"] = "e";
      put(arrow);
    }
    Json bar = event_at_location("b", name, "messages", from != MessageStory::kNone ? from : story.steps.front(), 0);
    bar["id"] = id;
    bar["args"] = {{"message", id},        {"bytes", row.bytes},       {"what", row.what},
                   {"portal", row.portal}, {"protocol", row.protocol}, {"how", row.fate},
                   {"wire", row.wire}};
    if (!row.tag.empty()) bar["args"]["tag"] = row.tag;
    // Both ends of the bar must have the sender's process, although the message ends at the receiver.
    const Json pid = bar["pid"];
    put(bar);
    bar = event_at_location("e", name, "messages", to != MessageStory::kNone ? to : story.steps.back(), 0);
    bar["id"] = id;
    bar["pid"] = pid;
    put(bar);
  }

  const ExportSource& source_;
  const Trace& trace_;
  std::ostream& out_;
  bool first_ = true;
};

}  // namespace

void write_chrome(const ExportSource& source, const std::vector<MessageStory>& stories, std::ostream& out) {
  ChromeWriter(source, out).run(stories);
}

}  // namespace margay::command
