// Tests of the launcher's text about a rank, made from the board.
#include "command/run/report/rank_state.hpp"

#include <doctest/doctest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "command/run/report/finding_report.hpp"
#include "command/run/report/report.hpp"

namespace margay::command {
namespace {

struct OneBoard {
  OneBoard() : descriptor(::memfd_create("board", MFD_CLOEXEC)) {
    REQUIRE(descriptor >= 0);
    REQUIRE(::ftruncate(descriptor, static_cast<off_t>(sim::Board::bytes_for(2))) == 0);
    REQUIRE(sim::Board::create(descriptor, 2, board).ok());
  }
  ~OneBoard() { ::close(descriptor); }
  OneBoard(const OneBoard&) = delete;
  OneBoard& operator=(const OneBoard&) = delete;

  void calls(std::string_view name) { name.copy(block().mpi_call.data(), block().mpi_call.size() - 1); }
  [[nodiscard]] sim::BoardBlock& block() { return board.block(1); }
  [[nodiscard]] std::string said(bool ended, const std::string& library = {}) {
    return describe_state(board, 1, 4711, ended, library);
  }
  int descriptor;
  sim::Board board;
};

}  // namespace

TEST_CASE("a rank is reported in its program, in a call, or as ended") {
  OneBoard one;
  CHECK(one.said(false) == "margay: rank 1 (pid 4711) in the program");
  one.calls("MPI_Recv");
  CHECK(one.said(false) == "margay: rank 1 (pid 4711) in the program");  // left from an earlier use of the page
  CHECK_FALSE(can_report(one.block(), false));
  one.block().state = sim::RankState::initialized;
  CHECK(one.said(false) == "margay: rank 1 (pid 4711) in MPI_Recv");
  CHECK(can_report(one.block(), false));
  CHECK(one.said(true) == "margay: rank 1 (pid 4711) has ended");
  CHECK_FALSE(can_report(one.block(), true));
  CHECK(one.said(true, "libmpi.so.40") == "margay: rank 1 (pid 4711) has ended, which has loaded libmpi.so.40");
}

TEST_CASE("a rank that has reported a long wait is shown with what it awaits") {
  OneBoard one;
  one.block().state = sim::RankState::initialized;
  one.calls("MPI_Recv");
  const std::string before = one.said(false);
  one.block().wait.is_waiting = 1;
  one.block().wait.peer = 0;
  CHECK(one.said(false).starts_with(before + ": "));
  CHECK(one.said(true) == "margay: rank 1 (pid 4711) has ended");
}

TEST_CASE("a rank's end is reported from the board") {
  OneBoard one;
  CHECK_FALSE(end_on_board(one.block(), false, 3).called_init);
  CHECK_EQ(end_on_board(one.block(), false, 3).value, 3);
  one.block().state = sim::RankState::initialized;
  CHECK(end_on_board(one.block(), true, 9).called_init);
  CHECK(end_on_board(one.block(), true, 9).by_signal);
  CHECK_FALSE(end_on_board(one.block(), true, 9).called_finalize);
  one.block().state = sim::RankState::finalized;
  CHECK(end_on_board(one.block(), false, 0).called_finalize);
  one.block().state = sim::RankState::aborting;
  one.block().abort_code = 7;
  std::string_view("no\nmore").copy(one.block().message.data(), one.block().message.size() - 1);
  const RankEnd end = end_on_board(one.block(), false, 7);
  CHECK(end.aborting);
  CHECK_EQ(end.abort_code, 7);
  CHECK(end.text.find('\n') == std::string::npos);
}

TEST_CASE("a process whose parents wait for MPI_Init has not called it by a library or a session") {
  struct {
    sim::RankState state;
    bool has_begun_world, is_awaited, called_init, called_finalize;
  } const cases[] = {
      {sim::RankState::finalized, false, true, false, false}, {sim::RankState::finalized, true, true, true, true},
      {sim::RankState::finalized, false, false, true, true},  {sim::RankState::initialized, false, true, true, false},
      {sim::RankState::initialized, true, true, true, false}, {sim::RankState::started, false, true, false, false},
  };
  for (const auto& each : cases) {
    OneBoard one;
    one.block().state = each.state;
    one.block().has_begun_world = each.has_begun_world ? 1 : 0;
    const RankEnd end = end_on_board(one.block(), false, 0, each.is_awaited);
    CHECK_EQ(end.called_init, each.called_init);
    CHECK_EQ(end.called_finalize, each.called_finalize);
  }
}

TEST_CASE("the line about an abort has the id of the rank's fatal error") {
  OneBoard one;
  Cause cause;
  cause.kind = CauseKind::abort;
  cause.rank = 1;
  one.block().abort_finding = static_cast<std::uint32_t>(sim::Finding::truncation);
  CHECK(finding_of_line(cause, one.board) == sim::Finding::aborted);  // the rank itself has written no finding
  one.block().state = sim::RankState::aborting;
  CHECK(finding_of_line(cause, one.board) == sim::Finding::truncation);
  for (const std::uint32_t none : {std::uint32_t{0}, sim::kFindingCount}) {
    one.block().abort_finding = none;
    CHECK(finding_of_line(cause, one.board) == sim::Finding::aborted);
  }
  cause.kind = CauseKind::timeout;
  CHECK(finding_of_line(cause, one.board) == sim::Finding::timeout);
}

TEST_CASE("a rank that is a thread ends before its process") {
  OneBoard one;
  one.block().state = sim::RankState::finalized;
  one.block().thread = 4712;
  one.block().thread_ended = 1;
  CHECK(one.said(false) == "margay: rank 1 (pid 4711) has ended");
}

TEST_CASE("the end of a process is the end of all of its ranks, named in one line") {
  OneBoard one;
  const std::vector<int> pids = {4711, 4711};
  ReportContext context;
  context.job_name = "job1";
  context.host = "here";
  context.board = &one.board;
  context.pids = &pids;
  context.process_ranks = 2;
  for (const std::uint32_t rank : {0U, 1U}) one.board.block(rank).state = sim::RankState::initialized;
  Cause cause;
  cause.kind = CauseKind::signal;
  cause.signal = 9;
  CHECK(describe_cause(cause, context)
            .starts_with("margay: job job1: ranks 0-1 (threads of one process, host here, pid 4711) were killed by "
                         "signal 9, SIGKILL"));
  using Ranks = std::vector<std::uint32_t>;
  CHECK(finding_of_cause(cause, "", one.board, 2).ranks == Ranks{0, 1});
  CHECK(finding_of_cause(cause, "", one.board, 1).ranks == Ranks{0});
  cause.kind = CauseKind::no_finalize;
  cause.code = 3;
  CHECK(describe_cause(cause, context).find("pid 4711) left without MPI_Finalize (exit code 3)") != std::string::npos);
  CHECK(ranks_of_cause(cause, one.board, 2) == Ranks{0, 1});
  // A rank that has finalized is not named.
  one.board.block(1).state = sim::RankState::finalized;
  CHECK(ranks_of_cause(cause, one.board, 2) == Ranks{0});
  CHECK(describe_cause(cause, context).find("job1: rank 0 (host here, pid 4711) left without") != std::string::npos);
  cause.kind = CauseKind::abort;
  CHECK(ranks_of_cause(cause, one.board, 2) == Ranks{0});
  CHECK(describe_stop(1, context).find("ranks 0-1 (threads of one process, host here, pid 4711) have been stopped") !=
        std::string::npos);
}

TEST_CASE("lists of ranks are written as ranges") {
  CHECK(ranks_text(std::vector<std::uint32_t>{4}) == "rank 4");
  CHECK(ranks_text(std::vector<std::uint32_t>{0, 1, 2, 5, 7, 8}) == "ranks 0-2, 5, 7-8");
}

}  // namespace margay::command
