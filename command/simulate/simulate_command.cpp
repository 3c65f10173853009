#include "command/simulate/simulate_command.hpp"

#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "command/line/line_mistakes.hpp"
#include "command/simulate/compare.hpp"
#include "command/simulate/explore.hpp"
#include "command/simulate/program_start.hpp"
#include "command/simulate/replay.hpp"
#include "sim/base/limits.hpp"
#include "sim/base/text.hpp"
#include "virtual_machine/model/changes.hpp"

namespace margay::command {
namespace {

using virtual_machine::Settings;

constexpr std::uint64_t kJobsMost = 1024;

[[noreturn]] void fail(const portals::Status& status, int exit_status) {
  std::fprintf(stderr, "margay simulate: %s\n", sim::for_terminal(status.sentence()).c_str());
  throw CLI::RuntimeError(exit_status);
}

// The command line, as CLI11 fills it in.
struct SimulateLine {
  SimulateOrder order;
  std::vector<std::string> sets;
  CompareOrder compare;
  ExploreOrder explore;
  // The folder of --replay; empty: none. The options that concern only a program, which are errors with --replay.
  std::string replay;
  std::vector<const CLI::Option*> for_programs;
};

// Reads the trace of --replay, whose ranks are those of the run.
void prepare_replay(SimulateLine& line) {
  for (const CLI::Option* const option : line.for_programs) {
    if (option->count() == 0) continue;
    const std::string name = option->get_lnames().empty() ? "the program" : "option " + option->get_name();
    fail(portals::Status::error("option --replay: a replay runs no program; leave out " + name), kStatusBadCommandLine);
  }
  const auto recording = std::make_shared<Recording>();
  if (const portals::Status status = read_recording(line.replay, *recording); !status.ok())
    fail(status, kStatusBadCommandLine);
  line.order.settings.ranks = recording->ranks();
  line.order.recording = recording;
}

void simulate(SimulateLine& line, const CallSite& call_site) {
  for (const std::string& text : line.sets) {
    virtual_machine::Change& change = line.order.settings.changes.emplace_back();
    if (const portals::Status status = virtual_machine::parse_change(text, "--set", change); !status.ok())
      fail(status, kStatusBadCommandLine);
  }
  if (!line.replay.empty()) {
    prepare_replay(line);
  } else if (line.order.command.empty()) {
    fail(portals::Status::error("a program is missing; name one, such as ./a.out, or a trace (--replay)"),
         kStatusBadCommandLine);
  }
  if (line.compare.is_wanted()) {
    if (const int status = compare(line.compare, line.order); status != 0) throw CLI::RuntimeError(status);
    return;
  }
  if (!line.compare.svg.empty()) {
    fail(portals::Status::error("option --svg: there is nothing to draw: use it with --compare or --sweep"),
         kStatusBadCommandLine);
  }
  int exit_status = 0;
  if (line.explore.is_wanted()) prepare_exploration(line.order);
  if (const portals::Status status = check_order(line.order, exit_status); !status.ok()) fail(status, exit_status);
  if (line.explore.is_wanted()) {
    if (const int found = explore(line.explore, line.order, call_site); found != 0) throw CLI::RuntimeError(found);
    return;
  }
  if (line.order.recording != nullptr) {
    const portals::Status status = replay_recording(*line.order.recording, line.order.settings);
    if (!status.ok()) fail(status, kStatusNotReplayed);
    return;
  }
  const portals::Status status = start_program(line.order, exit_status);
  fail(status, exit_status);
}

// Options for several runs. Each run's trace and summary would replace those of the one before.
void add_compare_options(CLI::App& simulating, CompareOrder& order, CLI::Option* trace, CLI::Option* summary) {
  CLI::Option* const machines = simulating.add_option(
      "--compare", order.machines, "run the program on each of these machines, with commas; print a table of times");
  CLI::Option* const sweeps =
      simulating
          .add_option("--sweep", order.sweeps,
                      "NAME=VALUES: run the program with each value of a field as for --set, such as "
                      "short_limit=1k..64k or ranks=2,8; several: all combinations")
          ->allow_extra_args(false);
  for (CLI::Option* const several : {machines, sweeps}) several->excludes(trace)->excludes(summary);
  simulating.add_option("--svg", order.svg,
                        "of --compare and --sweep: draw the times into this file; -: only print it");
  simulating.add_option("--jobs", order.jobs, "of --compare and --sweep: runs at a time (default 1)")
      ->check(whole_number(1, kJobsMost));
}

void add_fault_options(CLI::App& simulating, Settings& settings) {
  simulating
      .add_option("--kill", settings.deaths, "RANK@TIME: end a rank at a virtual time, such as 3@2ms; may be repeated")
      ->allow_extra_args(false);
  simulating
      .add_option("--down", settings.down_links,
                  "SWITCH-SWITCH@TIME: make a link of the machine's first network fail, such as 12-13@2ms (without a "
                  "time: from the begin); may be repeated")
      ->allow_extra_args(false);
}

// Options of schedules.
void add_explore_options(CLI::App& simulating, SimulateLine& line) {
  simulating.add_option("--delay", line.order.delay,
                        "delay each message by up to this time, such as 100us, drawn from the seed");
  simulating.add_option("--wildcards", line.order.settings.wildcards,
                        "the messages that receives from MPI_ANY_SOURCE take: lowest, or RANK:NUMBER=SOURCE,... "
                        "(docs/simulate.md)");
  simulating
      .add_option("--explore", line.explore.schedules,
                  "run up to this number of schedules, and report the first with another result")
      ->check(whole_number(1, kSchedulesMax));
  simulating
      .add_option("--schedule-limit", line.explore.limit_seconds,
                  "of --explore: end a schedule after this time, in seconds of this machine (default 60)")
      ->check(whole_number(1, kScheduleSecondsMax));
}

// The options so far that have no effect on a replay, where they are errors.
std::vector<const CLI::Option*> programs_options_of(const CLI::App& simulating) {
  std::vector<const CLI::Option*> options;
  for (const char* name :
       {"--ranks", "--seed", "--compute", "--stack", "--delay", "--wildcards", "--explore", "--kill", "--down"})
    options.push_back(simulating.get_option(name));
  return options;
}

}  // namespace

void add_simulate_command(CLI::App& app, const CallSite& call_site) {
  CLI::App* simulating = app.add_subcommand(
      "simulate", "run an MPI program's ranks in one process, in the time of another machine (docs/simulate.md)");
  const auto line = std::make_shared<SimulateLine>();
  Settings& settings = line->order.settings;
  simulating->add_option("-n,--ranks", settings.ranks, "the number of ranks")->check(whole_number(1, sim::kRanksMax));
  simulating->add_option("--machine", settings.machine, "a preset (listed by margay machines) or a machine file");
  simulating->add_option("--seed", settings.seed,
                         "the seed of the order of ranks that continue at the same time (0: their usual order)");
  simulating->add_option("--compute", line->order.compute,
                         "the virtual time of computation: measured (its processor time), none, or calls=TIME (TIME "
                         "for each call of MPI)");
  simulating->add_option("--cpu-scale", settings.cpu_scale, "virtual time for each second of processor time")
      ->check(CLI::Range(1e-6, 1e6));
  CLI::Option* const trace = simulating->add_option("--trace", settings.trace_dir, "record a trace in this folder");
  simulating->add_option("--stack", settings.stack_bytes, "the size of each rank's stack, 64k to 1g")
      ->transform(CLI::AsSizeValue(false));
  CLI::Option* const summary =
      simulating->add_flag("--summary", settings.summary, "print the virtual time and counts at the end");
  simulating->add_option("--report", settings.report, "write times, counts and findings to this file as JSON");
  simulating
      ->add_option("--set", line->sets,
                   "NAME=VALUE: change a field of the machine, such as network.latency=50us, or an option of the "
                   "library, such as collective=allreduce=tree; may be repeated")
      ->allow_extra_args(false);
  add_compare_options(*simulating, line->compare, trace, summary);
  add_fault_options(*simulating, settings);
  add_explore_options(*simulating, *line);
  line->for_programs = programs_options_of(*simulating);
  simulating->add_option("--replay", line->replay,
                         "replay the run of this trace folder on the machine, with its computation times, without the "
                         "program");
  line->for_programs.push_back(simulating->add_option("program", line->order.command, "the program and its arguments"));
  // Words behind the program's name are its own, also those that look like options.
  simulating->positionals_at_end();
  simulating->callback([line, call_site] { simulate(*line, call_site); });
}

}  // namespace margay::command
