#include "command/live/running_jobs.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <span>
#include <string>
#include <string_view>
#include <system_error>

#include "command/run/report/report.hpp"
#include "sim/base/random.hpp"
#include "sim/trace/definition.hpp"

namespace margay::command {

namespace {

// Reads a file of the form of /proc/PID/stat.
ProcessSnapshot look_at_stat(const std::string& path) {
  ProcessSnapshot look;
  std::ifstream file(path);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  // proc(5): the name, in parentheses, may contain any character. Fields 3, 14, 15 and 22.
  const std::size_t behind = text.rfind(')');
  if (behind == std::string::npos) return look;
  char state = 0;
  unsigned long long user = 0;
  unsigned long long system = 0;
  unsigned long long start = 0;
  if (std::sscanf(text.c_str() + behind,
                  ") %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %llu %llu %*d %*d %*d %*d %*d %*d %llu", &state, &user,
                  &system, &start) != 4) {
    return look;
  }
  look.state = state;
  look.start_ticks = start;
  look.processor_ticks = user + system;
  return look;
}

}  // namespace

ProcessSnapshot look_at_process(int pid) {
  return look_at_stat(fmt::format("/proc/{}/stat", pid));
}

ProcessSnapshot look_at_thread(int pid, int tid) {
  return look_at_stat(fmt::format("/proc/{}/task/{}/stat", pid, tid));
}

namespace {

namespace fs = std::filesystem;

// The number of examinations of a process. One does not suffice, because a new process may become a launcher by exec.
constexpr int kLooks = 4;
// A board's name from command/run/process/job_memory; then the beginning of a name from sim/boot/node_segment, used
// where memfds are refused.
constexpr std::string_view kMemfd = "/memfd:margay-board";
constexpr std::string_view kFile = "/margay.";

// Descriptors of other users' processes cannot be opened.
bool is_own(const std::string& folder) {
  struct stat info {};
  return ::stat(folder.c_str(), &info) == 0 && info.st_uid == ::geteuid();
}

std::vector<int> processes() {
  std::vector<int> pids;
  std::error_code error;
  for (fs::directory_iterator at("/proc", error), end; !error && at != end; at.increment(error)) {
    const std::string name = at->path().filename();
    int pid = 0;
    const auto [behind, wrong] = std::from_chars(name.data(), name.data() + name.size(), pid);
    if (wrong == std::errc() && behind == name.data() + name.size() && pid != ::getpid()) pids.push_back(pid);
  }
  std::ranges::sort(pids);
  return pids;
}

// The process's command line: its first 4096 bytes, cleaned, because a command line may contain any bytes.
std::string command_of(int pid) {
  constexpr std::size_t kMost = 4096;
  std::ifstream file(fmt::format("/proc/{}/cmdline", pid), std::ios::binary);
  std::string text(kMost, '\0');
  file.read(text.data(), kMost);
  text.resize(static_cast<std::size_t>(file.gcount()));
  while (!text.empty() && text.back() == '\0') text.pop_back();
  std::ranges::replace(text, '\0', ' ');
  return clean_text(text);
}

// The same digits as the launcher's messages show.
std::string job_name(std::uint64_t id) {
  constexpr std::size_t kShown = 8;
  return sim::to_hex(std::as_bytes(std::span(&id, 1))).substr(0, kShown);
}

}  // namespace

// Forgets processes that ended, so that their numbers may be examined again.
void RunningJobs::find() {
  const std::vector<int> pids = processes();
  std::erase_if(looked_, [&](const auto& entry) { return !std::ranges::binary_search(pids, entry.first); });
  for (const int pid : pids) {
    const bool known = std::ranges::any_of(jobs_, [pid](const RunningJob& job) { return job.launcher.pid == pid; });
    if (!known && looked_[pid] < kLooks) look_at(pid);
  }
}

void RunningJobs::look_at(int pid) {
  ++looked_[pid];
  const std::string folder = fmt::format("/proc/{}", pid);
  if (!is_own(folder)) return;
  std::error_code error;
  // The process's descriptors may be unreadable: the process has more rights than this user, or has just ended.
  for (fs::directory_iterator at(folder + "/fd", error), end; !error && at != end; at.increment(error)) {
    std::error_code gone;
    const std::string target = fs::read_symlink(at->path(), gone).string();
    if (gone) continue;
    // Without a slash the target is a pipe or a socket.
    const std::size_t slash = target.rfind('/');
    const bool file = slash != std::string::npos && std::string_view(target).substr(slash).starts_with(kFile);
    if (file || target.starts_with(kMemfd)) take(pid, at->path(), target);
  }
}

// Opening the link opens the file itself, also an unlinked one.
void RunningJobs::take(int pid, const std::string& path, std::string_view target) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (descriptor < 0) return;
  RunningJob job;
  if (const portals::Status status = BoardReader::open(descriptor, job.board); !status.ok()) {
    // Where memfds are refused, a node's segment has such a name too, so only memfds cause a remark. Ranks hold the
    // same file, so each file is reported once.
    struct stat info {};
    const bool there = ::stat(path.c_str(), &info) == 0;
    if (target.starts_with(kMemfd) && there && listed_.emplace(info.st_dev, info.st_ino).second) {
      remarks_.push_back(
          fmt::format("process {} holds an invalid job board, which is ignored: it {}", pid, status.sentence()));
    }
    return;
  }
  const sim::BoardHeader& header = job.board.header();
  // The process is a rank, which inherited the board.
  if (header.launcher_pid != pid) return;
  job.launcher = {pid, header.launcher_ticks};
  // The launcher's number may belong to another process by now.
  if (look_at_process(pid).start_ticks != header.launcher_ticks) return;
  const auto same = [&](const RunningJob& known) { return known.board.file() == job.board.file(); };
  if (std::ranges::any_of(jobs_, same)) return;
  job.name = job_name(header.job_id);
  job.command = command_of(pid);
  jobs_.push_back(std::move(job));
}

void RunningJobs::drop_ended() {
  std::erase_if(jobs_, [](const RunningJob& job) { return sim::has_ended(job.launcher); });
}

// A full name or a launcher's number takes precedence over beginnings.
RunningJob* RunningJobs::named(const std::string& word) {
  RunningJob* found = nullptr;
  for (RunningJob& job : jobs_) {
    if (job.name == word || std::to_string(job.launcher.pid) == word) return &job;
    if (word.empty() || !job.name.starts_with(word)) continue;
    if (found != nullptr) return nullptr;
    found = &job;
  }
  return found;
}

std::string RunningJobs::explain_no_match(const std::string& word, std::string_view what) const {
  constexpr const char* kNoJob = "no job of this user runs on this machine";
  if (jobs_.empty())
    return word.empty() ? kNoJob : fmt::format("unknown {} {}; {}", what, sim::printable(word), kNoJob);
  std::string all;
  std::string fitting;
  for (const RunningJob& job : jobs_) {
    const std::string text = fmt::format("{} (launcher {})", job.name, job.launcher.pid);
    all += (all.empty() ? "" : ", ") + text;
    if (job.name.starts_with(word)) fitting += (fitting.empty() ? "" : ", ") + text;
  }
  if (word.empty()) return "several jobs run: name one of " + all;
  if (!fitting.empty()) {
    return fmt::format("several jobs have names that begin with {}: name one of {}", sim::printable(word), fitting);
  }
  return fmt::format("unknown {} {}; the jobs of this user on this machine are {}", what, sim::printable(word), all);
}

}  // namespace margay::command
