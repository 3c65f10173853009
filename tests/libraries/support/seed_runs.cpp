#include "tests/libraries/support/seed_runs.hpp"

#include <errno.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <thread>

namespace margay::testing {

namespace {

constexpr int kRight = 42;  // not 0: a process that calls exit(0) is not right
constexpr unsigned kSecondsEach = 60;

struct Running {
  std::uint64_t seed = 0;
  int output = -1;  // a file in memory, in which a process can print any amount before it ends
};

[[noreturn]] void run_in_child(const std::function<std::string(std::uint64_t)>& run, const Running& running) {
  alarm(kSecondsEach);
  static_cast<void>(dup2(running.output, STDOUT_FILENO));
  static_cast<void>(dup2(running.output, STDERR_FILENO));
  if (const std::string reason = run(running.seed); !reason.empty()) end_run(reason);
  std::fflush(stdout);
  std::_Exit(kRight);
}

std::string take_output(int output) {
  std::string text;
  char bytes[512];
  static_cast<void>(lseek(output, 0, SEEK_SET));
  for (ssize_t count = 0; (count = read(output, bytes, sizeof bytes)) > 0;)
    text.append(bytes, static_cast<std::size_t>(count));
  close(output);
  return text;
}

// Whether the run of a process that has ended was right; prints the reason otherwise.
bool is_right(const Running& running, int status, bool is_only_one) {
  std::string text = take_output(running.output);
  if (WIFEXITED(status) && WEXITSTATUS(status) == kRight) {
    if (is_only_one) std::fputs(text.c_str(), stderr);
    return true;
  }
  if (!text.empty() && text.back() == '\n') text.pop_back();
  if (text.empty() && WIFSIGNALED(status)) text = "signal " + std::to_string(WTERMSIG(status));
  if (text.empty()) text = "exit status " + std::to_string(WEXITSTATUS(status));
  std::printf("seed %llu: %s\n", static_cast<unsigned long long>(running.seed), text.c_str());
  std::fflush(stdout);
  return false;
}

}  // namespace

void end_run(const std::string& reason) {
  std::printf("%s\n", reason.c_str());
  std::fflush(stdout);
  std::_Exit(1);
}

int run_seeds(int argc, char** argv, const char* further, const std::function<std::string(std::uint64_t)>& run) {
  if (argc < 3 || argc > (further == nullptr ? 3 : 4)) {
    const std::string rest = further == nullptr ? std::string() : " [" + std::string(further) + "]";
    std::fprintf(stderr, "usage: %s FIRST_SEED LAST_SEED%s\n", program_invocation_short_name, rest.c_str());
    return 2;
  }
  const std::uint64_t first = std::strtoull(argv[1], nullptr, 10), last = std::strtoull(argv[2], nullptr, 10);
  const std::size_t at_once = std::max(1U, std::thread::hardware_concurrency());
  std::map<pid_t, Running> running;
  bool all_right = true;
  for (std::uint64_t seed = first; seed <= last || !running.empty();) {
    if (seed <= last && running.size() < at_once) {
      const Running next{seed++, memfd_create("output of a seed", MFD_CLOEXEC)};
      const pid_t child = next.output < 0 ? -1 : fork();
      if (child < 0) std::perror("no process for a seed"), std::exit(2);
      if (child == 0) run_in_child(run, next);
      running[child] = next;
      continue;
    }
    int status = 0;
    const pid_t ended = wait(&status);
    all_right = is_right(running[ended], status, first == last) && all_right;
    running.erase(ended);
  }
  return all_right ? 0 : 1;
}

}  // namespace margay::testing
