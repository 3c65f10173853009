#include "command/simulate/comparison_runs.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <utility>

#include "sim/base/text.hpp"

namespace margay::command {
namespace {

using portals::Status;
using virtual_machine::RunReport;

// As a shell's status of a process that a signal has ended.
constexpr int kStatusOfSignal = 128;
// Of a program that ended with 0 but was not simulated.
constexpr int kStatusNotSimulated = 71;

// A file in memory, closed with this object.
class MemoryFile {
 public:
  MemoryFile() : descriptor_(::memfd_create("margay-simulate", MFD_CLOEXEC)) {}
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  ~MemoryFile() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }

  [[nodiscard]] int descriptor() const { return descriptor_; }
  // In a process that has inherited it.
  [[nodiscard]] std::string path() const { return "/proc/self/fd/" + std::to_string(descriptor_); }
  [[nodiscard]] std::string text() const {
    std::string all;
    std::array<char, 4096> part{};
    ssize_t got = 0;
    while ((got = ::pread(descriptor_, part.data(), part.size(), static_cast<off_t>(all.size()))) > 0)
      all.append(part.data(), static_cast<std::size_t>(got));
    return all;
  }

 private:
  int descriptor_;
};

struct RunningChild {
  std::size_t run = 0;
  MemoryFile report;
  MemoryFile errors;
};

// The child, after fork(). Dies with its parent.
[[noreturn]] void become_run(SimulateOrder order, const RunningChild& child, pid_t parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(kStatusNotSimulated);
  const int null = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  ::dup2(null, STDIN_FILENO);
  ::dup2(null, STDOUT_FILENO);
  ::dup2(child.errors.descriptor(), STDERR_FILENO);
  ::fcntl(child.report.descriptor(), F_SETFD, 0);
  order.settings.report = child.report.path();
  int exit_status = kStatusNotReplayed;
  const Status status = order.recording != nullptr ? replay_recording(*order.recording, order.settings)
                                                   : start_program(order, exit_status);
  if (status.ok()) ::_exit(EXIT_SUCCESS);
  std::fprintf(stderr, "margay simulate: %s\n", sim::for_terminal(status.sentence()).c_str());
  ::_exit(exit_status);
}

Status start_child(const SimulateOrder& order, const RunningChild& child, pid_t& pid) {
  if (child.report.descriptor() < 0 || child.errors.descriptor() < 0)
    return Status::error(std::string("cannot make a memory file for a run: ") + std::strerror(errno));
  const pid_t parent = ::getpid();
  pid = ::fork();
  if (pid == 0) become_run(order, child, parent);
  return pid > 0 ? Status() : Status::error(std::string("cannot start a process for a run: ") + std::strerror(errno));
}

// `status`: waitpid's.
RunReport report_of(const RunningChild& child, int status) {
  RunReport report;
  const Status read = virtual_machine::parse_report(child.report.text(), report);
  const bool is_final = read.ok() && report.exit_status != RunReport::kNoStatus;
  const int code = WIFEXITED(status) ? WEXITSTATUS(status) : kStatusOfSignal + WTERMSIG(status);
  if (is_final && report.exit_status == code) return report;
  report.exit_status = code != 0 ? code : kStatusNotSimulated;
  if (report.error.empty()) report.error = "the process ended otherwise than the simulated run";
  return report;
}

}  // namespace

Status run_orders(const std::vector<SimulateOrder>& orders, std::size_t jobs, const ReportFailure& report_failure,
                  std::vector<RunReport>& out) {
  out.assign(orders.size(), RunReport());
  std::map<pid_t, std::unique_ptr<RunningChild>> running;
  for (std::size_t next = 0; next < orders.size() || !running.empty();) {
    if (next < orders.size() && running.size() < jobs) {
      auto child = std::make_unique<RunningChild>();
      child->run = next;
      pid_t pid = 0;
      if (Status status = start_child(orders[next], *child, pid); !status.ok()) return status;
      running[pid] = std::move(child);
      ++next;
      continue;
    }
    int status = 0;
    const pid_t pid = ::waitpid(-1, &status, 0);
    if (pid < 0 && errno == EINTR) continue;
    if (pid < 0) return Status::error(std::string("cannot wait for a run: ") + std::strerror(errno));
    const auto ended = running.find(pid);
    if (ended == running.end()) continue;
    const RunningChild& child = *ended->second;
    RunReport report = report_of(child, status);
    if (report.exit_status != 0) report_failure(child.run, report, child.errors.text());
    out[child.run] = std::move(report);
    running.erase(ended);
  }
  return {};
}

}  // namespace margay::command
