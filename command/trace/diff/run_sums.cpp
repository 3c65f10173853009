#include "command/trace/diff/run_sums.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "command/trace/diff/critical_path.hpp"
#include "command/trace/export/timeline.hpp"
#include "command/trace/names/end_words.hpp"
#include "command/trace/story/fate.hpp"
#include "portals/base/assert.hpp"
#include "sim/base/text.hpp"

namespace margay::command {

namespace {

constexpr std::size_t kNotRecorded = MessageStory::kNone;

constexpr std::array kTotalMeasures = {
    SumMeasure{"ranks", SumUnit::count}, SumMeasure{"time", SumUnit::ns},   SumMeasure{"calls", SumUnit::count},
    SumMeasure{"in calls", SumUnit::ns}, SumMeasure{"waited", SumUnit::ns}, SumMeasure{"messages", SumUnit::count},
    SumMeasure{"bytes", SumUnit::bytes},
};
constexpr std::array kMessageMeasures = {SumMeasure{"messages", SumUnit::count}, SumMeasure{"bytes", SumUnit::bytes}};
constexpr std::array kCallMeasures = {SumMeasure{"calls", SumUnit::count}, SumMeasure{"time", SumUnit::ns},
                                      SumMeasure{"waited", SumUnit::ns}, SumMeasure{"sent bytes", SumUnit::bytes}};
constexpr std::array kRankMeasures = {SumMeasure{"calls", SumUnit::count}, SumMeasure{"in calls", SumUnit::ns},
                                      SumMeasure{"waited", SumUnit::ns}, SumMeasure{"sent messages", SumUnit::count},
                                      SumMeasure{"sent bytes", SumUnit::bytes}};
constexpr std::array kPathMeasures = {SumMeasure{"time", SumUnit::ns}};

// By SumSection. Ranks and calls are sorted by time, pairs by bytes.
constexpr std::array<SumShape, kSumSections> kShapes = {{
    {"totals", "totals", kTotalMeasures},
    {"protocols", "messages by protocol", kMessageMeasures},
    {"calls", "calls of MPI", kCallMeasures, 1},
    {"pairs", "pairs of ranks", kMessageMeasures, 1, true},
    {"ranks", "ranks", kRankMeasures, 1, true},
    {"path", "critical path", kPathMeasures},
    {"path_calls", "calls on the critical path", kPathMeasures},
    {"path_ranks", "ranks on the critical path", kPathMeasures, 0, true},
}};

// Sums up one trace.
class Summer {
 public:
  Summer(const std::string& folder, const Trace& trace)
      : trace_(trace),
        names_(trace),
        messages_(trace),
        collectives_(trace, names_),
        timeline_(timeline_of(trace, messages_)) {
    sums_.folder = folder;
    sums_.ranks = trace.files.front().size;
    sums_.is_virtual = trace.files.front().clock == sim::ClockKind::virtual_ns;
  }

  RunSums run() {
    add_notes();
    const std::uint64_t time =
        trace_.entries.empty() ? 0 : trace_.entries.back().event.time - trace_.entries.front().event.time;
    sums_.add(SumSection::totals, "", {{"ranks", sums_.ranks}, {"time", time}});
    for (const TraceFile& file : trace_.files) sums_.add(SumSection::ranks, rank_name(file.rank), {}, file.rank);
    add_calls();
    for (const MessageIdentity& root : messages_.roots()) add_message(messages_.story(root));
    add_shared_memory();
    add_path();
    return std::move(sums_);
  }

 private:
  [[nodiscard]] std::uint64_t time(std::size_t at) const { return trace_.entries[at].event.time; }
  [[nodiscard]] std::uint32_t rank_of(std::uint32_t file) const { return trace_.files[file].rank; }
  static std::string rank_name(std::uint32_t rank) { return fmt::format("rank {}", rank); }
  [[nodiscard]] std::string name_of_call(std::size_t enter) const {
    const Trace::Entry& entry = trace_.entries[enter];
    return call_name(trace_.files[entry.file], entry.event.a);
  }

  void add_notes() {
    for (const TraceFile& file : trace_.files) {
      if (file.lost != 0) {
        sums_.notes.push_back(
            fmt::format("rank {} lacks {}, so its sums are too small", file.rank, sim::counted(file.lost, "event")));
      }
      if (const std::string end = end_text(file); !end.empty())
        sums_.notes.push_back(fmt::format("rank {} {}", file.rank, end));
    }
    if (trace_.files.size() < sums_.ranks) {
      sums_.notes.push_back(fmt::format("{} not in the folder", sim::counted(sums_.ranks - trace_.files.size(),
                                                                             "rank's file is", "ranks' files are")));
    }
  }

  // A nested call counts as a part of the program's call around it.
  void add_calls() {
    const std::uint64_t last = trace_.entries.empty() ? 0 : trace_.entries.back().event.time;
    // By file and thread: the program's present call.
    std::map<std::pair<std::uint32_t, std::uint64_t>, std::size_t> outermost;
    for (const TimeSpan& call : timeline_.calls) {
      std::size_t& own = outermost[{call.file, call.thread}];
      const bool is_nested = call.depth != 0;
      if (!is_nested) own = call.begin;
      if (is_nested) nested_.emplace(call.begin, own);
      const std::uint64_t waited = messages_.waited_in(call.begin);
      const std::uint64_t took = is_nested ? 0 : (call.ended ? time(call.end) : last) - time(call.begin);
      const std::uint64_t count = is_nested ? 0 : 1;
      sums_.add(SumSection::calls, name_of_call(own), {{"calls", count}, {"time", took}, {"waited", waited}});
      sums_.add(SumSection::ranks, rank_name(rank_of(call.file)),
                {{"calls", count}, {"in calls", took}, {"waited", waited}}, rank_of(call.file));
      sums_.add(SumSection::totals, "", {{"calls", count}, {"in calls", took}, {"waited", waited}});
    }
  }

  [[nodiscard]] std::string protocol_of(const MessageStory& story) const {
    if (story.begin != kNotRecorded) {
      const sim::TraceEvent& begin = trace_.entries[story.begin].event;
      if (begin.protocol != sim::TraceProtocol::none) return std::string(name(begin.protocol));
    }
    const Trace::Entry& described = about(trace_, story);
    if (names_.is_collective(described.file, described.event.portal)) return "collective calls";
    return story.taker == Taker::window ? "windows" : "other";
  }

  void add_message(const MessageStory& story) {
    if (story.steps.empty()) return;
    const auto& [source, destination, sequence] = story.identity;
    const std::uint64_t bytes = best_described(trace_, story).event.bytes;
    sums_.add(SumSection::totals, "", {{"messages", 1}, {"bytes", bytes}});
    sums_.add(SumSection::protocols, protocol_of(story), {{"messages", 1}, {"bytes", bytes}});
    sums_.add(SumSection::pairs, fmt::format("{} > {}", source, destination), {{"messages", 1}, {"bytes", bytes}},
              std::uint64_t{source} << 32U | destination);
    sums_.add(SumSection::ranks, rank_name(source), {{"sent messages", 1}, {"sent bytes", bytes}}, source);
    const std::size_t call = story.begin == kNotRecorded ? kNotRecorded : messages_.call_around(story.begin);
    if (call == kNotRecorded) return;
    const auto around = nested_.find(call);
    sums_.add(SumSection::calls, name_of_call(around == nested_.end() ? call : around->second),
              {{"sent bytes", bytes}});
  }

  // Collective calls in the memory of a node have no messages.
  void add_shared_memory() {
    for (const Trace::Entry& entry : trace_.entries) {
      if (entry.event.kind == sim::TraceKind::shared_read)
        sums_.add(SumSection::protocols, "memory of a node", {{"messages", 1}, {"bytes", entry.event.bytes}});
    }
  }

  void add_path() {
    const CriticalPath path = critical_path({trace_, names_, messages_, collectives_}, timeline_);
    sums_.path = path.ranks();
    std::uint64_t order = 0;
    for (const auto& [name, ns] : {std::pair{"computing", path.totals.computing},
                                   {"in calls", path.totals.calls},
                                   {"waiting", path.totals.waiting},
                                   {"sent until seen", path.totals.wire}}) {
      sums_.add(SumSection::path, name, {{"time", ns}}, order++);
    }
    for (const auto& [name, ns] : path.by_call) sums_.add(SumSection::path_calls, name, {{"time", ns}});
    for (const auto& [rank, parts] : path.by_rank)
      sums_.add(SumSection::path_ranks, rank_name(rank), {{"time", parts.sum()}}, rank);
  }

  const Trace& trace_;
  TraceNames names_;
  Messages messages_;
  Collectives collectives_;
  Timeline timeline_;
  // The mpi_enter of a nested call, to that of the program's call around it.
  std::unordered_map<std::size_t, std::size_t> nested_;
  RunSums sums_;
};

}  // namespace

const SumShape& shape_of(SumSection section) {
  return kShapes[static_cast<std::size_t>(section)];
}

void RunSums::add(SumSection section, std::string name, std::initializer_list<SumNumber> numbers, std::uint64_t order) {
  const std::span<const SumMeasure> measures = shape_of(section).measures;
  std::vector<std::uint64_t>& row = sections[static_cast<std::size_t>(section)][{order, std::move(name)}];
  row.resize(measures.size());
  for (const SumNumber& number : numbers) {
    const auto found = std::find_if(measures.begin(), measures.end(),
                                    [&](const SumMeasure& measure) { return measure.name == number.first; });
    MARGAY_ASSERT(found != measures.end());
    row[static_cast<std::size_t>(found - measures.begin())] += number.second;
  }
}

RunSums sums_of(const std::string& folder, const Trace& trace) {
  return Summer(folder, trace).run();
}

}  // namespace margay::command
