#include "command/simulate/replay_trace.hpp"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <limits>
#include <string_view>
#include <vector>

#include "sim/trace/recorder.hpp"
#include "virtual_machine/model/network_file.hpp"

namespace margay::command {

namespace {

using portals::Status;

// A clock that stands at the time of the present event.
class ReplayClock final : public sim::Clock {
 public:
  ReplayClock() : sim::Clock(sim::ClockKind::virtual_ns) {}
  [[nodiscard]] std::uint64_t now_ns() const override { return now_ns_; }
  [[nodiscard]] std::uint64_t ticks() const override { return now_ns_; }
  void set(std::uint64_t ns) { now_ns_ = ns; }

 private:
  std::uint64_t now_ns_ = 0;
};

// The rank's events, in the order of the replay.
std::vector<std::size_t> events_of(const ReplayPlan& plan, std::uint32_t rank) {
  std::vector<std::size_t> events;
  for (const ReplayAction& action : plan.ranks[rank])
    if (action.step == ReplayStep::event) events.push_back(action.value);
  return events;
}

// Defines each number before the first of the events that were recorded after its definition.
void define_all(const Trace& trace, std::uint32_t rank, const ReplayResult& result, std::vector<std::size_t> events,
                sim::Recorder& recorder) {
  const std::vector<sim::Definition>& definitions = trace.files[rank].definitions;
  // In the order of the recorded run.
  std::sort(events.begin(), events.end());
  std::vector<std::uint64_t> since_ns(definitions.size());
  std::uint64_t earliest_ns = events.empty() ? 0 : result.event_ns[events.back()];
  for (std::size_t i = definitions.size(), next = events.size(); i-- > 0;) {
    for (; next > 0 && trace.entries[events[next - 1]].event.time >= definitions[i].time; --next)
      earliest_ns = std::min(earliest_ns, result.event_ns[events[next - 1]]);
    since_ns[i] = earliest_ns;
  }
  for (std::size_t i = 0; i < definitions.size(); ++i) {
    const sim::Definition& defined = definitions[i];
    recorder.define(defined.kind, defined.number, defined.value, defined.text, since_ns[i]);
  }
}

Status write_rank(const Trace& trace, const ReplayPlan& plan, std::uint32_t rank, const ReplayResult& result,
                  const virtual_machine::NetworkModel& model, const std::string& folder) {
  const TraceFile& file = trace.files[rank];
  const std::vector<std::size_t> events = events_of(plan, rank);
  ReplayClock clock;
  sim::Recorder recorder(clock);
  const Status opened = recorder.open(folder, {.rank = rank,
                                               .size = file.size,
                                               .node = model.node_of(rank),
                                               .capacity_events = std::max<std::uint64_t>(events.size(), 1),
                                               .walk_steps = file.walks ? sim::kAllWalkSteps : 0});
  if (!opened.ok()) return Status::error("option --trace: " + opened.sentence());
  const std::vector<std::string_view> names(file.names.begin(), file.names.end());
  recorder.set_call_names(names);
  define_all(trace, rank, result, events, recorder);
  for (const std::size_t at : events) {
    clock.set(result.event_ns[at]);
    recorder.record(trace.entries[at].event);
  }
  recorder.close();
  return {};
}

Status write_loads(const virtual_machine::NetworkModel& model, const virtual_machine::LinkLoads& loads,
                   const std::string& folder) {
  const std::string path = folder + "/" + virtual_machine::kNetworkFileName;
  const std::string text = virtual_machine::format_network_file(virtual_machine::network_file_of(model, loads));
  std::FILE* const file = std::fopen(path.c_str(), "wxe");
  bool is_written = file != nullptr && std::fwrite(text.data(), 1, text.size(), file) == text.size();
  if (file != nullptr) is_written = std::fclose(file) == 0 && is_written;
  return is_written ? Status() : Status::error("option --trace: cannot write " + path + ": " + std::strerror(errno));
}

}  // namespace

Status write_replay_trace(const Trace& trace, const ReplayPlan& plan, const ReplayResult& result,
                          const virtual_machine::NetworkModel& model, const virtual_machine::LinkLoads& loads,
                          const std::string& folder) {
  for (std::uint32_t rank = 0; rank < plan.ranks.size(); ++rank)
    if (Status status = write_rank(trace, plan, rank, result, model, folder); !status.ok()) return status;
  return write_loads(model, loads, folder);
}

}  // namespace margay::command
