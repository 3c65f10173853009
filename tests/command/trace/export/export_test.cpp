// Tests of exports in text formats, from hand-made traces.
#include <doctest/doctest.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>
#include <ostream>
#include <sstream>
#include <string>
#include <vector>

#include "command/trace/export/exports.hpp"
#include "command/trace/export/timeline.hpp"
#include "tests/command/hand_made_trace.hpp"

namespace margay::command::test {
namespace {

// The parts of a trace that the formats get.
class Exported {
 public:
  explicit Exported(const Trace& trace) : names_(trace), messages_(trace), event_text_(trace, names_) {
    for (const MessageIdentity& root : messages_.roots()) stories.push_back(messages_.story(root));
    source_ = std::make_unique<ExportSource>(ExportSource{trace, names_, messages_, event_text_});
  }
  [[nodiscard]] const ExportSource& source() const { return *source_; }
  template <typename Write>
  [[nodiscard]] std::string text(const Write& write) const {
    std::ostringstream out;
    write(out);
    return out.str();
  }

  std::vector<MessageStory> stories;

 private:
  TraceNames names_;
  Messages messages_;
  EventText event_text_;
  std::unique_ptr<ExportSource> source_;
};

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

nlohmann::json chrome_events(const Trace& trace) {
  const Exported exported(trace);
  const std::string text =
      exported.text([&](std::ostream& out) { write_chrome(exported.source(), exported.stories, out); });
  return nlohmann::json::parse(text).at("traceEvents");
}

// The only event with these values.
nlohmann::json only(const nlohmann::json& events, const std::string& phase, const std::string& name) {
  std::vector<nlohmann::json> found;
  std::copy_if(events.begin(), events.end(), std::back_inserter(found),
               [&](const nlohmann::json& event) { return event.at("ph") == phase && event.at("name") == name; });
  REQUIRE_EQ(found.size(), 1);
  return found.front();
}

}  // namespace

TEST_CASE("export: a timeline has each call with its end, and each hop with the message that it serves") {
  const made::HandMade made = made::pulled();
  const Messages messages(made.trace);
  const Timeline timeline = timeline_of(made.trace, messages);
  REQUIRE_EQ(timeline.calls.size(), 2);
  CHECK(timeline.calls[0].ended);
  CHECK_EQ(timeline.calls[0].file, 0);
  CHECK_EQ(timeline.calls[0].end, made.trace.entries.size() - 1);
  REQUIRE_EQ(timeline.hops.size(), 4);
  for (const Hop& hop : timeline.hops) {
    CHECK(hop.root == made::kMessage);
    CHECK(made.trace.entries[hop.sent].event.time < made.trace.entries[hop.arrived].event.time);
  }
  CHECK(timeline.hops[2].identity == made::kGet);
}

TEST_CASE("export: a call that was never left lasts until its rank's end, and nested calls have a depth") {
  made::HandMade made;
  made.add(0, sim::TraceKind::mpi_leave).a = 0;  // its begin was overwritten
  made.add(0, sim::TraceKind::mpi_enter).a = 0;
  made.add(0, sim::TraceKind::mpi_enter).a = 1;
  made.add(0, sim::TraceKind::wait_begin).a = 1;
  made.add(1, sim::TraceKind::mpi_enter).a = 1;
  made.add(0, sim::TraceKind::wait_end).detail = 7;  // of a thread that did not wait
  const Messages messages(made.trace);
  const Timeline timeline = timeline_of(made.trace, messages);
  REQUIRE_EQ(timeline.calls.size(), 3);
  CHECK_EQ(timeline.calls[1].depth, 1);
  CHECK_EQ(timeline.calls[2].depth, 0);
  for (const TimeSpan& call : timeline.calls) CHECK_FALSE(call.ended);
  CHECK_EQ(timeline.calls[0].end, 5);
  CHECK_EQ(timeline.calls[2].end, 4);
  REQUIRE_EQ(timeline.waits.size(), 1);
  CHECK_FALSE(timeline.waits[0].ended);
}

TEST_CASE("export: Chrome's events are calls in microseconds, an arrow from send to receive, a bar") {
  const made::HandMade made = made::pulled();
  const nlohmann::json events = chrome_events(made.trace);
  const nlohmann::json send = only(events, "X", "MPI_Send");
  CHECK_EQ(send.at("pid"), 0);
  CHECK_EQ(send.at("ts"), 0.0);
  CHECK_EQ(send.at("dur"), static_cast<double>(made.trace.entries.size() - 1));
  const nlohmann::json from = only(events, "s", "message");
  const nlohmann::json to = only(events, "f", "message");
  CHECK_EQ(from.at("id"), "0:1:5");
  CHECK_EQ(to.at("id"), from.at("id"));
  CHECK_EQ(from.at("pid"), 0);
  CHECK_EQ(to.at("pid"), 1);
  CHECK_EQ(from.at("ts"), 2.0);
  const nlohmann::json bar = only(events, "b", "0>1 #5");
  CHECK_EQ(bar.at("args").at("bytes"), 40000);
  CHECK_EQ(bar.at("args").at("tag"), "7");
  CHECK_EQ(bar.at("args").at("how"), "unexpected, pulled");
  CHECK_EQ(bar.at("pid"), 0);
  CHECK_EQ(only(events, "e", "0>1 #5").at("pid"), 0);
}

TEST_CASE("export: microseconds keep the nanoseconds") {
  made::HandMade made;
  made.add(0, sim::TraceKind::mpi_enter).time = 1;
  made.add(0, sim::TraceKind::mpi_leave).time = 86'400'000'000'004;  // a day
  const nlohmann::json call = only(chrome_events(made.trace), "X", "MPI_Send");
  CHECK_EQ(call.at("dur").dump(), "86400000000.003");
}

TEST_CASE("export: a field of CSV is quoted if necessary") {
  CHECK_EQ(csv_field("plain"), "plain");
  CHECK_EQ(csv_field("a,b"), "\"a,b\"");
  CHECK_EQ(csv_field("the \"x\""), "\"the \"\"x\"\"\"");
}

TEST_CASE("export: CSV has a line for each message, call and event") {
  const made::HandMade made = made::pulled();
  const Exported exported(made.trace);
  const auto messages =
      lines_of(exported.text([&](std::ostream& out) { write_messages_csv(exported.source(), exported.stories, out); }));
  REQUIRE_EQ(messages.size(), 2);
  CHECK_EQ(messages[1],
           "0,1,5,1.000,2.000,3.000,10.000,5.000,18.000,20.000,19.000,40000,7,long,\"unexpected, pulled\",wire 1,"
           "portal 0 (receives),,\"10000 x MPI_INT, tag 7 from 0 in MPI_COMM_WORLD\"\r");
  const auto calls = lines_of(exported.text([&](std::ostream& out) { write_calls_csv(exported.source(), out); }));
  REQUIRE_EQ(calls.size(), 3);
  CHECK_EQ(calls[2], "1,0,MPI_Recv,0,9.000,19.000,10.000,0.000,0,\r");
  const auto events = lines_of(exported.text([&](std::ostream& out) { write_events_csv(exported.source(), out); }));
  REQUIRE_EQ(events.size(), made.trace.entries.size() + 1);
  const auto columns = [](const std::string& line) { return std::count(line.begin(), line.end(), ','); };
  CHECK_EQ(columns(events[1]), columns(events[0]));  // a line without commas in its texts
}

TEST_CASE("export: JSON has every event with its fields by their names, and describes them") {
  const made::HandMade made = made::pulled();
  std::ostringstream out;
  write_json(made.trace, out);
  const nlohmann::json json = nlohmann::json::parse(out.str());
  CHECK(json.at("version") == 1);
  CHECK(json.at("kinds").size() == sim::kTraceKindCount - 1U);
  CHECK(json.at("ranks").size() == made.trace.files.size());
  CHECK(json.at("ranks").at(1).at("definitions").at(2).at("text") == "receives");
  CHECK(json.at("ranks").at(1).at("definitions").at(2).at("kind") == "portal");
  const nlohmann::json& events = json.at("events");
  REQUIRE(events.size() == made.trace.entries.size());
  for (std::size_t i = 0; i < events.size(); ++i) {
    const auto& [event, file] = made.trace.entries[i];
    CAPTURE(i);
    CHECK(events[i].at("time_ns") == event.time - made.trace.entries.front().event.time);
    CHECK(events[i].at("rank") == made.trace.files[file].rank);
    CHECK(events[i].at("kind") == name(event.kind));
    const nlohmann::json& known = json.at("kinds").at(std::string(name(event.kind))).at("fields");
    for (const auto& [field, value] : events[i].items()) {
      CHECK((field == "time_ns" || field == "rank" || field == "kind" || known.contains(field)));
    }
  }
}

TEST_CASE("export: JSON has how each rank ended") {
  made::HandMade made;
  TraceFile& file = made.trace.files[1];
  const auto end_of = [&](sim::TraceEnd end, std::uint32_t value) {
    file.end = end;
    file.end_value = value;
    std::ostringstream out;
    write_json(made.trace, out);
    return nlohmann::json::parse(out.str()).at("ranks").at(1).at("end").dump();
  };
  CHECK_EQ(end_of(sim::TraceEnd::none, 0), "null");
  CHECK_EQ(end_of(sim::TraceEnd::signal, 9), R"({"signal":9})");
  CHECK_EQ(end_of(sim::TraceEnd::exit_status, 3), R"({"exit_status":3})");
  CHECK_EQ(end_of(sim::TraceEnd::stopped, sim::stop_value(15, sim::TraceStop::deadlock)),
           R"({"launcher":"deadlock","signal":15})");
  CHECK_EQ(end_of(sim::TraceEnd::stopped, 15U | 99U << 8U), R"({"launcher":"other","signal":15})");
}

TEST_CASE("export: JSON has escaped characters, and numbers without a name") {
  made::HandMade made;
  made.trace.files[0].names[0] = "a \"call\\";
  made.add(0, sim::TraceKind::mpi_enter, {portals::kAnyRank, portals::kAnyRank, 0}).detail = 2;
  made.add(0, static_cast<sim::TraceKind>(999), {0, 1, 5}).reason = 200;
  std::ostringstream out;
  write_json(made.trace, out);
  const nlohmann::json events = nlohmann::json::parse(out.str()).at("events");
  CHECK(events[0] == nlohmann::json{{"time_ns", 0},
                                    {"rank", 0},
                                    {"kind", "mpi_enter"},
                                    {"call", "a \"call\\"},
                                    {"thread", 2},
                                    {"return_address", "0x0000000000000000"}});
  CHECK(events[1] == nlohmann::json{{"time_ns", 1000},
                                    {"rank", 0},
                                    {"kind", 999},
                                    {"source", 0},
                                    {"destination", 1},
                                    {"sequence", 5},
                                    {"reason", 200}});
}

TEST_CASE(
    "export: a chart has an arrow for each hop, a broken one for answers, a cross for a message without arrival") {
  made::HandMade made = made::pulled();
  made.add(1, sim::TraceKind::kernel_send, {1, 0, 3}, portals::Kind::put, 0, made::kTag7).bytes = 4;
  const Exported exported(made.trace);
  const Chart chart = chart_of(exported.source(), exported.stories);
  CHECK_EQ(chart.ranks, std::vector<std::uint32_t>{0, 1});
  CHECK_EQ(chart.arrows, 5);
  const std::string mermaid = exported.text([&](std::ostream& out) { write_mermaid(chart, out); });
  const std::vector<std::string> lines = lines_of(mermaid);
  CHECK_EQ(lines[0], "sequenceDiagram");
  CHECK_EQ(lines[1], "    participant r0 as rank 0");
  const auto has = [&](const std::string& line) { return std::count(lines.begin(), lines.end(), line); };
  CHECK_EQ(
      has("    r0->>r1: 2.000 us: put #35;5, 40000 bytes, tag 7 from 0 in MPI_COMM_WORLD, long, seen after 1.00 us"),
      1);
  CHECK_EQ(has("    r1-->>r0: 7.000 us: acknowledgment #35;1, 0 bytes, seen after 1.00 us"), 1);
  CHECK_EQ(has("    r1-xr0: 22.000 us: put #35;3, 4 bytes, tag 7 from 0 in MPI_COMM_WORLD"), 1);
  // No text ends a statement: the only ; is that of an escape.
  CHECK(mermaid.find("#34;unexpected long#34;") != std::string::npos);
  const std::string msc = exported.text([&](std::ostream& out) { write_msc(chart, out); });
  CHECK(msc.find("r1 -x r0 [label=\"22.000 us: put #3, 4 bytes") != std::string::npos);
  CHECK(msc.find("\\\"unexpected long\\\"") != std::string::npos);
}

TEST_CASE("export: a chart has the sender's name of a message's communicator, like the story") {
  const made::HandMade made = made::renamed_communicator();
  const Exported exported(made.trace);
  const Chart chart = chart_of(exported.source(), exported.stories);
  REQUIRE_EQ(chart.steps.size(), 1);
  CHECK_EQ(chart.steps[0].text, "put #5, 0 bytes, tag 7 from 0 in the sender's");
}

TEST_CASE("export: a replay sends and receives with real sizes, and computes between calls") {
  made::HandMade made = made::pulled();
  made.add(1, sim::TraceKind::mpi_enter).a = 0;
  const Exported exported(made.trace);
  Replay replay;
  REQUIRE(replay_of(exported.source(), exported.stories, 2e9, replay).ok());
  CHECK_EQ(replay.ranks[0], std::vector<std::string>{"0 init", "0 send 1 5 40000", "0 finalize"});
  // From the leave at 20 us to the enter at 23 us, at two operations a nanosecond.
  CHECK_EQ(replay.ranks[1], std::vector<std::string>{"1 init", "1 recv 0 5 40000", "1 compute 6000", "1 finalize"});
  CHECK_EQ(replay.left_out_messages, 0);
}

TEST_CASE("export: a replay of calls in shared memory has a message for each read, and a barrier of all ranks") {
  made::HandMade made;
  const auto shared = [&](std::uint32_t rank, sim::TraceKind kind, std::uint32_t writer, std::uint64_t bytes,
                          std::uint32_t call) {
    sim::TraceEvent& event = made.add(rank, kind, {writer, rank, 0});
    event.bytes = bytes;
    event.a = call;
  };
  for (const std::uint32_t rank : {0U, 1U}) made.add(rank, sim::TraceKind::mpi_enter);
  for (const std::uint32_t rank : {0U, 1U}) shared(rank, sim::TraceKind::shared_write, rank, 0, 1);
  shared(0, sim::TraceKind::shared_write, 0, 24, 2);
  shared(1, sim::TraceKind::shared_read, 0, 24, 2);
  shared(1, sim::TraceKind::shared_write, 1, 8, 3);  // its reader is not in the trace
  const Exported exported(made.trace);
  Replay replay;
  REQUIRE(replay_of(exported.source(), exported.stories, 1e9, replay).ok());
  CHECK_EQ(replay.ranks[0], std::vector<std::string>{"0 init", "0 barrier", "0 isend 1 2147483647 24", "0 finalize"});
  CHECK_EQ(replay.ranks[1], std::vector<std::string>{"1 init", "1 barrier", "1 recv 0 2147483647 24", "1 finalize"});
  CHECK_EQ(replay.left_out_calls, 1);
}

TEST_CASE("export: calls in shared memory on communicators with one context are distinguished") {
  made::HandMade made;
  constexpr std::uint32_t kContext = 4;
  for (std::uint32_t rank = 2; rank < 4; ++rank) {
    made.trace.files.push_back(made.trace.files[rank - 2]);
    made.trace.files.back().rank = rank;
  }
  for (std::uint32_t rank = 0; rank < 4; ++rank) {
    TraceFile& file = made.trace.files[rank];
    file.size = 4;
    file.definitions.push_back({sim::DefinitionKind::members, 0, kContext,
                                sim::member_number(rank % 2) + sim::member_number(rank % 2 + 2), ""});
    made.add(rank, sim::TraceKind::mpi_enter);
  }
  const auto shared = [&](std::uint32_t rank, sim::TraceKind kind, std::uint32_t writer, std::uint64_t bytes,
                          std::uint32_t call = 1) {
    sim::TraceEvent& event = made.add(rank, kind, {writer, rank, 0});
    event.bytes = bytes;
    event.a = call;
    event.match_bits = std::uint64_t{kContext + 1} << 3U;
  };
  // Ranks 0 and 2 meet in two barriers, 1 and 3 in two others: none of them has all ranks.
  for (const std::uint32_t call : {1U, 2U}) {
    for (std::uint32_t rank = 0; rank < 4; ++rank) {
      shared(rank, sim::TraceKind::collective_begin, rank, 0, call);
      shared(rank, sim::TraceKind::shared_write, rank, 0, call);
    }
  }
  // A later communicator of 1 and 3 has the same context, and therefore a call 1 of its own.
  for (const std::uint32_t rank : {1U, 3U}) shared(rank, sim::TraceKind::collective_begin, rank, 0);
  shared(1, sim::TraceKind::shared_write, 1, 24);
  shared(3, sim::TraceKind::shared_read, 1, 24);
  const Exported exported(made.trace);
  Replay replay;
  REQUIRE(replay_of(exported.source(), exported.stories, 1e9, replay).ok());
  CHECK_EQ(replay.ranks[0], std::vector<std::string>{"0 init", "0 finalize"});
  CHECK_EQ(replay.ranks[1], std::vector<std::string>{"1 init", "1 isend 3 2147483647 24", "1 finalize"});
  CHECK_EQ(replay.ranks[3], std::vector<std::string>{"3 init", "3 recv 1 2147483647 24", "3 finalize"});
  CHECK_EQ(replay.left_out_calls, 4);
}

TEST_CASE("export: events that cannot be replayed are rejected or counted") {
  made::HandMade made;
  const auto refusal = [](const Trace& trace) {
    const Exported exported(trace);
    Replay replay;
    return replay_of(exported.source(), exported.stories, 1e9, replay).sentence();
  };
  CHECK(refusal(made.trace).find("no MPI call") != std::string::npos);
  made.add(0, sim::TraceKind::mpi_enter);
  made.add(0, sim::TraceKind::kernel_send, {0, 1, 1}, portals::Kind::put, 0, made::kTag7);
  made.add(0, sim::TraceKind::kernel_send, {0, 1, 2}, portals::Kind::put, 6, 1);
  {
    const Exported exported(made.trace);
    Replay replay;
    REQUIRE(replay_of(exported.source(), exported.stories, 1e9, replay).ok());
    CHECK_EQ(replay.left_out_messages, 2);
    CHECK_EQ(replay.ranks[0].size(), 2);
  }
  made.trace.files[1].rank = 0;
  CHECK(refusal(made.trace).find("rank 1 has no file") != std::string::npos);
}

}  // namespace margay::command::test
