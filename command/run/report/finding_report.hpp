// The machine-readable report of a run (`margay run --report FILE`): what the launcher and the ranks found, as JSON.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "command/run/options/run_options.hpp"
#include "command/run/report/watch.hpp"
#include "sim/boot/board.hpp"
#include "sim/boot/findings.hpp"

namespace margay::command {

// What one rank waits for, of a deadlock or a stall.
struct FoundWait {
  std::uint32_t rank = 0;
  std::string call;
  std::int32_t peer = -1;
  std::int32_t tag = -1;
  std::string communicator;
};

struct JobFinding {
  sim::Finding finding = sim::Finding::rank_died;
  std::vector<std::uint32_t> ranks;
  std::string message;
  std::uint64_t time_ns = 0;  // CLOCK_MONOTONIC
  std::string call;
  std::string site;
  std::string communicator;
  std::int32_t peer = -1;  // -1: unknown, as is `tag`
  std::int32_t tag = -1;
  std::int64_t bytes = -1;  // -1: unknown
  std::vector<FoundWait> waits;
};

// The finding that a job's end is. Requires: `kind` is not kNone.
[[nodiscard]] sim::Finding finding_of(CauseKind kind);
[[nodiscard]] JobFinding finding_of_cause(const Cause& cause, const std::string& message, const sim::Board& board);
// `deadlock` or `stalled`, with the wait of each rank.
[[nodiscard]] JobFinding finding_of_waits(sim::Finding finding, const std::string& message, const sim::Board& board);

// The file of --report: opened before the job starts, written when it has ended.
class ReportFile {
 public:
  ReportFile() = default;
  ReportFile(const ReportFile&) = delete;
  ReportFile& operator=(const ReportFile&) = delete;
  ~ReportFile();

  // Error: the path cannot be written. No effect without --report.
  [[nodiscard]] Status open(const RunOptions& options);
  // `records`: the ranks' memory file, -1: none. `found`: the launcher's.
  [[nodiscard]] Status write(const RunOptions& options, const sim::Board& board, const std::string& job_name,
                             int records, std::vector<JobFinding> found, int exit_status);

 private:
  int descriptor_ = -1;
  std::string path_;
};

}  // namespace margay::command
