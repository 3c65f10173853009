// The jobs of this user on this machine, found in /proc.
//
// `margay run` keeps its job's board open, as a memfd or an unlinked file, and a file that a process of the same user
// holds open can be opened again by /proc/PID/fd. A file's name proves nothing: a board counts if its contents are
// valid (BoardReader), and if the process that holds it is the launcher that the contents name. Jobs of another PID
// namespace are therefore not found: their launchers have other numbers.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "command/live/board_reader.hpp"
#include "sim/base/process_identity.hpp"

namespace margay::command {

// A process's state in /proc.

struct ProcessSnapshot {
  // State of the main thread: R runs or is ready, S and D sleep, T and t are stopped, Z and X have ended; 0: the
  // process does not exist, or it cannot be read.
  char state = 0;
  // The time of its start, which distinguishes it from a later process with the same number.
  std::uint64_t start_ticks = 0;
  // Processor time of all its threads, in units of 1/sysconf(_SC_CLK_TCK) seconds.
  std::uint64_t processor_ticks = 0;
};

// Reads /proc/PID/stat.
[[nodiscard]] ProcessSnapshot look_at_process(int pid);
// Reads /proc/PID/task/TID/stat: state, start and processor time of that thread alone.
[[nodiscard]] ProcessSnapshot look_at_thread(int pid, int tid);

// A job that was found.
struct RunningJob {
  // Hexadecimal, as the launcher prints it.
  std::string name;
  sim::ProcessIdentity launcher;
  // The launcher's command line.
  std::string command;
  BoardReader board;
};

// The list of jobs, updated by find().
class RunningJobs {
 public:
  // Adds jobs that have started since the last call; jobs whose launcher has ended remain until drop_ended(). Cost: one
  // pass over /proc; a process is examined in its first four passes only.
  void find();
  // Removes the jobs whose launcher has ended.
  void drop_ended();
  [[nodiscard]] std::vector<RunningJob>& all() { return jobs_; }
  // One sentence for each file that looks like a board but is invalid.
  [[nodiscard]] const std::vector<std::string>& remarks() const { return remarks_; }
  // The job whose name is `word`, or whose launcher has this process number; otherwise the only job whose name begins
  // with `word`. nullptr: there is none, or there are several.
  [[nodiscard]] RunningJob* named(const std::string& word);
  // The message if named() found no job for `word`, or if `word` is empty and a job must be named. It reports that no
  // job fits, or lists those that do. `what`: the kind of thing searched for, "job". The message is printable.
  [[nodiscard]] std::string explain_no_match(const std::string& word, std::string_view what) const;

 private:
  void look_at(int pid);
  void take(int pid, const std::string& path, std::string_view target);

  std::vector<RunningJob> jobs_;
  std::vector<std::string> remarks_;
  // Files with a remark.
  std::set<std::pair<std::uint64_t, std::uint64_t>> listed_;
  // By process: how often it was examined; the count is bounded.
  std::map<int, int> looked_;
};

}  // namespace margay::command
