// The launcher's children, and which of them are the job's. A program that became the launcher by exec may have left
// children. What they start later, and leave behind, comes to the launcher (a subreaper) as the job's own orphans do.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

namespace margay::command {

// What becomes of processes that detached from the job: in a session of their own, with its output streams closed.
enum class Detached : std::uint8_t { live, end };

class Offspring {
 public:
  // Takes note of who is there. Requires: this process is no subreaper yet, and nothing of the job runs.
  void begin(const std::string& job_name);
  // NAME=VALUE for the environment of the job's ranks, by which all that they start is known.
  [[nodiscard]] const std::string& mark() const { return mark_; }
  // A child's number is free now.
  void reaped(pid_t pid);
  // Kills and reaps what is the job's, and every orphan of it that becomes a child, until none is left (at most two
  // seconds). `group`: the job's process group. `pipes`: inode numbers of the ranks' output pipes; who holds one is not
  // detached.
  void end(pid_t group, Detached detached, const std::vector<ino_t>& pipes);

 private:
  enum class Whose : std::uint8_t { jobs, others, unknown };

  [[nodiscard]] Whose whose(pid_t pid, pid_t group) const;

  std::string job_name_;
  std::string mark_;
  std::vector<pid_t> before_;  // children of this process as it became the launcher
  bool some_before_ = false;   // there were any: an orphan may be theirs
};

}  // namespace margay::command
