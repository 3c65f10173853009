// Tests of the report of a run: records of ranks are read from between other bytes.
#include "command/run/report/finding_report.hpp"

#include <doctest/doctest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace margay::command {
namespace {

// A board of two ranks, a memory file for findings, and the report's file.
struct Run {
  Run() : board_descriptor(::memfd_create("board", MFD_CLOEXEC)), records(::memfd_create("records", MFD_CLOEXEC)) {
    REQUIRE(::ftruncate(board_descriptor, static_cast<off_t>(sim::Board::bytes_for(2))) == 0);
    REQUIRE(sim::Board::create(board_descriptor, 2, board).ok());
    options.report = path;
  }
  ~Run() {
    ::close(board_descriptor);
    ::close(records);
    std::remove(path.c_str());
  }
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  void append(const void* bytes, std::size_t size) const {
    REQUIRE(::write(records, bytes, size) == static_cast<ssize_t>(size));
  }
  void append(std::string_view text) const { append(text.data(), text.size()); }
  // The file's current content; a null value if it is not JSON.
  [[nodiscard]] nlohmann::json content() const {
    std::ifstream stream(path);
    return nlohmann::json::parse(stream, nullptr, false);
  }
  // The messages of the findings in the current report.
  [[nodiscard]] std::vector<std::string> reported() const {
    ReportFile file;
    REQUIRE(file.open(options).ok());
    REQUIRE(file.write(options, board, "job", records, {}, 0).ok());
    std::vector<std::string> messages;
    const nlohmann::json written = content();
    for (const auto& finding : written.at("findings")) messages.push_back(finding.at("message"));
    return messages;
  }

  int board_descriptor;
  int records;
  sim::Board board;
  RunOptions options;
  std::string path = "/tmp/finding_report_test." + std::to_string(::getpid());
};

sim::FindingRecord record_of(std::string_view message, std::uint32_t rank = 0) {
  sim::FindingRecord record;
  record.finding = static_cast<std::uint32_t>(sim::Finding::leaked_handle);
  record.rank = rank;
  sim::set_text(record.message, message);
  return record;
}

}  // namespace

TEST_CASE("a report contains the complete records between other bytes and parts of records") {
  const Run run;
  const sim::FindingRecord first = record_of("first");
  const sim::FindingRecord torn = record_of("torn");
  const sim::FindingRecord second = record_of("second", 1);
  const sim::FindingRecord foreign = record_of("of no rank", 2);
  const sim::FindingRecord third = record_of("third");
  run.append("x");
  run.append(&first, sizeof first);
  run.append(&torn, sizeof torn - 1);
  run.append(&second, sizeof second);
  run.append(&foreign, sizeof foreign);
  run.append(&sim::kFindingBegin, sizeof sim::kFindingBegin);
  run.append("nonsense of the program\n");
  run.append(&third, sizeof third);
  run.append(&torn, sizeof torn / 2);
  std::string messages;
  for (const std::string& message : run.reported()) messages += message + " ";
  CHECK(messages == "first second third ");
}

TEST_CASE("a report without records has no findings") {
  const Run run;
  CHECK(run.reported().empty());
  run.append("short");
  CHECK(run.reported().empty());
}

TEST_CASE("a rank's wait has the call's location and the number of further requests") {
  const Run run;
  sim::BoardBlock& block = run.board.block(1);
  block.state = sim::RankState::initialized;
  block.wait.is_waiting = 1;
  block.wait.peer = 0;
  block.wait.tag = 7;
  block.wait.requests = 3;
  sim::set_name(block.wait.call, "MPI_Waitall");
  sim::set_text(block.wait.communicator, "MPI_COMM_WORLD");
  sim::set_text(block.wait.location, "question");
  const auto name_location = [](const std::string& question) { return question + ".c:41"; };
  const JobFinding found = finding_of_waits(sim::Finding::deadlock, "message", run.board, name_location);
  REQUIRE(found.waits.size() == 1);
  CHECK(found.waits[0].call == "MPI_Waitall");
  CHECK(found.waits[0].site == "question.c:41");
  CHECK(found.waits[0].more == 2);
}

TEST_CASE("the finding of an abort has the location of the call") {
  const Run run;
  Cause cause;
  cause.kind = CauseKind::abort;
  const auto site_of = [&](const char* text) {
    cause.text = text;
    return finding_of_cause(cause, "message", run.board, 1).site;
  };
  CHECK(site_of("MPI_Abort (ring.c:41) with code 7 on MPI_COMM_WORLD") == "ring.c:41");
  CHECK(site_of("MPI_Send (a (b).c:1) failed on MPI_COMM_WORLD: MPI_ERR_TAG: tag -5 (x) failed") == "a (b).c:1");
  CHECK(site_of("MPI_Abort with code 7 on the communicator (a)").empty());
  CHECK(site_of("MPI_Send failed: tag (x) failed").empty());
}

TEST_CASE("a report is valid before the job has started, and if it does not start") {
  const Run run;
  {
    ReportFile file;
    REQUIRE(file.open(run.options).ok());
    CHECK(run.content().contains("error"));
    CHECK_FALSE(run.content().contains("exit_status"));
    REQUIRE(file.write_unstarted(run.options, "no program", 127).ok());
  }
  CHECK(run.content().at("error") == "no program");
  CHECK(run.content().at("exit_status") == 127);
  CHECK(run.content().at("findings").empty());
}

}  // namespace margay::command
