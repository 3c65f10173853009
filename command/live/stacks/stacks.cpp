#include "command/live/stacks/stacks.hpp"

#include <fmt/format.h>
#include <signal.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "command/live/running_jobs.hpp"
#include "command/live/stacks/held_process.hpp"
#include "command/live/stacks/stack.hpp"
#include "command/live/stacks/unwind.hpp"
#include "command/run/report/report.hpp"

namespace margay::command {

namespace {

using portals::Status;

constexpr int kStatusNotAll = 1;
constexpr int kStatusNoSuch = 2;

// A process to examine.
struct TargetProcess {
  std::uint32_t rank = 0;
  int pid = 0;
  // 0: the process is the rank; otherwise the rank is this thread of it.
  int thread = 0;
  // nullptr: it belongs to no job.
  const command::BoardReader* board = nullptr;
};

// The rank's MPI call on the job board; empty: none, or the board cannot be read.
std::string call_of(const TargetProcess& target) {
  sim::BoardBlock block;
  const bool is_on_board = target.board != nullptr && target.board->read_block(target.rank, block);
  return is_on_board ? command::clean_text(block.mpi_call) : "";
}

// While an object of this class lives, it blocks the signals that stop or end this process: a stopped command would
// keep the other process stopped, too. (SIGSTOP cannot be blocked.) Threads that are created meanwhile inherit the
// mask.
class SignalsWait {
 public:
  SignalsWait() {
    sigset_t waiting;
    sigemptyset(&waiting);
    for (const int signal : {SIGTSTP, SIGTTIN, SIGTTOU, SIGINT, SIGQUIT, SIGTERM, SIGHUP}) sigaddset(&waiting, signal);
    static_cast<void>(::pthread_sigmask(SIG_BLOCK, &waiting, &before_));
  }
  SignalsWait(const SignalsWait&) = delete;
  SignalsWait& operator=(const SignalsWait&) = delete;
  ~SignalsWait() { static_cast<void>(::pthread_sigmask(SIG_SETMASK, &before_, nullptr)); }

 private:
  sigset_t before_{};
};

// Walks the stopped threads, and reads the call on the board at the same moment.
Status walk_held(const TargetProcess& target, Unwinder& unwinder, std::string& call) {
  Status status;
  const SignalsWait wait;
  // Seizes from a thread of its own, because the system continues all threads of the examined process that are still
  // seized when the seizing thread ends, however it ends.
  std::thread([&] {
    HeldProcess held;
    status = held.hold(target.pid);
    if (!status.ok()) return;
    for (const HeldProcess::Thread& thread : held.threads()) {
      if (target.thread == 0 || target.thread == thread.tid) unwinder.walk(thread.tid);
    }
    call = call_of(target);
  }).join();
  return status;
}

// Reads the stacks of a process, or of the thread that is the rank, and adds those to be shown.
Status read_stacks(const TargetProcess& target, bool all, std::vector<StackOf>& out) {
  Unwinder unwinder(target.pid);
  if (Status status = unwinder.open(); !status.ok()) return status;
  std::string call;
  if (Status status = walk_held(target, unwinder, call); !status.ok()) return status;
  std::vector<Stack> stacks = unwinder.stacks();
  // The board has one call for the process. It can be assigned only if exactly one thread is in an MPI call that its
  // frames do not name.
  const auto unnamed =
      std::ranges::count_if(stacks, [](const Stack& stack) { return has_program(stack) && is_unnamed_call(stack); });
  if (unnamed != 1) call.clear();
  for (std::size_t at = 0; at < stacks.size(); ++at) {
    // Skips a thread of the library itself.
    if (!all && at > 0 && !has_program(stacks[at])) continue;
    out.push_back({target.rank, at == 0, all ? std::move(stacks[at]) : fold(stacks[at], call)});
  }
  return {};
}

void complain(const std::string& sentence) {
  std::fprintf(stderr, "margay stacks: %s\n", sentence.c_str());
}

// Prints the stacks of all places that can be read. Reports an error of one place and continues with the next one.
int print_stacks(const std::vector<TargetProcess>& targets, bool all, bool of_job) {
  std::vector<StackOf> stacks;
  bool failed = false;
  for (const TargetProcess& target : targets) {
    const std::string who =
        of_job ? fmt::format("rank {} (process {})", target.rank, target.pid) : fmt::format("process {}", target.pid);
    if (const Status status = read_stacks(target, all, stacks); !status.ok()) {
      complain(who + ": " + status.sentence());
      failed = true;
    }
  }
  for (std::string line : merged(stacks, all)) {
    if (!of_job)
      line.replace(line.find("rank 0"), std::string("rank 0").size(), fmt::format("process {}", targets[0].pid));
    std::printf("%s\n", line.c_str());
  }
  return std::fflush(stdout) != 0 || failed ? kStatusNotAll : 0;
}

// The ranks of a job that have a running process. Reports each other rank, and sets `missing` if there is one. `only`:
// the rank to return; -1: all.
std::vector<TargetProcess> targets_of(const command::RunningJob& job, std::int64_t only, bool& missing) {
  std::vector<TargetProcess> targets;
  std::vector<std::uint32_t> not_begun;
  for (std::uint32_t rank = 0; rank < job.board.used(); ++rank) {
    if (only >= 0 && rank != static_cast<std::uint64_t>(only)) continue;
    sim::BoardBlock block;
    const bool begun = job.board.read_block(rank, block) && block.pid > 0;
    const bool same = begun && command::look_at_process(block.pid).start_ticks == block.start_ticks;
    if (same && block.thread_ended == 0) {
      targets.push_back({rank, block.pid, block.thread, &job.board});
    } else if (begun) {
      complain(fmt::format("rank {} has ended", rank));
      missing = true;
    } else {
      not_begun.push_back(rank);
    }
  }
  if (!not_begun.empty()) {
    complain(not_begun_text(not_begun));
    missing = true;
  }
  return targets;
}

int pid_of(const std::string& word) {
  char* end = nullptr;
  const long number = std::strtol(word.c_str(), &end, 10);
  return !word.empty() && *end == '\0' && number > 0 && number <= 0x7fff'ffff ? static_cast<int>(number) : 0;
}

}  // namespace

// A number may be that of a launcher or of any process: a job's launcher takes precedence.
int stacks(const command::StacksOrder& order) {
  command::RunningJobs jobs;
  jobs.find();
  command::RunningJob* job = order.job.empty() && jobs.all().size() == 1 ? jobs.all().data() : jobs.named(order.job);
  const int pid = pid_of(order.job);
  if (job == nullptr && pid != 0 && command::look_at_process(pid).state != 0) {
    if (order.rank >= 0) {
      complain(fmt::format("--rank {}: process {} is not the launcher of a job", order.rank, pid));
      return kStatusNoSuch;
    }
    if (const std::string why = why_without_stacks(pid); !why.empty()) {
      complain(fmt::format("process {} {}", pid, why));
      return kStatusNoSuch;
    }
    return print_stacks({{0, pid, 0, nullptr}}, order.all, false);
  }
  if (job == nullptr) {
    complain(jobs.explain_no_match(order.job, "job or process"));
    return kStatusNoSuch;
  }
  if (order.rank >= static_cast<std::int64_t>(job->board.used())) {
    complain(fmt::format("--rank {}: job {} has {} ranks", order.rank, job->name, job->board.used()));
    return kStatusNoSuch;
  }
  bool missing = false;
  const std::vector<TargetProcess> targets = targets_of(*job, order.rank, missing);
  const int status = print_stacks(targets, order.all, true);
  return missing && status == 0 ? kStatusNotAll : status;
}

}  // namespace margay::command
