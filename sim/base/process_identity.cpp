#include "sim/base/process_identity.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>

namespace margay::sim {

namespace {

// Fields 3, 20 and 22 of /proc/PID/stat (proc(5)).
struct Stat {
  char state = 0;
  long threads = 0;
  unsigned long long start_ticks = 0;
};

enum class Found : std::uint8_t { yes, no_process, unknown };

// Reads /proc/PID/stat, by plain system calls into fixed buffers, because the monitor of the node's processes
// (PeerMonitor) calls it twice a second for each process.
Found read_stat(std::int32_t pid, Stat& out) {
  std::array<char, 32> path{};
  std::array<char, 1024> text{};
  static_cast<void>(std::snprintf(path.data(), path.size(), "/proc/%d/stat", pid));
  const int file = ::open(path.data(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return errno == ENOENT ? Found::no_process : Found::unknown;
  const ssize_t bytes = ::read(file, text.data(), text.size() - 1);
  const int error = errno;
  ::close(file);
  if (bytes < 0) return error == ESRCH ? Found::no_process : Found::unknown;
  // The program's name, in parentheses, may contain parentheses, so the other fields begin after the last ")".
  const char* const behind = std::strrchr(text.data(), ')');
  const bool whole = behind != nullptr && std::sscanf(behind,
                                                      ") %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d "
                                                      "%*d %*d %ld %*d %llu",
                                                      &out.state, &out.threads, &out.start_ticks) == 3;
  return whole ? Found::yes : Found::unknown;
}

}  // namespace

ProcessIdentity own_process() {
  Stat stat;
  if (read_stat(::getpid(), stat) != Found::yes) return {};
  return {::getpid(), stat.start_ticks};
}

bool has_ended(const ProcessIdentity& process) {
  if (process.pid == 0) return false;
  Stat stat;
  const Found found = read_stat(process.pid, stat);
  if (found != Found::yes) {
    // Verifies that /proc is mounted, because without it every process would seem to have ended.
    return found == Found::no_process && read_stat(::getpid(), stat) == Found::yes;
  }
  if (stat.start_ticks != process.start_ticks) return true;
  // A process of several threads whose main thread has ended has state Z, too, but still runs.
  return (stat.state == 'Z' && stat.threads <= 1) || stat.state == 'X';
}

}  // namespace margay::sim
