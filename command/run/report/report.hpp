// The launcher's messages about ranks: cause of the end, stops, calls in progress.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "command/run/report/monitor.hpp"
#include "sim/boot/board.hpp"

namespace margay::command {

// Resolves a location, in the form of source_question(), to "ring.c:41"; "" if it is not known.
using NameLocation = std::function<std::string(const std::string& question)>;

// The facts about the job that messages contain.
struct ReportContext {
  std::string job_name;
  std::string host;
  const sim::Board* board = nullptr;
  // By rank.
  const std::vector<int>* pids = nullptr;
  // Ranks of each process (JobPlan::process_ranks).
  std::uint32_t process_ranks = 1;
  // elapsed_seconds: since the runner began the job. timeout_seconds: the limit of --timeout; 0: none.
  double elapsed_seconds = 0;
  double timeout_seconds = 0;
  // Ranks that are ended because of the cause.
  std::uint32_t ranks_left = 0;
  // Whether the rank's process has ended; empty: no process has.
  std::function<bool(std::uint32_t)> has_ended;
  // May be empty.
  NameLocation name_location;
};

// The ranks that a cause concerns, in ascending order: all of a process that a signal has killed, and those of a
// process that left without MPI_Finalize; otherwise the cause's rank alone.
[[nodiscard]] std::vector<std::uint32_t> ranks_of_cause(const Cause& cause, const sim::Board& board,
                                                        std::uint32_t process_ranks);
// "rank 4", or "ranks 4-7, 9". Requires: ascending order, not empty.
[[nodiscard]] std::string ranks_text(std::span<const std::uint32_t> ranks);
// One line with the root cause: job, rank, host, process, signal or code, the MPI call in progress, elapsed time.
[[nodiscard]] std::string describe_cause(const Cause& cause, const ReportContext& context);
// One line, with the cure, about a rank that a signal has stopped for a long time.
[[nodiscard]] std::string describe_stop(std::uint32_t rank, const ReportContext& context);
// "SIGSEGV (Segmentation fault)".
[[nodiscard]] std::string signal_name(int signal);
// Sanitises text that a rank wrote on the board: up to its zero or the field's end, with "?" for characters that are
// not printable, which could control a terminal.
[[nodiscard]] std::string clean_text(std::span<const char> field);
// The MPI call in progress; empty outside MPI.
[[nodiscard]] std::string call_in_progress(const sim::Board& board, std::uint32_t rank);
// The MPI call in progress, with its location if the rank has reported a long wait: "MPI_Recv (ring.c:41)".
[[nodiscard]] std::string describe_call(const sim::Board& board, std::uint32_t rank, const NameLocation& name_location);

}  // namespace margay::command
