#include "command/trace/export/timeline.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <unordered_map>
#include <utility>

#include "sim/base/text.hpp"

namespace margay::command {

namespace {

// Whether an action of a rank between two hops is worth a note.
bool is_note(sim::TraceKind kind) {
  switch (kind) {
    case sim::TraceKind::send_begin:
    case sim::TraceKind::kernel_match:
    case sim::TraceKind::kernel_drop:
    case sim::TraceKind::kernel_hold:
    case sim::TraceKind::post_receive:
    case sim::TraceKind::found:
    case sim::TraceKind::search_hit:
    case sim::TraceKind::search_miss:
    case sim::TraceKind::stop:
    case sim::TraceKind::take_back:
    case sim::TraceKind::receive_complete:
      return true;
    default:
      return false;
  }
}

class ChartMaker {
 public:
  explicit ChartMaker(const ExportSource& source) : source_(source), trace_(source.trace) {
    // All hops of the trace, built once: a step then finds its hop without a search through the events.
    for (const Hop& hop : timeline_of(trace_, source.messages).hops) hops_[hop.identity] = hop;
  }

  // Steps of all messages are merged by time, so the chart shows their interleaving.
  Chart run(const std::vector<MessageStory>& stories) {
    // A set, because messages may share a step.
    std::set<std::size_t> steps;
    for (const MessageStory& story : stories) {
      for (const std::size_t step : story.steps) steps.insert(step);
    }
    for (const std::size_t step : steps) add_step(step);
    std::stable_sort(placed_.begin(), placed_.end(),
                     [](const auto& one, const auto& other) { return one.first < other.first; });
    std::set<std::uint32_t> ranks;
    for (auto& [at, step] : placed_) {
      ranks.insert(step.from);
      ranks.insert(step.to);
      chart_.arrows += step.is_arrow ? 1 : 0;
      chart_.steps.push_back(std::move(step));
    }
    chart_.ranks.assign(ranks.begin(), ranks.end());
    return std::move(chart_);
  }

 private:
  // Adds an arrow for the event that records a hop's sending, or its arrival if the sending was not recorded. Adds a
  // note for other events of the kinds in is_note().
  void add_step(std::size_t at) {
    const auto& [event, file] = trace_.entries[at];
    // Where the sending was recorded, the arrival adds no second arrow.
    if (const auto found = hops_.find(identity(event)); found != hops_.end()) {
      const Hop& hop = found->second;
      if (at == (hop.sent != MessageStory::kNone ? hop.sent : hop.arrived)) return add_arrow(at, hop);
    }
    if (!is_note(event.kind)) return;
    ChartStep step;
    step.from = step.to = trace_.files[file].rank;
    step.text = source_.event_text.of(trace_.entries[at]);
    add(at, std::move(step));
  }

  // Only the text of a put has the meaning of its match bits. Any other hop belongs to a message that the chart shows.
  void add_arrow(std::size_t at, const Hop& hop) {
    const Trace::Entry& entry = about(trace_, hop);
    const sim::TraceEvent& event = entry.event;
    ChartStep step;
    step.is_arrow = true;
    step.from = hop.identity.source;
    step.to = hop.identity.destination;
    step.is_answer = hop.identity != hop.root && event.header != static_cast<std::uint8_t>(portals::Kind::get);
    step.is_lost = hop.arrived == MessageStory::kNone;
    const std::string about_what = event.header == static_cast<std::uint8_t>(portals::Kind::put)
                                       ? fmt::format(", {}", source_.event_text.bits(entry))
                                       : "";
    step.text = fmt::format("{} #{}, {}{}", kind_text(event), sim::number_text(hop.identity.sequence),
                            sim::counted(event.bytes, "byte"), about_what);
    if (hop.sent != MessageStory::kNone && hop.arrived != MessageStory::kNone) {
      const std::uint64_t sent = trace_.entries[hop.sent].event.time;
      const std::uint64_t arrived = trace_.entries[hop.arrived].event.time;
      step.text += fmt::format(", seen after {}", duration_text(arrived > sent ? arrived - sent : 0));
    }
    add(at, std::move(step));
  }

  void add(std::size_t at, ChartStep step) {
    step.time_us = microseconds_text(since_start(trace_, at));
    placed_.emplace_back(at, std::move(step));
  }

  const ExportSource& source_;
  const Trace& trace_;
  std::unordered_map<MessageIdentity, Hop, MessageHash> hops_;
  std::vector<std::pair<std::size_t, ChartStep>> placed_;
  Chart chart_;
};

}  // namespace

Chart chart_of(const ExportSource& source, const std::vector<MessageStory>& stories) {
  return ChartMaker(source).run(stories);
}

}  // namespace margay::command
