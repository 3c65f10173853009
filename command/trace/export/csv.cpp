#include "command/trace/export/exports.hpp"

#include <fmt/format.h>

#include <map>
#include <string>
#include <utility>

#include "command/trace/names/text.hpp"
#include "command/trace/story/fate.hpp"

namespace margay::command {

namespace {

// A line under construction.
class CsvLine {
 public:
  CsvLine& add(std::string_view text) {
    line_ += std::exchange(separator_, ",");
    line_ += csv_field(text);
    return *this;
  }
  CsvLine& add_number(std::uint64_t number) { return add(fmt::format("{}", number)); }
  CsvLine& add_rank(portals::Rank rank) { return rank == portals::kAnyRank ? add("") : add_number(rank); }
  CsvLine& add_time(std::uint64_t ns) { return add(microseconds_text(ns)); }
  // An event that is not in the trace leaves the field empty.
  CsvLine& add_moment(const Trace& trace, std::size_t at) {
    return at == MessageStory::kNone ? add("") : add_time(since_start(trace, at));
  }
  // RFC 4180 requires CRLF.
  void put(std::ostream& out) { out << line_ << "\r\n"; }

 private:
  std::string line_;
  std::string_view separator_;
};

// "class=G2; context_id=1".
std::string fields_text(const std::vector<BitField>& fields) {
  std::string text;
  for (const BitField& each : fields) text += (text.empty() ? "" : "; ") + each.key + '=' + each.value;
  return text;
}

}  // namespace

// RFC 4180: quotes are doubled inside quotes.
std::string csv_field(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string field = "\"";
  for (const char letter : text) {
    field += letter;
    if (letter == '"') field += '"';
  }
  return field + '"';
}

// Absent fields are empty, not 0, so that spreadsheets do not count them.
void write_events_csv(const ExportSource& source, std::ostream& out) {
  const Trace& trace = source.trace;
  out << "time_us,rank,kind,source,destination,sequence,header,portal,wire,protocol,reason,saved,bytes,match_bits,"
         "detail,a,b,"
         "words\r\n";
  for (std::size_t i = 0; i < trace.entries.size(); ++i) {
    const auto& [event, file] = trace.entries[i];
    CsvLine line;
    line.add_moment(trace, i).add_number(trace.files[file].rank).add(name(event.kind));
    line.add_rank(event.source).add_rank(event.destination);
    event.sequence == 0 ? line.add("") : line.add(sim::number_text(event.sequence));
    line.add(event.header == sim::kNoHeader ? "" : kind_text(event));
    event.portal == portals::kNoPortal ? line.add("") : line.add_number(event.portal);
    line.add(event.wire == sim::kNoWire ? "" : source.names.wire(event.wire));
    line.add(event.protocol == sim::TraceProtocol::none ? "" : name(event.protocol)).add(reason_text(event));
    line.add_number(static_cast<std::uint64_t>(event.saved)).add_number(event.bytes);
    line.add(fmt::format("0x{:016x}", event.match_bits))
        .add_number(event.detail)
        .add_number(event.a)
        .add_number(event.b);
    const sim::TraceEvent* const arrival =
        event.kind == sim::TraceKind::kernel_pass ? source.messages.arrival(identity(event)) : nullptr;
    line.add(source.event_text.of(trace.entries[i], arrival)).put(out);
  }
}

// All moments are times since the trace's first event, so that a reader can compute any difference.
void write_messages_csv(const ExportSource& source, const std::vector<MessageStory>& stories, std::ostream& out) {
  const Trace& trace = source.trace;
  out << "source,destination,sequence,begin_us,sent_us,arrived_us,posted_us,matched_us,received_us,completed_us,took_"
         "us,"
         "bytes,tag,protocol,how,wire,portal,fields,what\r\n";
  for (const MessageStory& story : stories) {
    const MessageRow row = row_of(source, story);
    CsvLine line;
    line.add_number(story.identity.source).add_number(story.identity.destination);
    line.add(sim::number_text(story.identity.sequence));
    for (const std::size_t at :
         {story.begin, story.sent, story.arrived, story.posted, story.matched, story.received, story.completed}) {
      line.add_moment(trace, at);
    }
    line.add_time(duration_ns(trace, story)).add_number(row.bytes).add(row.tag).add(row.protocol).add(row.fate);
    line.add(row.wire).add(row.portal).add(fields_text(row.fields)).add(row.what).put(out);
  }
}

// Waits are added up per call: a call may wait more than once.
void write_calls_csv(const ExportSource& source, std::ostream& out) {
  const Trace& trace = source.trace;
  const Timeline timeline = timeline_of(trace, source.messages);
  // Waiting time by the mpi_enter of the innermost call around the wait's beginning.
  std::map<std::size_t, std::uint64_t> waited;
  for (const TimeSpan& wait : timeline.waits) {
    // A wait outside of any call is added under kNone, which no row reads.
    const std::size_t call = source.messages.call_around(wait.begin);
    waited[call] += trace.entries[wait.end].event.time - trace.entries[wait.begin].event.time;
  }
  out << "rank,thread,call,depth,begin_us,end_us,took_us,waited_us,error_class,from\r\n";
  for (const TimeSpan& call : timeline.calls) {
    const TraceFile& file = trace.files[call.file];
    const Trace::Entry& entry = trace.entries[call.begin];
    CsvLine line;
    line.add_number(file.rank)
        .add_number(call.thread)
        .add(call_name(file, entry.event.a))
        .add_number(call.depth)
        .add_moment(trace, call.begin);
    line.add_moment(trace, call.ended ? call.end : MessageStory::kNone);
    call.ended ? line.add_time(trace.entries[call.end].event.time - entry.event.time) : line.add("");
    const auto found = waited.find(call.begin);
    line.add_time(found == waited.end() ? 0 : found->second);
    call.ended ? line.add_number(trace.entries[call.end].event.b) : line.add("");
    line.add(site_text(source, entry)).put(out);
  }
}

}  // namespace margay::command
