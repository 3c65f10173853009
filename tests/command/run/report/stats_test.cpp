#include <doctest/doctest.h>
#include <unistd.h>

#include "command/run/report/stall.hpp"
#include "command/run/report/stats.hpp"
#include "mpi_adi/rma/window.hpp"
#include "sim/boot/node_segment.hpp"

using namespace margay;
using namespace margay::command;

namespace {

struct TestBoard {
  explicit TestBoard(std::uint32_t size) {
    sim::SegmentRequest request;
    request.sizes = sim::only_size(sim::Board::bytes_for(size));
    REQUIRE(sim::create_segment(request, descriptor).ok());
    REQUIRE(sim::Board::create(descriptor, size, board).ok());
  }
  ~TestBoard() { ::close(descriptor); }
  void all(sim::RankState state) {
    for (std::uint32_t rank = 0; rank < board.size(); ++rank) board.block(rank).state = state;
  }
  int descriptor = -1;
  sim::Board board;
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
  test.all(sim::RankState::finalized);
  test.board.sent(0)[1] = 10;
  test.board.delivered(1)[0] = 8;
  test.board.dropped(1)[0 * sim::kDropReasons + 3] = 2;
  CHECK(check_accounting(test.board).offending_pairs == 0);
  CHECK(check_accounting(test.board).checked);
  test.board.sent(2)[0] = 1;
  const AccountingResult lost = check_accounting(test.board);
  CHECK(lost.offending_pairs == 1);
  CHECK(says(lost.lines, "from rank 2 to rank 0: sent 1, delivered 0, dropped 0"));
  test.board.delivered(2)[1] = 5;
  CHECK(check_accounting(test.board).offending_pairs == 2);
}

TEST_CASE("counters that a library declares equal are compared by their sums") {
  TestBoard test(2);
  test.all(sim::RankState::finalized);
  const auto join = [&](std::uint32_t rank, std::size_t place, std::uint64_t sent, std::uint64_t taken) {
    sim::BoardLibrary& library = test.board.block(rank).libraries[place];
    sim::set_text(library.name, "mail");
    sim::set_text(library.counters[0].name, "sent");
    sim::set_text(library.counters[1].name, "taken");
    library.counters[0].count = sent;
    library.counters[1].count = taken;
    library.equals[0] = 2;
  };
  join(0, 0, 5, 1);
  join(1, 2, 1, 5);
  CHECK_FALSE(check_accounting(test.board).fails());
  test.board.block(1).libraries[2].counters[1].count = 4;
  const AccountingResult result = check_accounting(test.board);
  CHECK(result.fails());
  CHECK(result.unequal_counters == 1);
  CHECK(says(result.lines, "library mail: sent 6, taken 5"));
  // Damaged indices of equal counters are ignored.
  test.board.block(0).libraries[0].equals[0] = 200;
  test.board.block(1).libraries[2].equals[0] = 200;
  CHECK_FALSE(check_accounting(test.board).fails());
}

TEST_CASE("the quotient of two counters of a library is that of their sums") {
  TestBoard test(2);
  test.all(sim::RankState::finalized);
  for (std::uint32_t rank = 0; rank < 2; ++rank) {
    sim::BoardLibrary& library = test.board.block(rank).libraries[0];
    sim::set_text(library.name, "mail");
    sim::set_text(library.counters[0].name, "letters");
    sim::set_text(library.counters[1].name, "bags");
    library.counters[0].count = 5 + rank;
    library.counters[1].count = rank;
    library.divisor = 1;
  }
  CHECK(says(stats_table(test.board), "letters / bags                 11.0"));
  const auto has_quotient = [&](std::uint8_t divisor, std::uint64_t bags) {
    for (std::uint32_t rank = 0; rank < 2; ++rank) {
      test.board.block(rank).libraries[0].divisor = divisor;
      test.board.block(rank).libraries[0].counters[1].count = bags;
    }
    return says(stats_table(test.board), " / ");
  };
  CHECK(has_quotient(1, 5));
  CHECK_FALSE(has_quotient(0, 5));
  CHECK_FALSE(has_quotient(1, 0));
  // A damaged board names no counter.
  CHECK_FALSE(has_quotient(200, 5));
}

TEST_CASE("the accounting of a job that did not end is not checked") {
  TestBoard test(2);
  CHECK_FALSE(check_accounting(test.board).checked);
  test.all(sim::RankState::finalized);
  test.board.block(1).state = sim::RankState::initialized;
  test.board.sent(0)[1] = 4;
  const AccountingResult result = check_accounting(test.board);
  CHECK_FALSE(result.checked);
  CHECK(result.offending_pairs == 0);
  CHECK(says(result.lines, "rank 1 did not finish MPI"));
}

TEST_CASE("the table sums over ranks and names dropped messages") {
  TestBoard test(2);
  CHECK(says(stats_table(test.board), "nothing to count: no rank used margay's MPI or portals"));
  test.all(sim::RankState::finalized);
  for (std::uint32_t rank = 0; rank < 2; ++rank) {
    sim::BoardBlock& block = test.board.block(rank);
    block.by_protocol[static_cast<std::size_t>(sim::CountedProtocol::long_pulled)] = {3, 3000};
    block.by_access[sim::index_of(sim::CountedAccess::get,
                                  static_cast<std::size_t>(margay::mpi_adi::WindowMethod::process))] = {2, 50};
    block.entries_walked = 7;
    block.heap_high_water_bytes = std::uint64_t{100} * (rank + 1);
  }
  test.board.dropped(1)[0 * sim::kDropReasons + static_cast<std::size_t>(margay::portals::DropReason::no_room)] = 2;
  const std::vector<std::string> lines = stats_table(test.board);
  CHECK(says(lines, "long, pulled"));
  CHECK(says(lines, "6000"));
  CHECK_FALSE(says(lines, "long, matched"));
  CHECK(says(lines, "one-sided, by way"));
  CHECK(says(lines, "get, process                      4                100"));
  CHECK_FALSE(says(lines, "put, "));
  CHECK(says(lines, "match entries visited: 14"));
  CHECK(says(lines, "200 bytes (rank 1)"));
  CHECK(says(lines, std::string(margay::portals::name(margay::portals::DropReason::no_room)) + " 2"));
}

TEST_CASE("a job in which all ranks wait without progress is reported once, with the cycle") {
  TestBoard test(4);
  test.all(sim::RankState::initialized);
  const std::int32_t waits_for[] = {1, 2, 1, -1};
  for (std::uint32_t rank = 0; rank < 4; ++rank) {
    test.board.block(rank).wait.is_waiting = 1;
    test.board.block(rank).wait.peer = waits_for[rank];
    test.board.block(rank).wait.requests = 1;
    sim::set_text(test.board.block(rank).wait.communicator, "MPI_COMM_WORLD");
    sim::set_text(test.board.block(rank).mpi_call, "MPI_Recv");
  }
  constexpr std::int64_t kSecond = 1'000'000'000;
  StallDetector stall(test.board, kSecond, [](std::uint32_t) { return false; });
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

TEST_CASE("a deadlock is proven by answers sent after the last progress") {
  TestBoard test(2);
  test.all(sim::RankState::initialized);
  sim::BoardBlock& first = test.board.block(0);
  sim::BoardBlock& second = test.board.block(1);
  for (sim::BoardBlock* block : {&first, &second}) {
    block->wait.is_waiting = block->wait.needs_message = block->wait.requests = 1;
    sim::set_text(block->wait.communicator, "MPI_COMM_WORLD");
  }
  first.wait.peer = 1;
  second.wait.peer = 0;
  sim::set_text(second.wait.near_misses, "4 bytes from rank 0 (tag 2, not 1)");
  bool second_has_ended = false;
  StallDetector stall(test.board, 10, [&](std::uint32_t rank) { return rank == 1 && second_has_ended; });
  CHECK(stall.look(0).empty());
  CHECK(stall.look(10).empty());  // asks
  const std::uint32_t question = test.board.header().question;
  first.wait.answered = question;
  CHECK(stall.look(20).empty());
  SUBCASE("all answered") {
    second.wait.answered = question;
    const auto lines = stall.look(30);
    CHECK(says(lines, "margay: deadlock: all ranks wait for messages, and none is in flight"));
    CHECK(says(lines, "cycle: 0 -> 1 -> 0"));
    CHECK(says(lines, "almost the awaited one: 4 bytes from rank 0 (tag 2, not 1)"));
    CHECK(stall.deadlock());
    CHECK(stall.look(40).empty());
  }
  SUBCASE("all answered, and a heap is full") {
    second.wait.answered = question;
    sim::set_text(first.wait.held,
                  "message 3 of rank 1 (8 bytes): no room for it in the heap of portal 53 (mail: bag)");
    const auto lines = stall.look(30);
    CHECK(says(lines, "margay: deadlock: "));
    CHECK_FALSE(says(lines, "none is in flight"));
    CHECK(says(lines, "held on its wire: message 3 of rank 1 (8 bytes): no room for it in the heap of portal 53"));
  }
  SUBCASE("all answered, but a process of another job may send") {
    test.board.header().guests = 1;
    second.wait.answered = question;
    CHECK(stall.look(30).empty());
    CHECK(says(stall.look(100'000'000'000), "all of them wait"));
    CHECK_FALSE(stall.deadlock());
  }
  SUBCASE("one moved, and answered an older question") {
    second.wait.answered = question;
    second.progress = 1;
    CHECK(stall.look(30).empty());
    CHECK(stall.look(40).empty());  // asks again
    CHECK(stall.look(50).empty());
    CHECK_FALSE(stall.deadlock());
  }
  SUBCASE("the other rank may proceed without a message") {
    second.wait.answered = question;
    second.wait.needs_message = 0;
    CHECK(says(stall.look(30), "makes progress"));
    CHECK_FALSE(stall.deadlock());
  }
  SUBCASE("the other rank is outside MPI, until it ends") {
    second.state = sim::RankState::finalized;
    CHECK(says(stall.look(30), "makes progress"));
    CHECK_FALSE(stall.deadlock());
    second_has_ended = true;
    const auto lines = stall.look(40);
    CHECK(says(lines, "margay: deadlock: "));
    CHECK(says(lines, "rank 1 has ended"));
  }
}

TEST_CASE("the table of a terminated job names the ranks with incomplete counts") {
  TestBoard test(3);
  test.all(sim::RankState::finalized);
  CHECK_FALSE(says(stats_table(test.board), "not complete"));
  test.board.block(2).state = sim::RankState::initialized;
  CHECK(says(stats_table(test.board), "not complete: rank 2 did not finish MPI"));
  test.board.block(2).on_portals = 1;
  CHECK(says(stats_table(test.board), "not complete: rank 2 did not finish its program"));
}

TEST_CASE("the last report of a stopped rank's wait is not a stall, nor is the moment after it continues") {
  TestBoard test(2);
  test.all(sim::RankState::initialized);
  for (std::uint32_t rank = 0; rank < 2; ++rank) test.board.block(rank).wait.is_waiting = 1;
  StallDetector stall(test.board, 10, [](std::uint32_t) { return false; });
  CHECK(stall.look(0, false).empty());
  CHECK(stall.look(20, true).empty());
  CHECK(stall.look(100, true).empty());
  CHECK(stall.look(109, false).empty());
  CHECK_FALSE(stall.look(110, false).empty());
}

TEST_CASE("a job with one computing rank is not stalled") {
  TestBoard test(2);
  test.all(sim::RankState::initialized);
  test.board.block(0).wait.is_waiting = 1;
  StallDetector stall(test.board, 1, [](std::uint32_t) { return false; });
  CHECK(stall.look(0).empty());
  CHECK(stall.look(1'000'000'000'000).empty());
}
