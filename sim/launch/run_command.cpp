#include "sim/launch/run_command.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "sim/launch/job_memory.hpp"
#include "sim/launch/plan.hpp"
#include "sim/launch/program.hpp"
#include "sim/launch/run_options.hpp"
#include "sim/launch/runner.hpp"
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

int run_job(const RunOptions& options) {
  std::vector<std::string> paths;
  int exit_status = 0;
  if (Status status = find_programs(options, paths, exit_status); !status.ok()) return complain(status, exit_status);
  const JobPlan plan = make_plan(options);
  JobMemory memory;
  if (Status status = memory.create(plan); !status.ok()) return complain(status, kStatusCannotStart);
  Runner runner(options, plan, paths, memory);
  if (Status status = runner.run(exit_status); !status.ok()) return complain(status, kStatusCannotStart);
  return exit_status;
}

}  // namespace

int run_command(const std::vector<std::string>& words) {
  open_standard_descriptors();
  RunOptions options;
  Status status = parse_run_options(words, options);
  if (status.ok()) status = timeout_from_environment(options);
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
