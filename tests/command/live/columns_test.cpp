// Tests of the table of `margay top`, made from a board and from /proc, without a job.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "command/live/board_reader.hpp"
#include "command/live/columns.hpp"
#include "command/live/job_snapshot.hpp"
#include "command/live/running_jobs.hpp"
#include "sim/boot/board.hpp"
#include "sim/boot/node_segment.hpp"

namespace margay::command {

namespace {

constexpr std::uint32_t kRanks = 3;

// A board as its launcher makes it, and as another process opens it.
struct Made {
  Made() {
    sim::SegmentRequest request;
    request.sizes = sim::only_size(sim::Board::bytes_for(kRanks));
    REQUIRE(sim::create_segment(request, descriptor).ok());
    REQUIRE(sim::Board::create(descriptor, kRanks, board).ok());
    board.header().node_count = 1;
    board.publish();
  }
  ~Made() { ::close(descriptor); }
  Made(const Made&) = delete;
  Made& operator=(const Made&) = delete;

  [[nodiscard]] portals::Status open(BoardReader& out) const {
    return BoardReader::open(::open(("/proc/self/fd/" + std::to_string(descriptor)).c_str(), O_RDONLY | O_CLOEXEC),
                             out);
  }

  int descriptor = -1;
  sim::Board board;
};

sim::BoardBlock begun() {
  sim::BoardBlock block;
  block.pid = 7;
  block.start_ticks = 100;
  block.state = sim::RankState::initialized;
  return block;
}

RankSnapshot row(std::uint32_t rank, double messages) {
  RankSnapshot look;
  look.rank = rank;
  look.pid = 100 + static_cast<int>(rank);
  look.doing = Activity::computing;
  look.rates = RankSnapshot::Rates{.processor = 0.5, .calls = 1, .messages = messages, .bytes = 12'345'678};
  return look;
}

}  // namespace

TEST_CASE("a board is read as its ranks write it, and a file that has been replaced is rejected") {
  Made made;
  BoardReader reader;
  REQUIRE(made.open(reader).ok());
  sim::set_text(made.board.block(2).mpi_call, "MPI_Recv");
  made.board.block(2).posted_receives = 5;
  sim::BoardBlock block;
  REQUIRE(reader.read_block(2, block));
  CHECK(std::string(block.mpi_call.data()) == "MPI_Recv");
  CHECK(block.posted_receives == 5);
  CHECK(reader.refresh());
  made.board.header().size = 2;
  CHECK_FALSE(reader.refresh());
}

TEST_CASE("a board of more ranks than its file has room for is rejected, and so is one that is not published") {
  Made made;
  made.board.header().size = 4;
  BoardReader reader;
  CHECK(made.open(reader).sentence().find("do not fit 4 ranks") != std::string::npos);
  made.board.header().size = kRanks;
  made.board.header().magic = 0;
  CHECK(made.open(reader).sentence() == "is not complete");
  made.board.publish();
  made.board.header().node_count = 9;
  CHECK_FALSE(made.open(reader).ok());
  CHECK_FALSE(BoardReader::open(::open("/dev/null", O_RDONLY | O_CLOEXEC), reader).ok());
}

TEST_CASE("a rank's activity follows from the board and from its process") {
  const ProcessSnapshot runs{'R', 100, 0};
  const ProcessSnapshot sleeps{'S', 100, 0};
  sim::BoardBlock block;
  CHECK(activity_of(block, {}) == Activity::not_begun);
  block = begun();
  CHECK(activity_of(block, runs) == Activity::computing);
  CHECK(activity_of(block, sleeps) == Activity::sleeping);
  sim::set_text(block.mpi_call, "MPI_Wait");
  CHECK(activity_of(block, runs) == Activity::in_call);
  CHECK(activity_of(block, sleeps) == Activity::asleep);
  block.wait.is_waiting = 1;
  CHECK(activity_of(block, sleeps) == Activity::waiting);
  CHECK(activity_of(block, {'T', 100, 0}) == Activity::stopped);
  CHECK(activity_of(block, {'R', 101, 0}) == Activity::ended);  // another process with the same number
  CHECK(activity_of(block, {'Z', 100, 0}) == Activity::ended);
  CHECK(activity_of(block, {}) == Activity::ended);
  block.state = sim::RankState::finalized;
  CHECK(activity_of(block, runs) == Activity::finalized);
  block.state = static_cast<sim::RankState>(77);
  CHECK(activity_of(block, runs) == Activity::unknown);
}

TEST_CASE("numbers and times are short") {
  CHECK(short_number(0) == "0");
  CHECK(short_number(9999) == "9999");
  CHECK(short_number(10'000) == "10.0k");
  CHECK(short_number(123'456) == "123k");
  CHECK(short_number(999'700) == "1.0M");
  CHECK(short_number(1e30).size() > 3);
  CHECK(short_time(0.04) == "0.0");
  CHECK(short_time(9.96) == "10");
  CHECK(short_time(200) == "3m20");
  CHECK(short_time(18'420) == "5h07");
  CHECK(run_time_text(4.54) == "4.5 s");
  CHECK(run_time_text(59.4) == "59 s");
  CHECK(run_time_text(59.6) == "1m00s");
  CHECK(run_time_text(4980) == "1h23m");
}

TEST_CASE("a table has a line for each rank in the requested order, and the launcher's observations") {
  JobSnapshot job;
  job.name = "0123abcd";
  job.nodes = 1;
  job.ranks = {row(0, 1), row(1, 30), row(2, 20)};
  std::size_t head_at = 0;
  std::vector<std::string> lines = table_of(job, SortKey::messages, kAnyWidth, head_at);
  REQUIRE(lines.size() == 5);
  CHECK(head_at == 1);
  CHECK(lines[2].starts_with("    1 "));
  CHECK(lines[3].starts_with("    2 "));
  CHECK(lines[2].find("12.3M") != std::string::npos);
  job.stall = sim::BoardStall::deadlock;
  job.cycle = "0 -> 1 -> 0";
  lines = table_of(job, SortKey::rank, kAnyWidth, head_at);
  CHECK(head_at == 2);
  CHECK(lines[1].ends_with("and none is in flight; cycle: 0 -> 1 -> 0"));
  CHECK(lines[3].starts_with("    0 "));
}

TEST_CASE("a narrow table shows the awaited rank behind the call, the whole cycle, and the sort column") {
  JobSnapshot job;
  job.nodes = 1;
  job.ranks = {row(0, 1), row(1, 30)};
  job.ranks[0].call = "MPI_Recv";
  job.ranks[0].waits_for = "waits for rank 1, tag 5, MPI_COMM_WORLD";
  job.stall = sim::BoardStall::deadlock;
  job.cycle = "0 -> 1 -> 2 -> 3 -> 4 -> 5 -> 6 -> 0";
  std::size_t head_at = 0;
  for (const std::size_t room : {100U, 80U, 67U}) {
    CAPTURE(room);
    const std::vector<std::string> lines = table_of(job, SortKey::bytes, room, head_at);
    for (std::size_t at = 1; at < lines.size(); ++at) CHECK(lines[at].size() <= room);
    CHECK(lines[head_at - 1] == "  cycle: 0 -> 1 -> 2 -> 3 -> 4 -> 5 -> 6 -> 0");
    CHECK(lines[head_at].find(" call          waits for ") != std::string::npos);
    CHECK((lines[head_at].find("since s") != std::string::npos) == (room > 67));
    CHECK(lines[head_at].find("bytes/s") != std::string::npos);
    CHECK(lines[head_at + 1].find(" MPI_Recv      rank 1, tag 5, MPI_COMM_WORLD ") != std::string::npos);
    CHECK(lines[head_at + 2].find(" -             - ") != std::string::npos);
  }
  job.ranks[0].waits_for.clear();
  const std::vector<std::string> lines = table_of(job, SortKey::rank, 100, head_at);
  CHECK(lines[head_at].find("waits for") == std::string::npos);
  CHECK(lines[head_at].find("unexp") != std::string::npos);
  CHECK(lines[head_at].find("tcp") == std::string::npos);
}

TEST_CASE("a text longer than a line is broken at a space, or at the end of the line if there is none") {
  CHECK(wrapped("one two", 7) == std::vector<std::string>{"one two"});
  CHECK(wrapped("one two three", 7) == std::vector<std::string>{"one two", "  three"});
  CHECK(wrapped("abcdefghij", 4) == std::vector<std::string>{"abcd", "  ef", "  gh", "  ij"});
  CHECK(wrapped("abcdef", 1) == std::vector<std::string>{"abcdef"});
}

TEST_CASE("the counters of libraries, and held messages, follow the table") {
  JobSnapshot job;
  job.ranks = {row(0, 1), row(1, 1)};
  job.ranks[1].libraries = {{"mail", {{"sent", 5}, {"taken", 4}}}, {"empty", {}}};
  job.ranks[1].held = "message 3 of rank 0";
  job.stall = sim::BoardStall::deadlock;
  std::size_t head_at = 0;
  const std::vector<std::string> lines = table_of(job, SortKey::rank, kAnyWidth, head_at);
  REQUIRE(lines.size() == head_at + 6);
  CHECK(lines[head_at - 1].find("none is in flight") == std::string::npos);
  CHECK(lines[head_at + 3] == "rank 1, held on its wire: message 3 of rank 0");
  CHECK(lines[head_at + 4] == "rank 1, library mail: sent 5, taken 4");
  CHECK(lines[head_at + 5] == "rank 1, library empty:");
}

TEST_CASE("a snapshot has the libraries that are open") {
  const Made made;
  sim::BoardBlock& block = made.board.block(1);
  block = begun();
  sim::set_text(block.libraries[0].name, "ended");
  sim::set_text(block.libraries[2].name, "mail");
  block.libraries[2].is_open = 1;
  sim::set_text(block.libraries[2].counters[0].name, "sent");
  block.libraries[2].counters[0].count = 5;
  RunningJob job;
  REQUIRE(made.open(job.board).ok());
  const JobSnapshot look = JobMonitor().look(job, 1);
  CHECK(look.ranks[0].libraries.empty());
  REQUIRE(look.ranks[1].libraries.size() == 1);
  CHECK(look.ranks[1].libraries[0].name == "mail");
  CHECK(look.ranks[1].libraries[0].counters == std::vector<std::pair<std::string, std::uint64_t>>{{"sent", 5}});
}

TEST_CASE("an ambiguous or unknown name of a job is explained") {
  RunningJobs jobs;
  CHECK(jobs.explain_no_match("", "job") == "no job of this user runs on this machine");
  CHECK(jobs.explain_no_match("dead", "job") == "unknown job dead; no job of this user runs on this machine");
  for (const char* const job : {"aa01", "aa02", "bb03"}) jobs.all().emplace_back().name = job;
  for (RunningJob& job : jobs.all()) job.launcher.pid = 7;
  CHECK(jobs.explain_no_match("", "job") ==
        "several jobs run: name one of aa01 (launcher 7), aa02 (launcher 7), bb03 (launcher 7)");
  CHECK(jobs.named("aa") == nullptr);
  CHECK(jobs.explain_no_match("aa", "job") ==
        "several jobs have names that begin with aa: name one of aa01 (launcher 7), aa02 (launcher 7)");
  CHECK(
      jobs.explain_no_match("\x1b[31m\n", "job or process") ==
      "unknown job or process ?[31m?; the jobs of this user on this machine are aa01 (launcher 7), aa02 (launcher 7), "
      "bb03 (launcher 7)");
}

}  // namespace margay::command
