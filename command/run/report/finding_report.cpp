#include "command/run/report/finding_report.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>

#include "command/run/report/report.hpp"
#include "portals/base/assert.hpp"
#include "sim/base/clock.hpp"

namespace margay::command {

namespace {

constexpr int kReportVersion = 1;

// Whether ranks report this finding. The launcher reports the others, so a rank's record of one of them is invalid.
bool is_of_rank(std::uint32_t finding) {
  return finding >= static_cast<std::uint32_t>(sim::Finding::unreceived_message) && finding < sim::kFindingCount;
}

// Converts a record. The rank may have been killed while it wrote, or be faulty, so an invalid id or rank is skipped.
bool read_record(const sim::FindingRecord& record, std::uint32_t ranks, JobFinding& out) {
  if (!is_of_rank(record.finding) || record.rank >= ranks) return false;
  out.finding = static_cast<sim::Finding>(record.finding);
  out.ranks = {record.rank};
  if (record.other_rank >= 0 && static_cast<std::uint32_t>(record.other_rank) < ranks &&
      static_cast<std::uint32_t>(record.other_rank) != record.rank) {
    out.ranks.push_back(static_cast<std::uint32_t>(record.other_rank));
    std::ranges::sort(out.ranks);
  }
  out.message = clean_text(record.message);
  out.time_ns = record.time_ns;
  out.call = clean_text(record.call);
  out.site = clean_text(record.site);
  out.communicator = clean_text(record.communicator);
  out.peer = record.peer;
  out.tag = record.tag;
  const bool is_message = out.finding == sim::Finding::unreceived_message ||
                          out.finding == sim::Finding::dropped_ready_send || out.finding == sim::Finding::type_mismatch;
  out.bytes = is_message ? static_cast<std::int64_t>(record.bytes) : -1;
  return true;
}

// Invalid records are skipped, not fatal: the report is most useful after a crash. `counted`: the number of returned
// findings that the ranks also counted on the board (BoardBlock::findings).
std::vector<JobFinding> read_records(int descriptor, std::uint32_t ranks, std::size_t& counted) {
  std::vector<JobFinding> found;
  sim::FindingRecord record;
  // A truncated last record is ignored.
  for (off_t at = 0; ::pread(descriptor, &record, sizeof record, at) == sizeof record; at += sizeof record) {
    JobFinding one;
    if (!read_record(record, ranks, one)) continue;
    found.push_back(std::move(one));
    if (record.is_counted != 0) ++counted;
  }
  return found;
}

// Adds the JSON members that findings and waits have in common; members without a value are omitted.
template <typename Wait>
void add_peer_to(nlohmann::ordered_json& out, const Wait& wait) {
  if (!wait.call.empty()) out["call"] = wait.call;
  if (wait.peer >= 0) out["peer"] = wait.peer;
  if (wait.tag >= 0) out["tag"] = wait.tag;
  if (!wait.communicator.empty()) out["communicator"] = wait.communicator;
}

// Times are relative to the job's start, as in the launcher's messages.
nlohmann::ordered_json json_of(const JobFinding& finding, std::uint64_t started_ns) {
  nlohmann::ordered_json out;
  out["id"] = sim::finding_id(finding.finding);
  out["ranks"] = finding.ranks;
  out["message"] = finding.message;
  const std::uint64_t since = finding.time_ns > started_ns ? finding.time_ns - started_ns : 0;
  out["time_s"] = static_cast<double>(since) / 1e9;
  add_peer_to(out, finding);
  if (!finding.site.empty()) out["site"] = finding.site;
  if (finding.bytes >= 0) out["bytes"] = finding.bytes;
  for (const FoundWait& wait : finding.waits) {
    nlohmann::ordered_json one;
    one["rank"] = wait.rank;
    add_peer_to(one, wait);
    out["waits"].push_back(std::move(one));
  }
  return out;
}

// The number of findings that ranks counted on the board but did not record: a check records only those that it prints,
// up to a limit. `listed`: the number of counted findings that the report lists.
std::uint64_t count_unlisted(const sim::Board& board, std::size_t listed) {
  std::uint64_t count = 0;
  for (std::uint32_t rank = 0; rank < board.size(); ++rank) count += board.block(rank).findings;
  return count > listed ? count - listed : 0;
}

// The command line without the launcher's own options.
std::string line_of(const RunOptions& options) {
  std::string line;
  for (const ProgramSpec& program : options.programs) {
    line += line.empty() ? "" : " : ";
    for (const std::string& word : program.argv) line += (&word == program.argv.data() ? "" : " ") + word;
  }
  return line;
}

}  // namespace

sim::Finding finding_of(CauseKind kind) {
  switch (kind) {
    case CauseKind::none:
      break;
    case CauseKind::signal:
      return sim::Finding::rank_died;
    case CauseKind::no_finalize:
      return sim::Finding::no_finalize;
    case CauseKind::no_init:
      return sim::Finding::no_init;
    case CauseKind::abort:
      return sim::Finding::aborted;
    case CauseKind::second_program:
      return sim::Finding::second_program;
    case CauseKind::timeout:
      return sim::Finding::timeout;
    case CauseKind::deadlock:
      return sim::Finding::deadlock;
    case CauseKind::interrupted:
      return sim::Finding::interrupted;
    case CauseKind::output_closed:
      return sim::Finding::output_closed;
    case CauseKind::protocol:
      return sim::Finding::launch_protocol;
  }
  MARGAY_ASSERT(false);
  return sim::Finding::launch_protocol;
}

sim::Finding finding_of_line(const Cause& cause, const sim::Board& board) {
  if (cause.kind != CauseKind::abort) return finding_of(cause.kind);
  const sim::BoardBlock& block = board.block(cause.rank);
  // A program with another MPI library writes nothing to the board.
  const std::uint32_t number = block.state == sim::RankState::aborting ? block.abort_finding : 0;
  return number == 0 || number >= sim::kFindingCount ? sim::Finding::aborted : static_cast<sim::Finding>(number);
}

JobFinding finding_of_cause(const Cause& cause, const std::string& message, const sim::Board& board) {
  JobFinding found;
  found.finding = finding_of(cause.kind);
  found.message = message;
  found.time_ns = sim::real_clock().now_ns();
  // These causes concern no single rank.
  const bool of_the_job = cause.kind == CauseKind::timeout || cause.kind == CauseKind::deadlock ||
                          cause.kind == CauseKind::interrupted || cause.kind == CauseKind::output_closed;
  if (of_the_job) return found;
  found.ranks = {cause.rank};
  // The message names the aborting call. The board may name another one: a thread outside the rank may abort, too.
  if (cause.kind == CauseKind::abort) {
    found.call = cause.text.empty() ? "MPI_Abort" : cause.text.substr(0, cause.text.find(' '));
    if (!found.call.starts_with("MPI_")) found.call.clear();
  } else {
    found.call = call_in_progress(board, cause.rank);
  }
  return found;
}

JobFinding finding_of_waits(sim::Finding finding, const std::string& message, const sim::Board& board) {
  JobFinding found;
  found.finding = finding;
  found.message = message;
  found.time_ns = sim::real_clock().now_ns();
  for (std::uint32_t rank = 0; rank < board.size(); ++rank) {
    // A rank that does not wait is not part of the deadlock.
    const sim::BoardWait& wait = board.block(rank).wait;
    if (wait.is_waiting == 0) continue;
    found.ranks.push_back(rank);
    found.waits.push_back({rank, describe_call(board, rank, {}), wait.peer, wait.tag, clean_text(wait.communicator)});
  }
  return found;
}

ReportFile::~ReportFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

// Truncates an old report at once, so that a killed launcher leaves no stale one.
Status ReportFile::open(const RunOptions& options) {
  path_ = options.report;
  if (path_.empty()) return {};
  descriptor_ = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (descriptor_ >= 0) return {};
  return Status::error("option --report: cannot write " + path_ + ": " + std::strerror(errno));
}

Status ReportFile::write(const RunOptions& options, const sim::Board& board, const std::string& job_name, int records,
                         std::vector<JobFinding> found, int exit_status) {
  if (descriptor_ < 0) return {};
  std::size_t listed = 0;
  std::vector<JobFinding> of_ranks = read_records(records, board.size(), listed);
  // Of its own findings the launcher counts only other_mpi on the board, one for each rank (OtherMpi::conclude).
  for (const JobFinding& one : found) listed += one.finding == sim::Finding::other_mpi ? one.ranks.size() : 0;
  // A check counts every finding but lists only the first ones. The difference shows how many are missing from the
  // list.
  const std::uint64_t unlisted = count_unlisted(board, listed);
  // The order of time shows the first mistake first; a stable sort keeps each rank's order.
  for (JobFinding& one : of_ranks) found.push_back(std::move(one));
  std::ranges::stable_sort(found, {}, &JobFinding::time_ns);
  const std::uint64_t started_ns = board.header().started_ns;
  nlohmann::ordered_json out;
  out["version"] = kReportVersion;
  out["job"] = job_name;
  out["command"] = line_of(options);
  out["ranks"] = board.size();
  out["exit_status"] = exit_status;
  // Since the beginning of the job, like the times of the findings.
  out["elapsed_s"] = static_cast<double>(sim::real_clock().now_ns() - started_ns) / 1e9;
  out["findings"] = nlohmann::ordered_json::array();
  for (const JobFinding& one : found) out["findings"].push_back(json_of(one, started_ns));
  out["unlisted_findings"] = unlisted;
  // A command line need not be UTF-8, but JSON must be.
  const std::string text = out.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
  for (std::size_t at = 0; at < text.size();) {
    const ssize_t written = ::write(descriptor_, text.data() + at, text.size() - at);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return Status::error("--report: cannot write " + path_ + ": " + std::strerror(errno));
    at += static_cast<std::size_t>(written);
  }
  return {};
}

}  // namespace margay::command
