#include "command/simulate/replay.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <numeric>
#include <vector>

#include "command/simulate/comparison.hpp"
#include "command/simulate/replay_trace.hpp"
#include "sim/base/text.hpp"
#include "virtual_machine/model/changes.hpp"
#include "virtual_machine/model/link_loads.hpp"
#include "virtual_machine/model/network_model.hpp"
#include "virtual_machine/model/presets.hpp"
#include "virtual_machine/model/run_report.hpp"

namespace margay::command {

namespace {

using portals::Status;
using virtual_machine::Machine;
using virtual_machine::NetworkModel;
using virtual_machine::RunReport;
using virtual_machine::Settings;

// The settings have been checked, but the machine's file may have changed since.
Status make_machine(Settings settings, Machine& machine) {
  if (Status status = virtual_machine::find_machine(settings.machine, machine); !status.ok()) return status;
  for (const virtual_machine::Change& change : settings.changes)
    if (Status status = virtual_machine::apply_change(change, settings, machine); !status.ok()) return status;
  return virtual_machine::check_ranks(machine, settings.ranks);
}

void print_rank(const ReplayResult& result, std::uint32_t rank, const char* place) {
  const ReplayedRank& times = result.ranks[rank];
  fmt::print("{:>6} {:<9}", rank, place);
  for (const std::uint64_t ns : {times.end_ns, times.compute_ns, times.send_ns, times.receive_ns, times.wait_ns})
    fmt::print("{:>11}", virtual_time_text(ns));
  fmt::print("\n");
}

void print_replay(const Recording& recording, const std::string& machine, const ReplayResult& result) {
  const std::uint64_t recorded_ns = recording.run.elapsed_ns, replayed_ns = result.elapsed_ns();
  fmt::print("replay of {} on {}: {}, {}\n", sim::for_terminal(recording.folder), machine,
             sim::counted(recording.ranks(), "rank"), sim::counted(result.messages, "message"));
  fmt::print("recorded {}, replayed {}", virtual_time_text(recorded_ns), virtual_time_text(replayed_ns));
  if (recorded_ns != 0)
    fmt::print(", {:.4g} times", static_cast<double>(replayed_ns) / static_cast<double>(recorded_ns));
  fmt::print("\n\n{:<16}{:>11}{:>11}{:>11}{:>11}{:>11}\n", "  rank", "time", "computing", "sending", "receiving",
             "waiting");
  std::vector<std::uint32_t> by_time(result.ranks.size());
  std::iota(by_time.begin(), by_time.end(), 0U);
  std::stable_sort(by_time.begin(), by_time.end(), [&](std::uint32_t one, std::uint32_t other) {
    return result.ranks[one].end_ns > result.ranks[other].end_ns;
  });
  print_rank(result, by_time.front(), "slowest");
  if (by_time.size() > 1) print_rank(result, by_time[by_time.size() / 2], "median");
  if (recording.run.shared_calls != 0) {
    fmt::print("\n{} in memory of a node: replayed as messages of trees\n",
               sim::counted(recording.run.shared_calls, "collective call of a rank", "collective calls of ranks"));
  }
  if (recording.run.direct_accesses != 0) {
    fmt::print("\n{} without a message: replayed without time\n",
               sim::counted(recording.run.direct_accesses, "access of a window", "accesses of windows"));
  }
}

}  // namespace

Status read_recording(const std::string& folder, Recording& out) {
  out.folder = folder;
  if (const Status status = read_trace(folder, out.trace); !status.ok())
    return Status::error("option --replay: " + status.sentence());
  return make_replay_plan(out.trace, folder, out.run);
}

Status check_replayed_change(const virtual_machine::Change& change) {
  const std::string& name = change.name;
  if (name == "ranks" || name == "seed" || name.ends_with("short_limit") || virtual_machine::is_library_option(name)) {
    return Status::error(name +
                         " has no effect on a replay, which keeps the ranks, protocols and algorithms of the "
                         "recorded run; run the program instead of --replay");
  }
  return {};
}

Status replay_recording(const Recording& recording, const Settings& settings) {
  Machine machine;
  if (Status status = make_machine(settings, machine); !status.ok()) return status;
  NetworkModel model(machine, settings.ranks);
  std::unique_ptr<virtual_machine::LinkLoads> loads;
  if (!settings.trace_dir.empty()) {
    loads = std::make_unique<virtual_machine::LinkLoads>(model.channel_counts(), 0);
    model.record_to(loads.get());
  }
  // Virtual time is that of a machine already.
  const double cpu_scale = settings.cpu_scale * (recording.run.is_virtual ? 1 : machine.cpu_scale);
  ReplayResult result;
  if (Status status = replay(recording.run.plan, cpu_scale, model, result); !status.ok())
    return Status::error("option --replay: " + recording.folder + ": " + status.sentence());
  if (loads != nullptr) {
    if (Status status =
            write_replay_trace(recording.trace, recording.run.plan, result, model, *loads, settings.trace_dir);
        !status.ok())
      return status;
  }
  print_replay(recording, machine.name, result);
  RunReport report = virtual_machine::begin_report(settings, {});
  report.replay = recording.folder;
  report.recorded_ns = recording.run.elapsed_ns;
  report.exit_status = 0;
  report.virtual_ns = result.elapsed_ns();
  report.messages = result.messages;
  report.bytes = result.bytes;
  return virtual_machine::write_report(settings.report, report);
}

}  // namespace margay::command
