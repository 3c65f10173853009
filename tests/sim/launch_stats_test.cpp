#include <doctest/doctest.h>
#include <unistd.h>

#include "sim/boot/node_segment.hpp"
#include "sim/launch/stall.hpp"
#include "sim/launch/stats.hpp"

using namespace margay::sim;

namespace {

struct TestBoard {
  explicit TestBoard(std::uint32_t size) {
    SegmentRequest request;
    request.bytes = Board::bytes_for(size);
    REQUIRE(create_segment(request, descriptor).ok());
    REQUIRE(Board::create(descriptor, size, board).ok());
  }
  ~TestBoard() { ::close(descriptor); }
  void all(RankState state) {
    for (std::uint32_t rank = 0; rank < board.size(); ++rank) board.block(rank).state = state;
  }
  int descriptor = -1;
  Board board;
};

bool says(const std::vector<std::string>& lines, const std::string& text) {
  for (const std::string& line : lines) {
    if (line.find(text) != std::string::npos) return true;
  }
  return false;
}

}  // namespace

TEST_CASE("the accounting law is checked for each ordered pair") {
  TestBoard test(3);
  test.all(RankState::kFinalized);
  test.board.sent(0)[1] = 10;
  test.board.delivered(1)[0] = 8;
  test.board.dropped(1)[0 * kDropReasons + 3] = 2;
  CHECK(check_accounting(test.board).offending_pairs == 0);
  CHECK(check_accounting(test.board).checked);
  test.board.sent(2)[0] = 1;
  const AccountingResult lost = check_accounting(test.board);
  CHECK(lost.offending_pairs == 1);
  CHECK(says(lost.lines, "from rank 2 to rank 0: sent 1, delivered 0, dropped 0"));
  test.board.delivered(2)[1] = 5;
  CHECK(check_accounting(test.board).offending_pairs == 2);
}

TEST_CASE("accounts of a job that did not end are not judged") {
  TestBoard test(2);
  CHECK_FALSE(check_accounting(test.board).checked);
  test.all(RankState::kFinalized);
  test.board.block(1).state = RankState::kInitialized;
  test.board.sent(0)[1] = 4;
  const AccountingResult result = check_accounting(test.board);
  CHECK_FALSE(result.checked);
  CHECK(result.offending_pairs == 0);
  CHECK(says(result.lines, "rank 1 did not finish MPI"));
}

TEST_CASE("the table sums over ranks and names what was dropped") {
  TestBoard test(2);
  for (std::uint32_t rank = 0; rank < 2; ++rank) {
    BoardBlock& block = test.board.block(rank);
    block.by_protocol[static_cast<std::size_t>(CountedProtocol::kLongPulled)] = {3, 3000};
    block.entries_walked = 7;
    block.heap_high_water_bytes = 100 * (rank + 1);
  }
  test.board.dropped(1)[0 * kDropReasons + static_cast<std::size_t>(margay::portals::DropReason::no_room)] = 2;
  const std::vector<std::string> lines = stats_table(test.board);
  CHECK(says(lines, "long, pulled"));
  CHECK(says(lines, "6000"));
  CHECK_FALSE(says(lines, "long, matched"));
  CHECK(says(lines, "match entries walked: 14"));
  CHECK(says(lines, "200 bytes (rank 1)"));
  CHECK(says(lines, std::string(margay::portals::name(margay::portals::DropReason::no_room)) + " 2"));
}

TEST_CASE("a job in which all wait without progress is reported once, with the cycle") {
  TestBoard test(4);
  test.all(RankState::kInitialized);
  const std::int32_t waits_for[] = {1, 2, 1, -1};
  for (std::uint32_t rank = 0; rank < 4; ++rank) {
    test.board.block(rank).wait.is_waiting = 1;
    test.board.block(rank).wait.peer = waits_for[rank];
    set_text(test.board.block(rank).mpi_call, "MPI_Recv");
  }
  constexpr std::int64_t kSecond = 1'000'000'000;
  StallDetector stall(test.board, kSecond);
  CHECK(stall.look(0).empty());
  CHECK(stall.look(kSecond - 1).empty());
  const auto lines = stall.look(kSecond);
  CHECK(says(lines, "cycle: 1 -> 2 -> 1"));
  CHECK(says(lines, "rank 0 in MPI_Recv: waits for rank 1"));
  CHECK(says(lines, "rank 3 in MPI_Recv: waits for any rank"));
  CHECK(stall.look(2 * kSecond).empty());
  test.board.block(2).progress = 1;
  CHECK(stall.look(3 * kSecond).empty());
  CHECK(stall.look(4 * kSecond - 1).empty());
  CHECK_FALSE(stall.look(4 * kSecond).empty());
}

TEST_CASE("a stopped rank's last word on its wait is no stall, nor is the moment after it goes on") {
  TestBoard test(2);
  test.all(RankState::kInitialized);
  for (std::uint32_t rank = 0; rank < 2; ++rank) test.board.block(rank).wait.is_waiting = 1;
  StallDetector stall(test.board, 10);
  CHECK(stall.look(0, false).empty());
  CHECK(stall.look(20, true).empty());
  CHECK(stall.look(100, true).empty());
  CHECK(stall.look(109, false).empty());
  CHECK_FALSE(stall.look(110, false).empty());
}

TEST_CASE("one computing rank is no stall") {
  TestBoard test(2);
  test.all(RankState::kInitialized);
  test.board.block(0).wait.is_waiting = 1;
  StallDetector stall(test.board, 1);
  CHECK(stall.look(0).empty());
  CHECK(stall.look(1'000'000'000'000).empty());
}
