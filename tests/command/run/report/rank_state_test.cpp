// What the board says of one rank, in the launcher's words.
#include "command/run/report/rank_state.hpp"

#include <doctest/doctest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <string_view>

#include "command/run/report/finding_report.hpp"

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

TEST_CASE("a rank is in its program, in a call, or has ended") {
  OneBoard one;
  CHECK(one.said(false) == "margay: rank 1 (pid 4711) in the program");
  one.calls("MPI_Recv");
  CHECK(one.said(false) == "margay: rank 1 (pid 4711) in the program");  // of an earlier life of the page
  CHECK_FALSE(can_report(one.block(), false));
  one.block().state = sim::RankState::initialized;
  CHECK(one.said(false) == "margay: rank 1 (pid 4711) in MPI_Recv");
  CHECK(can_report(one.block(), false));
  CHECK(one.said(true) == "margay: rank 1 (pid 4711) has ended");
  CHECK_FALSE(can_report(one.block(), true));
  CHECK(one.said(true, "libmpi.so.40") == "margay: rank 1 (pid 4711) has ended, which has loaded libmpi.so.40");
}

TEST_CASE("a rank that has reported a long wait shows what it waits for") {
  OneBoard one;
  one.block().state = sim::RankState::initialized;
  one.calls("MPI_Recv");
  const std::string before = one.said(false);
  one.block().wait.is_waiting = 1;
  one.block().wait.peer = 0;
  CHECK(one.said(false).starts_with(before + ": "));
  CHECK(one.said(true) == "margay: rank 1 (pid 4711) has ended");
}

TEST_CASE("how a rank ended, by the board") {
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

TEST_CASE("the line about an abort has the id of the rank's fatal error") {
  OneBoard one;
  Cause cause;
  cause.kind = CauseKind::abort;
  cause.rank = 1;
  one.block().abort_finding = static_cast<std::uint32_t>(sim::Finding::truncation);
  CHECK(finding_of_line(cause, one.board) == sim::Finding::aborted);  // the rank has written nothing itself
  one.block().state = sim::RankState::aborting;
  CHECK(finding_of_line(cause, one.board) == sim::Finding::truncation);
  for (const std::uint32_t none : {std::uint32_t{0}, sim::kFindingCount}) {
    one.block().abort_finding = none;
    CHECK(finding_of_line(cause, one.board) == sim::Finding::aborted);
  }
  cause.kind = CauseKind::timeout;
  CHECK(finding_of_line(cause, one.board) == sim::Finding::timeout);
}

}  // namespace margay::command
