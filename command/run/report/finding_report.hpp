// The machine-readable report of a run (`margay run --report FILE`): the findings of launcher and ranks, as JSON.
// docs/findings.md lists the ids.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "command/run/options/run_options.hpp"
#include "command/run/report/monitor.hpp"
#include "command/run/report/report.hpp"
#include "sim/boot/board.hpp"
#include "sim/boot/findings.hpp"

namespace margay::command {

// One rank's wait in a deadlock or a stall. -1: any, or unknown.
struct FoundWait {
  std::uint32_t rank = 0;
  std::string call;
  std::int32_t peer = -1;
  std::int32_t tag = -1;
  std::string communicator;
  // The call's location in the program; empty: unknown.
  std::string site;
  // Sends and receives that the call waits for beyond this one.
  std::uint32_t more = 0;
  // The messages to this rank that lack room and are held on their wires; empty: none.
  std::string held;
};

// One finding. A field without a value is omitted from the JSON.
struct JobFinding {
  sim::Finding finding = sim::Finding::rank_died;
  // The ranks concerned, first the one of `call`; empty: the job as a whole.
  std::vector<std::uint32_t> ranks;
  // The line that launcher or rank printed.
  std::string message;
  // CLOCK_MONOTONIC.
  std::uint64_t time_ns = 0;
  // MPI call, line of source and communicator; empty: unknown.
  std::string call;
  std::string site;
  std::string communicator;
  // For peer, tag and bytes -1 means unknown.
  std::int32_t peer = -1;
  std::int32_t tag = -1;
  std::int64_t bytes = -1;
  // Only in a finding about a deadlock or a stall.
  std::vector<FoundWait> waits;
};

// The finding for the cause of a job's end. Requires: `kind` is not none.
[[nodiscard]] sim::Finding finding_of(CauseKind kind);
// The finding whose id ends the line about the cause. For a fatal MPI error it is the finding of the error's class.
[[nodiscard]] sim::Finding finding_of_line(const Cause& cause, const sim::Board& board);
// The finding for the cause with its ranks (ranks_of_cause), and the call in progress of a single rank, read from the
// board now.
[[nodiscard]] JobFinding finding_of_cause(const Cause& cause, const std::string& message, const sim::Board& board,
                                          std::uint32_t process_ranks);
// A `deadlock` or `stalled` finding, with the wait of each rank that the board shows now. `name_location` may be empty.
[[nodiscard]] JobFinding finding_of_waits(sim::Finding finding, const std::string& message, const sim::Board& board,
                                          const NameLocation& name_location);

// The file of --report: opened first, so that a wrong path fails early, and written when the job has ended or could not
// start. In between, a regular file has a report whose `error` is that the launcher was killed before the job had
// ended, which a killed launcher leaves.
class ReportFile {
 public:
  ReportFile() = default;
  ReportFile(const ReportFile&) = delete;
  ReportFile& operator=(const ReportFile&) = delete;
  ~ReportFile();

  // Creates or truncates the file. Error: the path cannot be written. No effect without --report, as below.
  [[nodiscard]] Status open(const RunOptions& options);
  // Writes all findings in the order of time. `records`: the memory file with the ranks' findings, -1: none. `found`:
  // the launcher's. `error`: why some ranks could not start; empty: all have. Error: cannot write the file.
  [[nodiscard]] Status write(const RunOptions& options, const sim::Board& board, const std::string& job_name,
                             int records, std::vector<JobFinding> found, int exit_status,
                             const std::string& error = {});
  // Writes a report without findings, for a job that did not start. `why`: the launcher's message.
  [[nodiscard]] Status write_unstarted(const RunOptions& options, const std::string& why, int exit_status);

 private:
  // Replaces the content of a regular file, and appends to any other.
  [[nodiscard]] Status put(const std::string& text);

  int descriptor_ = -1;
  std::string path_;
};

}  // namespace margay::command
