// The runner of one job, from the first rank's start to the end of its last process: one thread, one epoll loop.
//
//   signals (children, Ctrl-C) ─┐
//   PMI lines ──────────────────┼─> Monitor decides ──> signals to the job's process group
//   output of ranks ──> sinks   │
//   deadlines ──────────────────┘
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "command/run/options/plan.hpp"
#include "command/run/options/run_options.hpp"
#include "command/run/pmi/folder_names.hpp"
#include "command/run/pmi/pmi_channels.hpp"
#include "command/run/pmi/pmi_server.hpp"
#include "command/run/process/guardian.hpp"
#include "command/run/process/guests.hpp"
#include "command/run/process/job_memory.hpp"
#include "command/run/process/job_processes.hpp"
#include "command/run/process/places.hpp"
#include "command/run/process/rank_environment.hpp"
#include "command/run/process/spawn.hpp"
#include "command/run/program/other_mpi.hpp"
#include "command/run/report/finding_report.hpp"
#include "command/run/report/monitor.hpp"
#include "command/run/report/report.hpp"
#include "command/run/report/stall.hpp"
#include "command/run/spawn_plan.hpp"
#include "command/run/stream/input_forwarder.hpp"
#include "command/run/stream/poller.hpp"
#include "command/run/stream/rank_output.hpp"

namespace margay::command {

// Owns the parts of a running job, and passes events between them. The parts do not include this header. The
// Monitor decides; this class carries the decisions out.
class Runner {
 public:
  // `paths`: the executable of each program of `options`. `memory` has been created. `name_location` resolves a
  // location that a rank wrote to the board into a line of source, for messages. All references must outlive the
  // runner.
  Runner(const RunOptions& options, const JobPlan& plan, const std::vector<std::string>& paths, JobMemory& memory,
         const NameLocation& name_location);

  // Starts the job, monitors it and ends it; on return no process of it is left, except detached ones of a job that
  // ended well. Error: the job could not be started; `exit_status` is then 126 or 127 if a program cannot be run.
  [[nodiscard]] Status run(int& exit_status);
  // The record of each rank's end, and the cause of the job's end.
  [[nodiscard]] const Monitor& monitor() const { return monitor_; }
  // The launcher's own findings, for --report.
  [[nodiscard]] const std::vector<JobFinding>& findings() const { return findings_; }
  // The process that was started last as `rank`; its number may be reused after run() has returned.
  [[nodiscard]] int process_of(std::uint32_t rank) const { return pids_[rank]; }
  // Places that had a process: 0 to places_used() - 1.
  [[nodiscard]] std::uint32_t places_used() const { return places_.used(); }

 private:
  // Start and loop.
  [[nodiscard]] Status prepare();
  [[nodiscard]] Status start_ranks(int& exit_status);
  // A process to start: its first rank in identity.place.
  struct Start {
    const ProgramSpec* program = nullptr;
    std::string path;
    RankIdentity identity;
    int standard_input = -1;
  };
  [[nodiscard]] Status start_process(const Start& start, int& exit_status);
  // Carries out a rank's order to start or to end processes while the job runs. Returns the answer to it.
  [[nodiscard]] std::string carry_out(std::uint32_t rank, const PmiOutcome& outcome);
  [[nodiscard]] std::string start_world(std::uint32_t rank, const SpawnOrder& order);
  // Begins a world on board, server and in the lists of this class, and starts its processes.
  [[nodiscard]] Status start_parts(const std::vector<SpawnPart>& parts, const SpawnPairs& preput,
                                   std::vector<std::uint32_t>& places);
  // Gives a process of another job a place here.
  [[nodiscard]] std::string admit(std::uint32_t rank, const sim::Endpoint& guest);
  // Ends the processes of these places on purpose.
  void end_places(const std::vector<std::uint32_t>& places);
  // The reason why this rank's orders are refused; empty: they are carried out.
  [[nodiscard]] std::string refusal_of(std::uint32_t rank) const;
  // Whether another process may have the place of a process that ended this way.
  [[nodiscard]] bool may_be_succeeded(std::uint32_t rank, const RankEnd& end) const;
  void loop();
  void dispatch(Event event);
  // Events.
  void on_signals();
  // Signals the job's group, and ranks that left it.
  void signal_job(int signal);
  // Prints where each rank is; for a SIGUSR1 to the launcher.
  void show_state();
  // Stops the job and the launcher, and continues the job when the launcher is continued.
  void suspend();
  // Handles each child that has ended, stopped or continued.
  void reap();
  // Passes this round's aborts and PMI errors to the Monitor, after the ends of ranks.
  void take_reports();
  void on_child(pid_t pid, int code, int value);
  // Passes the ends of a process's ranks to the Monitor.
  void on_process_end(std::uint32_t first, bool by_signal, int value, std::int64_t now);
  // Combines the operating system's view of an end with the board's and PMI's.
  [[nodiscard]] RankEnd examine(std::uint32_t rank, bool by_signal, int value) const;
  // Whether the rank's process has ended, or its thread has returned from the program.
  [[nodiscard]] bool has_ended(std::uint32_t rank) const;
  // Polls of the board.
  void check_missing_ranks();
  // Deadlines and decisions, after each round of events.
  void act();
  void look_for_stall(std::int64_t now);
  // Milliseconds until the nearest deadline, rounded up, so that the loop does not wake before it.
  [[nodiscard]] int wait_ms() const;
  // End and report.
  void end_job_and_children();
  void report_cause();
  void report_end();
  [[nodiscard]] ReportContext context() const;

  const RunOptions& options_;
  const JobPlan& plan_;
  const std::vector<std::string>& paths_;
  JobMemory& memory_;
  const NameLocation& name_location_;
  Poller poller_;
  Guardian guardian_;
  JobProcesses job_processes_;
  // The launcher's signal mask, ignored signals and descriptor limit before it changed them; spawn() restores them in
  // each rank.
  SavedProcess saved_;
  int signals_ = -1;
  RankOutput output_;
  InputForwarder input_;
  // The names of this job for others, and of others for this one.
  FolderNames names_;
  PmiServer server_;
  PmiChannels channels_;
  Monitor monitor_;
  // Reads the board, as OtherMpi does.
  StallDetector stall_;
  OtherMpi other_mpi_;
  // By place, equal for the ranks of one process; 0: not started.
  std::vector<int> pids_;
  Places places_;
  // Declared after places_, to which it refers.
  Guests guests_;
  // Worlds that the ranks have started.
  std::uint32_t worlds_started_ = 0;
  // The ranks record a trace, which has one file for each place.
  bool are_traced_ = false;
  // The place whose last lines of PMI are read after its process's end; -1: none.
  std::int64_t drained_ = -1;
  // Aborts and errors that PMI delivered in this round and that are not yet judged.
  std::vector<std::pair<std::uint32_t, PmiOutcome>> reported_by_ranks_;
  // CLOCK_MONOTONIC.
  std::int64_t started_ns_ = 0;
  std::vector<JobFinding> findings_;
  // The cause has been printed.
  bool reported_ = false;
  // The folder of libmpi.so.12 for the ranks; empty: the system's.
  std::string library_folder_;
  std::string host_;
};

}  // namespace margay::command
