// The launcher's children, and the test whether a child belongs to the job. A program that replaced itself by the
// launcher (exec) may have had children, which are now the launcher's. Orphans among their descendants become the
// launcher's children, too, because it is a subreaper; so do orphans of the job.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

namespace margay::command {

// The treatment of processes that detached from the job: those in a session of their own that hold none of the ranks'
// output pipes.
enum class Detached : std::uint8_t { live, end };

// Two marks identify a process of the job: the job's process group, and the job's name in the process's environment
// variable MARGAY_JOB.
class JobProcesses {
 public:
  // Records the existing children. Requires: this process is not a subreaper yet, and nothing of the job runs.
  void begin(const std::string& job_name);
  // The second mark as NAME=VALUE, for the environment of the ranks; their descendants inherit it.
  [[nodiscard]] const std::string& mark() const { return mark_; }
  // Forgets a child that was reaped, because its number may be reused.
  void remove(pid_t pid);
  // Kills and reaps the job's processes, and its orphans as they become children, until none is left, for at most two
  // seconds. `group`: the job's process group. `pipes`: inode numbers of the ranks' output pipes; a process that holds
  // one of them is not detached.
  void end(pid_t group, Detached detached, const std::vector<ino_t>& pipes);

 private:
  // unknown: the process's environment cannot be read at this moment, for example during exec.
  enum class Membership : std::uint8_t { jobs, others, unknown };

  [[nodiscard]] Membership membership_of(pid_t pid, pid_t group) const;

  std::string job_name_;
  std::string mark_;
  // Children of this process when it became the launcher.
  std::vector<pid_t> before_;
  // Such children existed, so an orphan may be their descendant instead of the job's. Stays true when they are reaped.
  bool some_before_ = false;
};

}  // namespace margay::command
