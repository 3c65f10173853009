#include "sim/launch/run_command.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "sim/boot/options.hpp"
#include "sim/launch/job_memory.hpp"
#include "sim/launch/plan.hpp"
#include "sim/launch/program.hpp"
#include "sim/launch/rank_environment.hpp"
#include "sim/launch/run_options.hpp"
#include "sim/launch/runner.hpp"
#include "sim/launch/stats.hpp"
#include "sim/launch/symbol_check.hpp"
#include "sim/launch/trace_place.hpp"
#include "sim/launch/words.hpp"

namespace margay::sim {
namespace {

constexpr int kStatusBadCommandLine = 2;
constexpr int kStatusCannotStart = 71;

int complain(const Status& status, int exit_status) {
  std::fprintf(stderr, "margay: %s\n", status.sentence().c_str());
  return exit_status;
}

// Descriptors 0, 1 and 2 are open, so that no pipe of a rank gets one of these numbers.
void open_standard_descriptors() {
  int descriptor = 0;
  while (descriptor >= 0 && descriptor <= 2) descriptor = ::open("/dev/null", O_RDWR);
  if (descriptor > 2) ::close(descriptor);
}

Status timeout_from_environment(RunOptions& options) {
  const char* text = std::getenv("MPIEXEC_TIMEOUT");
  if (text == nullptr || options.timeout_seconds > 0) return {};
  return parse_timeout("MPIEXEC_TIMEOUT", text, options.timeout_seconds);
}

Status find_programs(const RunOptions& options, std::vector<std::string>& paths, int& exit_status) {
  for (const ProgramSpec& program : options.programs) {
    std::string path;
    Status status = find_program(program.argv[0], program.working_directory, std::getenv("PATH"), path, exit_status);
    if (!status.ok()) return status;
    paths.push_back(path);
  }
  return {};
}

// Prints what --stats, --check-accounting and --strict ask for; the exit status with it.
int finish_accounts(const RunOptions& options, const Board& board, int exit_status) {
  if (options.stats) {
    for (const std::string& line : stats_table(board)) std::fprintf(stderr, "%s\n", line.c_str());
  }
  if (options.check_accounting) {
    const AccountingResult result = check_accounting(board);
    for (const std::string& line : result.lines) std::fprintf(stderr, "%s\n", line.c_str());
    if (result.offending_pairs > 0 && exit_status == 0) exit_status = kStatusAccounting;
  }
  if (!options.strict) return exit_status;
  const std::string findings = describe_findings(board);
  if (findings.empty()) return exit_status;
  std::fprintf(stderr, "%s\n", findings.c_str());
  return exit_status == 0 ? kStatusFindings : exit_status;
}

std::string first_of(const std::vector<Need>& needs) {
  constexpr std::size_t kMostShown = 5;
  std::string text;
  for (std::size_t i = 0; i < needs.size() && i < kMostShown; ++i)
    text += (i > 0 ? ", " : "") + describe_need(needs[i]);
  return needs.size() > kMostShown ? text + ", ..." : text;
}

// A program that would fail at its first call is refused before any rank runs. What cannot be read is left to exec, a
// library that is not found to the loader.
Status check_library(const RunOptions& options, const ProgramSpec& program, const std::string& path) {
  const std::string folder = find_library_folder();
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

int run_job(const RunOptions& options) {
  std::vector<std::string> paths;
  int exit_status = 0;
  if (Status status = find_programs(options, paths, exit_status); !status.ok()) return complain(status, exit_status);
  for (std::size_t i = 0; i < paths.size() && !options.system_mpi; ++i) {
    Status status = check_library(options, options.programs[i], paths[i]);
    if (!status.ok()) return complain(status, kStatusCannotRun);
  }
  if (Status status = check_trace_place(options); !status.ok()) return complain(status, kStatusCannotStart);
  const JobPlan plan = make_plan(options);
  JobMemory memory;
  if (Status status = memory.create(plan); !status.ok()) return complain(status, kStatusCannotStart);
  Runner runner(options, plan, paths, memory);
  if (Status status = runner.run(exit_status); !status.ok()) return complain(status, kStatusCannotStart);
  return finish_accounts(options, memory.board(), exit_status);
}

}  // namespace

int run_command(const std::vector<std::string>& words) {
  open_standard_descriptors();
  RunOptions options;
  Status status = parse_run_options(words, options);
  if (status.ok()) status = timeout_from_environment(options);
  if (const char* strict = std::getenv("MARGAY_STRICT"); strict != nullptr && std::string_view(strict) == "1") {
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
  if (options.verbose) {
    for (const std::string& note : options.notes) std::fprintf(stderr, "margay: %s\n", note.c_str());
  }
  return run_job(options);
}

}  // namespace margay::sim
