// The launcher's sentences: what happened to which rank.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "command/run/report/watch.hpp"
#include "sim/boot/board.hpp"

namespace margay::command {

// Names a place in a program, which a rank asks for by source_question(): "ring.c:41"; or nothing.
using NamePlace = std::function<std::string(const std::string& question)>;

struct ReportContext {
  std::string job_name;
  std::string host;
  const sim::Board* board = nullptr;
  const std::vector<int>* pids = nullptr;  // of the ranks
  double elapsed_seconds = 0;
  double timeout_seconds = 0;
  std::uint32_t ranks_left = 0;  // that are ended because of this
  NamePlace name_place;          // may be empty
};

// One line with the root cause: job, rank, host, process, signal or code, the MPI call in progress, elapsed time.
[[nodiscard]] std::string describe_cause(const Cause& cause, const ReportContext& context);
[[nodiscard]] std::string describe_stop(std::uint32_t rank, const ReportContext& context);
// "SIGSEGV (Segmentation fault)".
[[nodiscard]] std::string signal_name(int signal);
// Text that a rank wrote on the board: up to its zero or the field's end, printable characters only.
[[nodiscard]] std::string clean_text(std::span<const char> field);
// The call that the board shows for a rank, cleaned of anything that is not a name; empty outside MPI.
[[nodiscard]] std::string call_in_progress(const sim::Board& board, std::uint32_t rank);
// The same and, where the rank has reported a long wait, the place in its program: "MPI_Recv (ring.c:41)".
[[nodiscard]] std::string describe_call(const sim::Board& board, std::uint32_t rank, const NamePlace& name_place);

}  // namespace margay::command
