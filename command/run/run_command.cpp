#include "command/run/run_command.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "command/line/line_mistakes.hpp"
#include "command/run/options/plan.hpp"
#include "command/run/options/run_options.hpp"
#include "command/run/options/tokens.hpp"
#include "command/run/options/trace_folder.hpp"
#include "command/run/process/job_memory.hpp"
#include "command/run/process/rank_environment.hpp"
#include "command/run/program/program.hpp"
#include "command/run/program/symbol_check.hpp"
#include "command/run/report/finding_report.hpp"
#include "command/run/report/stats.hpp"
#include "command/run/report/trace_losses.hpp"
#include "command/run/runner.hpp"
#include "command/trace/read/close_for.hpp"
#include "sim/base/clock.hpp"
#include "sim/base/processors.hpp"
#include "sim/base/text.hpp"
#include "sim/boot/interface.hpp"
#include "sim/boot/job_rates.hpp"
#include "sim/boot/options.hpp"
#include "sim/machine/ways.hpp"

namespace margay::command {
namespace {

// EX_OSERR of <sysexits.h>: the system prevents the job, not the command line.
constexpr int kStatusCannotStart = 71;
constexpr int kStatusReportNotWritten = 1;

// Prints a message of the launcher. Control characters are replaced, because tokens of the command line and file names
// may be part of it.
void print_error(const std::string& sentence) {
  std::fprintf(stderr, "margay: %s\n", sim::for_terminal(sentence).c_str());
}

int complain(const Status& status, int exit_status) {
  print_error(status.sentence());
  return exit_status;
}

// Opens descriptors 0, 1 and 2 if the caller closed them; otherwise a pipe of a rank would get one of these numbers.
void open_standard_descriptors() {
  int descriptor = 0;
  while (descriptor >= 0 && descriptor <= 2) descriptor = ::open("/dev/null", O_RDWR);
  if (descriptor > 2) ::close(descriptor);
}

Status timeout_from_environment(RunOptions& options) {
  const char* text = std::getenv("MPIEXEC_TIMEOUT");
  // The option overrides the variable.
  if (text == nullptr || options.timeout_seconds > 0) return {};
  return parse_timeout("MPIEXEC_TIMEOUT", text, options.timeout_seconds);
}

// This check precedes the start of any rank; without it chdir() would fail in the child.
Status check_working_directory(const std::string& folder) {
  struct stat info {};
  if (folder.empty()) return {};
  if (::stat(folder.c_str(), &info) != 0) {
    return Status::error("option -wdir: the working folder " + folder + ": " + std::strerror(errno));
  }
  if (!S_ISDIR(info.st_mode)) return Status::error("option -wdir: " + folder + " is not a folder");
  return {};
}

// Finds every program before the first rank starts: a job of several programs must not start in part.
Status find_programs(const RunOptions& options, std::vector<std::string>& paths, int& exit_status) {
  for (const ProgramSpec& program : options.programs) {
    exit_status = kStatusCannotStart;
    if (Status status = check_working_directory(program.working_directory); !status.ok()) return status;
    std::string path;
    Status status = find_program(program.argv[0], program.working_directory, std::getenv("PATH"), path, exit_status);
    if (!status.ok()) return status;
    paths.push_back(path);
  }
  return {};
}

// Prints the output of --stats, --check-accounting and --strict. Returns the exit status, which a failed check changes
// only if the job itself succeeded.
int finish_accounts(const RunOptions& options, const sim::Board& board, int exit_status,
                    std::vector<JobFinding>& found) {
  if (options.stats) {
    for (const std::string& line : stats_table(board)) std::fprintf(stderr, "%s\n", line.c_str());
  }
  if (options.check_accounting) {
    const AccountingResult result = check_accounting(board);
    const std::string id = result.fails() ? id_suffix(sim::Finding::accounting_mismatch) : "";
    for (const std::string& line : result.lines)
      std::fprintf(stderr, "%s%s\n", line.c_str(), &line == result.lines.data() ? id.c_str() : "");
    if (result.fails() && !result.lines.empty()) {
      JobFinding& finding = found.emplace_back();
      finding.finding = sim::Finding::accounting_mismatch;
      finding.message = result.lines.front();
      finding.time_ns = sim::real_clock().now_ns();
    }
    if (result.fails() && exit_status == 0) exit_status = kStatusAccounting;
  }
  if (!options.strict) return exit_status;
  const std::string findings = describe_findings(board);
  if (findings.empty()) return exit_status;
  std::fprintf(stderr, "%s\n", findings.c_str());
  return exit_status == 0 ? sim::kStatusFindings : exit_status;
}

// The first few names; a program linked for another library may lack hundreds.
std::string first_of(const std::vector<Need>& needs) {
  constexpr std::size_t kMostShown = 5;
  std::string text;
  for (std::size_t i = 0; i < needs.size() && i < kMostShown; ++i)
    text += (i > 0 ? ", " : "") + describe_need(needs[i]);
  return needs.size() > kMostShown ? text + ", ..." : text;
}

// Rejects a program that would fail at its first call, before any rank runs. Accepts a file that cannot be read, and a
// library that is not found: the errors of exec and of the loader are more exact.
Status check_library(const RunOptions& options, const ProgramSpec& program, const std::string& path) {
  const std::string folder = library_folder_of(options);
  SymbolCheck check;
  if (folder.empty() || !check_symbols(path, folder, library_path(options, program, folder, environ), check).ok())
    return {};
  if (!check.other_mpi.empty()) {
    return Status::error(path + " was linked with " + describe_need(check.other_mpi.front()) +
                         ", another MPI with another binary interface: compile it with margay's mpicc or MPICH's, or "
                         "run it with its own mpiexec");
  }
  if (check.missing.empty()) return {};
  return Status::error(path + " needs " + std::to_string(check.missing.size()) +
                       " MPI symbols that margay lacks: " + first_of(check.missing) + " (`margay check " + path +
                       "` lists them; --mpi system runs it with the " + "system's MPI)");
}

// The options that every rank gets: the launcher's environment, overridden by the command line's options, which -genv
// overrides.
sim::Options options_of_ranks(const RunOptions& options) {
  sim::Options all = sim::Options::from_environment(environ);
  std::vector<std::string> assignments;
  for (const Assignments* set : {&options.rank_options, &options.environment}) {
    for (const auto& [name, value] : *set) assignments.push_back(name + "=" + value);
  }
  std::vector<char*> block;
  block.reserve(assignments.size() + 1);
  for (std::string& assignment : assignments) block.push_back(assignment.data());
  block.push_back(nullptr);
  const sim::Options given = sim::Options::from_environment(block.data());
  for (const auto& [name, value] : given.all()) all.set(name, value);
  return all;
}

// The end of a rank for its trace: by itself, by a signal, or by the launcher's signal with the reason for it.
ProcessEnd end_of(const Runner& runner, std::uint32_t rank) {
  const Monitor& monitor = runner.monitor();
  ProcessEnd end = {static_cast<std::uint32_t>(runner.process_of(rank)), sim::TraceEnd::exit_status,
                    static_cast<std::uint32_t>(monitor.exit_code_of(rank))};
  const auto signal = static_cast<std::uint32_t>(monitor.signal_of(rank));
  if (signal == 0) return end;
  end.end = sim::TraceEnd::signal;
  end.value = signal;
  sim::TraceStop why = sim::TraceStop::other;
  switch (monitor.cause().kind) {
    case CauseKind::none:
      return end;
    case CauseKind::signal:
    case CauseKind::no_finalize:
    case CauseKind::no_init:
    case CauseKind::abort:
    case CauseKind::second_program:
    case CauseKind::protocol:
      // The ranks of one process end by the same signal.
      if (runner.process_of(monitor.cause().rank) == runner.process_of(rank)) return end;
      why = sim::TraceStop::rank;
      break;
    case CauseKind::timeout:
      why = sim::TraceStop::timeout;
      break;
    case CauseKind::deadlock:
      why = sim::TraceStop::deadlock;
      break;
    case CauseKind::interrupted:
      why = sim::TraceStop::interrupt;
      break;
    case CauseKind::output_closed:
      break;
  }
  // The launcher ends ranks by these two signals only, so only these are recorded with the launcher's reason. Any other
  // signal, such as that of a crash, is recorded without a reason.
  if (signal != static_cast<std::uint32_t>(monitor.ending_signal()) && signal != SIGKILL) return end;
  end.end = sim::TraceEnd::stopped;
  end.value = sim::stop_value(signal, why);
  return end;
}

// The places, after those of the ranks that began with the job, that a started program has had.
std::uint32_t spawned_places(const Runner& runner, const RunOptions& options) {
  std::uint32_t ranks = 0;
  for (const ProgramSpec& program : options.programs) ranks += program.ranks;
  return runner.places_used() - ranks;
}

// Closes the trace files that the ranks did not close. Of the job's processes at most detached ones are left; a file to
// which one of these may still write stays unclosed.
void close_traces(const RunOptions& options, const Runner& runner, std::uint64_t job) {
  if (options.system_mpi) return;
  const std::vector<std::string> files = trace_files(options, spawned_places(runner, options), environ);
  for (std::uint32_t rank = 0; rank < files.size(); ++rank) {
    if (files[rank].empty()) continue;
    if (Status status = close_trace_for(files[rank], job, end_of(runner, rank)); !status.ok())
      print_error(status.sentence());
  }
}

// Whether any rank began a trace. Warns if --trace was given and the job succeeded without a trace, because no rank
// used this MPI.
bool has_recorded(const RunOptions& options, const std::vector<std::string>& files, int exit_status) {
  const auto is_there = [](const std::string& file) { return ::access(file.c_str(), F_OK) == 0; };
  if (std::any_of(files.begin(), files.end(), is_there)) return true;
  const bool asked = std::any_of(options.rank_options.begin(), options.rank_options.end(),
                                 [](const auto& option) { return option.first == "MARGAY_TRACE"; });
  if (asked && exit_status == 0) print_error("--trace recorded nothing: no rank used margay's MPI or portals");
  return false;
}

// Prints what the trace has lost, no matter whether an option or a variable requested the trace. Losses do not change
// the exit status, because the trace remains usable.
void report_trace_losses(const RunOptions& options, const Runner& runner, std::uint64_t job, int exit_status) {
  const std::vector<std::string> files = trace_files(options, spawned_places(runner, options), environ);
  if (!has_recorded(options, files, exit_status) || options.system_mpi) return;
  const std::string folder = options_of_ranks(options).text("trace");
  for (const std::string& sentence : trace_losses(files, job)) print_error(sentence);
  // A hint for a person; a script's log need not have it.
  if (!folder.empty() && ::isatty(STDERR_FILENO) == 1) {
    print_error("the trace is in " + folder + ": `margay trace view " + folder + "` makes a page of it");
  }
}

// Inside a rank of another job: that job's trace folder must not be used for this one.
void clear_outer_trace() {
  if (std::getenv("MARGAY_RANK") != nullptr) ::unsetenv("MARGAY_TRACE");
}

// Checks values that otherwise only a job of several nodes would reject, and warns about misspelt variables.
Status check_rank_options(const RunOptions& options) {
  const sim::Options all = options_of_ranks(options);
  for (const std::string& sentence : all.misspelt()) print_error(sentence);
  if (Status status = all.check(); !status.ok()) return status;
  std::vector<sim::WireId> order;
  if (Status status = sim::parse_ways(all.text("way"), order); !status.ok()) return status;
  if (Status status = sim::check_forwarding(all); !status.ok()) return status;
  if (options.over_nexus && !all.text("forward").empty()) {
    return Status::error(
        "--over nexus cannot be combined with --forward (MARGAY_FORWARD), which closes TCP to all ranks but the first "
        "of each node; omit one");
  }
  std::string address;
  const std::string interface = all.text("iface");
  return interface.empty() ? Status() : sim::choose_address(interface, address);
}

// Determines the rates by which collectives choose their algorithms. All ranks must use the same rates; otherwise their
// choices could differ, and a call would not end.
Status take_rates_for(const RunOptions& options, JobPlan& plan) {
  if (options.system_mpi) return {};
  sim::JobRates found;
  if (Status status = sim::find_job_rates(options_of_ranks(options), found); !status.ok()) return status;
  for (const std::string& sentence : found.passed_over) {
    print_error(sentence + "; it is passed over (`margay calibrate` measures again)");
  }
  plan.rates = std::move(found.text);
  plan.rates_given = found.given;
  return {};
}

// Writes the report and returns the exit status: an unwritable report makes a successful job fail.
int write_report(ReportFile& report, const RunOptions& options, const JobMemory& memory, std::vector<JobFinding> found,
                 int exit_status, const std::string& error = {}) {
  const Status status = report.write(options, memory.board(), memory.job_name(), memory.findings_descriptor(),
                                     std::move(found), exit_status, error);
  if (status.ok()) return exit_status;
  print_error(status.sentence());
  return exit_status == 0 ? kStatusReportNotWritten : exit_status;
}

// Checks that need no memory and no process, and the search for the programs. On error `exit_status` is set.
Status check_before(const RunOptions& options, std::vector<std::string>& paths, int& exit_status) {
  exit_status = kStatusBadCommandLine;
  if (Status status = check_rank_options(options); !status.ok()) return status;
  exit_status = kStatusCannotStart;
  if (Status status = check_library_folder(options); !status.ok()) return status;
  if (Status status = find_programs(options, paths, exit_status); !status.ok()) return status;
  exit_status = kStatusCannotRun;
  // With --mpi system another library resolves the program's symbols.
  for (std::size_t i = 0; i < paths.size() && !options.system_mpi; ++i) {
    if (Status status = check_library(options, options.programs[i], paths[i]); !status.ok()) return status;
  }
  exit_status = kStatusCannotStart;
  // Creates the folder, so it follows the checks that may reject the command.
  return check_trace_folder(options);
}

// Chooses the number of places. Empty places are given only to jobs whose ranks can start programs, and, unless they
// are requested, only where they cost addresses alone: a file in place of a memfd is allocated in full.
Status choose_places(const RunOptions& options, JobPlan& plan) {
  std::string reason;
  if (options.threads > 1) reason = "--threads, whose ranks cannot start programs";
  if (options.over_nexus) reason = "--over nexus, whose ranks cannot start programs";
  if (!options_of_ranks(options).text("forward").empty()) {
    reason = "--forward (MARGAY_FORWARD), which sets the forwarding processes at the start";
  }
  if (options.places == 0) {
    JobPlan larger = plan;
    add_places(larger, usual_places(plan.size(), plan.node_count));
    if (reason.empty() && costs_addresses_only(larger)) plan = std::move(larger);
    plan.no_empty_places = std::move(reason);
    return {};
  }
  if (options.places < plan.size()) {
    return Status::error("option --places: " + sim::counted(options.places, "place") + " for " +
                         sim::counted(plan.size(), "rank") + "; each rank needs one");
  }
  if (options.places > plan.size() && !reason.empty()) {
    return Status::error("option --places: cannot be combined with " + reason + "; omit one");
  }
  add_places(plan, options.places);
  return {};
}

// Makes the plan and the memory of the job. On error `exit_status` is set.
Status prepare(const RunOptions& options, JobPlan& plan, JobMemory& memory, int& exit_status) {
  plan = make_plan(options);
  const sim::ProcessorShare share = sim::processor_share();
  if (!options_of_ranks(options).text("way").empty()) plan.ways = sim::kWayCodes;
  plan.crowded = sim::are_crowded(options_of_ranks(options).text("wait", "auto"), plan.size(), share);
  plan.processors = share.processors;
  exit_status = kStatusBadCommandLine;
  if (Status status = take_rates_for(options, plan); !status.ok()) return status;
  if (Status status = choose_places(options, plan); !status.ok()) return status;
  exit_status = kStatusCannotStart;
  if (Status status = memory.create(plan); !status.ok()) return status;
  return options.report.empty() ? Status() : memory.create_findings();
}

// The end of a job that did not start.
int give_up(ReportFile& report, const RunOptions& options, const Status& status, int exit_status) {
  print_error(status.sentence());
  if (Status written = report.write_unstarted(options, status.sentence(), exit_status); !written.ok()) {
    print_error(written.sentence());
  }
  return exit_status;
}

// The report is opened first, so that a wrong path does not cost a run, and no report of an earlier run is left.
int run_job(const RunOptions& options, const NameLocation& name_location) {
  ReportFile report;
  if (Status status = report.open(options); !status.ok()) return complain(status, kStatusBadCommandLine);
  std::vector<std::string> paths;
  JobPlan plan;
  JobMemory memory;
  int exit_status = 0;
  Status ready = check_before(options, paths, exit_status);
  if (ready.ok()) ready = prepare(options, plan, memory, exit_status);
  if (!ready.ok()) return give_up(report, options, ready, exit_status);
  Runner runner(options, plan, paths, memory, name_location);
  exit_status = kStatusCannotStart;
  if (Status status = runner.run(exit_status); !status.ok()) {
    return write_report(report, options, memory, {}, complain(status, exit_status), status.sentence());
  }
  // The order matters: losses are counted in closed files.
  close_traces(options, runner, memory.board().header().job_id);
  report_trace_losses(options, runner, memory.board().header().job_id, exit_status);
  std::vector<JobFinding> found = runner.findings();
  exit_status = finish_accounts(options, memory.board(), exit_status, found);
  return write_report(report, options, memory, std::move(found), exit_status);
}

}  // namespace

// Order matters: descriptors first, and an outer job's trace is forgotten before options are read from the environment.
int run_command(const std::vector<std::string>& tokens, const NameLocation& name_location) {
  open_standard_descriptors();
  clear_outer_trace();
  RunOptions options;
  Status status = parse_run_options(tokens, options);
  if (status.ok()) status = timeout_from_environment(options);
  // MARGAY_STRICT=1 equals --strict.
  if (options_of_ranks(options).text("strict") == "1") {
    options.strict = options.check_accounting = true;
  }
  if (!status.ok()) return complain(status, kStatusBadCommandLine);
  if (options.show_help) {
    std::fputs(run_help().c_str(), stdout);
    return 0;
  }
  if (options.show_version) {
    std::puts("margay 0.1.0 (PMI-1.1 launcher, MPICH ABI)");
    return 0;
  }
  // A run inside a rank of another run inherits the outer run's options through the environment, and would repeat the
  // outer run's warnings.
  const bool is_nested = std::getenv("MARGAY_RANK") != nullptr;
  for (const std::string& warning : options.warnings) {
    if (!is_nested) print_error(warning);
  }
  if (options.verbose) {
    for (const std::string& note : options.notes) print_error(note);
  }
  return run_job(options, name_location);
}

}  // namespace margay::command
