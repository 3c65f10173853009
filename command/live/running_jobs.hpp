// The jobs of this user on this machine, found in /proc: `margay run` holds its job's board open, as a memfd or an
// unlinked file, and what a process of the same user holds open can be opened again, by /proc/PID/fd.
//
// A name proves nothing: a board counts when its content is sound (BoardReader) and it names the very process that
// holds it as its launcher. (So jobs of another namespace of processes are not found: their launchers have other
// numbers.)
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

// What /proc says of a process, at one moment.

struct ProcessLook {
  // Of its main thread: R runs or would like to, S and D sleep, T and t are stopped, Z and X have ended; 0: there is no
  // such process, or it cannot be read.
  char state = 0;
  std::uint64_t start_ticks = 0;      // tells it apart from a later one with its number
  std::uint64_t processor_ticks = 0;  // of all its threads, in sysconf(_SC_CLK_TCK) a second
};

[[nodiscard]] ProcessLook look_at_process(int pid);

struct RunningJob {
  std::string name;  // hexadecimal, as the launcher tells it
  sim::ProcessIdentity launcher;
  std::string command;  // the launcher's command line
  BoardReader board;
};

class RunningJobs {
 public:
  // Finds what has come since the last time; jobs whose launcher has gone stay until drop_ended().
  void find();
  // Of these, the ones whose launcher has ended go.
  void drop_ended();
  [[nodiscard]] std::vector<RunningJob>& all() { return jobs_; }
  // What looked like a board and is none, a sentence each.
  [[nodiscard]] const std::vector<std::string>& remarks() const { return remarks_; }
  // The job that a word names: its name, the beginning of it, or its launcher's process; nullptr: none, or several.
  [[nodiscard]] RunningJob* named(const std::string& word);
  // Why `word`, or no word, names no one job: there is none, or there are several; with the names and launchers of
  // those that it may be. `what` is looked for: "job". Printable.
  [[nodiscard]] std::string why_not_named(const std::string& word, std::string_view what) const;

 private:
  void look_at(int pid);
  void take(int pid, const std::string& path, std::string_view target);

  std::vector<RunningJob> jobs_;
  std::vector<std::string> remarks_;
  std::set<std::pair<std::uint64_t, std::uint64_t>> told_;  // files that a remark is about
  std::map<int, int> looked_;                               // how often at a process that was no launcher
};

}  // namespace margay::command
