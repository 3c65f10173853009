#include "command/run/report/finding_report.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>
#include <string_view>

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
  }
  out.message = clean_text(record.message);
  out.time_ns = record.time_ns;
  out.call = clean_text(record.call);
  out.site = clean_text(record.site);
  out.communicator = clean_text(record.communicator);
  out.peer = record.peer;
  out.tag = record.tag;
  const bool is_message = out.finding == sim::Finding::unreceived_message ||
                          out.finding == sim::Finding::dropped_ready_send ||
                          out.finding == sim::Finding::type_mismatch ||
                          // In a collective call the size is not known.
                          (out.finding == sim::Finding::truncation && record.bytes != 0);
  out.bytes = is_message ? static_cast<std::int64_t>(record.bytes) : -1;
  return true;
}

// The bytes of the memory file.
std::string read_all(int descriptor) {
  std::string bytes;
  std::array<char, 64 * sizeof(sim::FindingRecord)> part{};
  ssize_t got = 0;
  while ((got = ::pread(descriptor, part.data(), part.size(), static_cast<off_t>(bytes.size()))) > 0) {
    bytes.append(part.data(), static_cast<std::size_t>(got));
  }
  return bytes;
}

// Invalid records are skipped, not fatal, because the report is most useful after a crash. The file may also contain
// truncated records, and bytes that the program wrote. So each record is searched by its begin mark, and is whole if
// its end mark is in place. `counted`: the number of returned findings that the ranks also counted on the board
// (BoardBlock::findings).
std::vector<JobFinding> read_records(int descriptor, std::uint32_t ranks, std::size_t& counted) {
  std::vector<JobFinding> found;
  const std::string bytes = descriptor >= 0 ? read_all(descriptor) : std::string();
  const std::string_view mark(reinterpret_cast<const char*>(&sim::kFindingBegin), sizeof sim::kFindingBegin);
  std::size_t at = 0;
  while ((at = bytes.find(mark, at)) != std::string::npos && bytes.size() - at >= sizeof(sim::FindingRecord)) {
    sim::FindingRecord record;
    std::memcpy(&record, bytes.data() + at, sizeof record);
    JobFinding one;
    // After a truncated record, the search continues right after its begin mark, because the next record may begin
    // anywhere in the bytes that the truncated one lacks.
    at += record.end == sim::kFindingEnd ? sizeof record : mark.size();
    if (record.end != sim::kFindingEnd || !read_record(record, ranks, one)) continue;
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
  if (!wait.site.empty()) out["site"] = wait.site;
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
  if (finding.bytes >= 0) out["bytes"] = finding.bytes;
  for (const FoundWait& wait : finding.waits) {
    nlohmann::ordered_json one;
    one["rank"] = wait.rank;
    add_peer_to(one, wait);
    if (wait.more != 0) one["more"] = wait.more;
    if (!wait.held.empty()) one["held"] = wait.held;
    out["waits"].push_back(std::move(one));
  }
  return out;
}

// The number of findings that ranks counted on the board but did not record: a check records only those that it prints,
// up to a limit. `listed`: the number of counted findings that the report lists.
std::uint64_t count_unlisted(const sim::Board& board, std::size_t listed) {
  std::uint64_t count = 0;
  for (std::uint32_t rank = 0; rank < board.used(); ++rank) count += board.block(rank).findings;
  return count > listed ? count - listed : 0;
}

// The command line without the launcher's own options.
std::string line_of(const RunOptions& options) {
  std::string line;
  for (const ProgramSpec& program : options.programs) {
    line += line.empty() ? "" : " : ";
    for (const std::string& token : program.argv) line += (&token == program.argv.data() ? "" : " ") + token;
  }
  return line;
}

// The location in "MPI_Abort (ring.c:41) with code 7 ..." or "MPI_Send (ring.c:41) failed ..."; empty: there is none.
std::string site_in(const std::string& message) {
  const std::size_t begin = message.find(" (");
  if (begin == std::string::npos || begin != message.find(' ')) return {};
  const std::size_t end = std::min(message.find(") with code ", begin), message.find(") failed", begin));
  return end == std::string::npos ? std::string() : message.substr(begin + 2, end - begin - 2);
}

// The report of a job that has not ended, or that could not be started. `why`: the reason, for member "error".
// `exit_status` -1: there is none yet.
nlohmann::ordered_json unfinished(const RunOptions& options, const std::string& why, int exit_status) {
  nlohmann::ordered_json out;
  out["version"] = kReportVersion;
  out["command"] = line_of(options);
  std::uint32_t ranks = 0;
  for (const ProgramSpec& program : options.programs) ranks += program.ranks;
  out["ranks"] = ranks;
  if (exit_status >= 0) out["exit_status"] = exit_status;
  out["error"] = why;
  out["findings"] = nlohmann::ordered_json::array();
  out["unlisted_findings"] = 0;
  return out;
}

// A command line need not be UTF-8, but JSON must be.
std::string text_of(const nlohmann::ordered_json& json) {
  return json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
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

JobFinding finding_of_cause(const Cause& cause, const std::string& message, const sim::Board& board,
                            std::uint32_t process_ranks) {
  JobFinding found;
  found.finding = finding_of(cause.kind);
  found.message = message;
  found.time_ns = sim::real_clock().now_ns();
  // These causes concern no single rank.
  const bool of_the_job = cause.kind == CauseKind::timeout || cause.kind == CauseKind::deadlock ||
                          cause.kind == CauseKind::interrupted || cause.kind == CauseKind::output_closed;
  if (of_the_job) return found;
  found.ranks = ranks_of_cause(cause, board, process_ranks);
  // The message names the aborting call. The board may name another one: a thread outside the rank may abort, too.
  if (cause.kind == CauseKind::abort) {
    found.call = cause.text.empty() ? "MPI_Abort" : cause.text.substr(0, cause.text.find(' '));
    if (!found.call.starts_with("MPI_")) found.call.clear();
    found.site = site_in(cause.text);
  } else if (found.ranks.size() == 1) {
    found.call = call_in_progress(board, cause.rank);
  }
  return found;
}

JobFinding finding_of_waits(sim::Finding finding, const std::string& message, const sim::Board& board,
                            const NameLocation& name_location) {
  JobFinding found;
  found.finding = finding;
  found.message = message;
  found.time_ns = sim::real_clock().now_ns();
  for (std::uint32_t rank = 0; rank < board.used(); ++rank) {
    // A rank that does not wait is not part of the deadlock.
    const sim::BoardWait& wait = board.block(rank).wait;
    if (wait.is_waiting == 0) continue;
    found.ranks.push_back(rank);
    FoundWait& one = found.waits.emplace_back();
    one.rank = rank;
    one.call = describe_call(board, rank, {});
    one.peer = wait.peer;
    one.tag = wait.tag;
    one.communicator = clean_text(wait.communicator);
    one.held = clean_text(wait.held);
    if (name_location) one.site = name_location(clean_text(wait.location));
    // Only a wait with a communicator names one of several requests, so that the others are "more".
    if (!one.communicator.empty() && wait.requests > 1) one.more = wait.requests - 1;
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
  if (descriptor_ < 0) return Status::error("option --report: cannot write " + path_ + ": " + std::strerror(errno));
  struct stat info {};
  if (::fstat(descriptor_, &info) != 0 || !S_ISREG(info.st_mode)) return {};
  return put(text_of(unfinished(options, "the launcher was killed before the job had ended", -1)));
}

Status ReportFile::write(const RunOptions& options, const sim::Board& board, const std::string& job_name, int records,
                         std::vector<JobFinding> found, int exit_status, const std::string& error) {
  if (descriptor_ < 0) return {};
  std::size_t listed = 0;
  std::vector<JobFinding> of_ranks = read_records(records, board.used(), listed);
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
  out["ranks"] = board.used();
  out["exit_status"] = exit_status;
  if (!error.empty()) out["error"] = error;
  // Since the beginning of the job, like the times of the findings.
  out["elapsed_s"] = static_cast<double>(sim::real_clock().now_ns() - started_ns) / 1e9;
  out["findings"] = nlohmann::ordered_json::array();
  for (const JobFinding& one : found) out["findings"].push_back(json_of(one, started_ns));
  out["unlisted_findings"] = unlisted;
  return put(text_of(out));
}

Status ReportFile::write_unstarted(const RunOptions& options, const std::string& why, int exit_status) {
  return descriptor_ < 0 ? Status() : put(text_of(unfinished(options, why, exit_status)));
}

Status ReportFile::put(const std::string& text) {
  struct stat info {};
  if (::fstat(descriptor_, &info) == 0 && S_ISREG(info.st_mode)) {
    // ftruncate() leaves the file offset after the old text, where a write would leave a gap of zeros before it.
    if (::ftruncate(descriptor_, 0) != 0 || ::lseek(descriptor_, 0, SEEK_SET) != 0) {
      return Status::error("--report: cannot write " + path_ + ": " + std::strerror(errno));
    }
  }
  for (std::size_t at = 0; at < text.size();) {
    const ssize_t written = ::write(descriptor_, text.data() + at, text.size() - at);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return Status::error("--report: cannot write " + path_ + ": " + std::strerror(errno));
    at += static_cast<std::size_t>(written);
  }
  return {};
}

}  // namespace margay::command
