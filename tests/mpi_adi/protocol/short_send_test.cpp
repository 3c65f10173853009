#include "tests/mpi_adi/hand_made.hpp"

namespace margay::mpi_adi {
namespace {

TEST_CASE("a short send is a put with its envelope in the match bits, complete when the kernel has it") {
  HandMade hand;
  const std::vector<std::byte> data = pattern(kShortBytes, 3);
  Request& send = hand.send(SendMode::standard, data, 9);
  hand.settle();
  CHECK(send.complete);
  hand.device().free(send);
  REQUIRE(hand.received.size() == 1);
  const portals::Header& header = hand.received.header(0);
  CHECK(header.kind == portals::Kind::put);
  CHECK(header.match_bits == envelope_bits(9, 0, 0));
  CHECK(header.return_portal == portals::kNoPortal);
  CHECK(header.user_data == portals::UserData{});  // so that a frame may leave it out
  CHECK(hand.received.body(0) == data);
  CHECK(hand.device().counts().short_.messages == 1);
  CHECK(hand.device().counts().short_.bytes == kShortBytes);
}

TEST_CASE("over a full wire a short send waits, and send_now() fails") {
  sim::VirtualOptions full;
  full.full_probability = 1.0;
  HandMade hand({}, 1, full);
  const std::vector<std::byte> data = pattern(kShortBytes, 3);
  CHECK(!hand.device().send_now({SendMode::standard, data.data(), kShortBytes, &hand.bytes(), 1, 7, &hand.comm()}));
  Request& send = hand.send(SendMode::standard, data);
  CHECK(!send.complete);  // handed over, but not yet detected as taken
  hand.settle();
  CHECK(send.complete);
  CHECK(hand.received.body(0) == data);
  hand.device().free(send);
}

TEST_CASE("send_now() takes standard and ready short messages only") {
  sim::VirtualOptions roomy;
  roomy.full_probability = 0;
  HandMade hand({}, 1, roomy);
  const std::vector<std::byte> data = pattern(kLongBytes, 3);
  const auto now = [&](SendMode mode, std::size_t bytes, int to) {
    return hand.device().send_now(
        {mode, data.data(), static_cast<std::int64_t>(bytes), &hand.bytes(), to, 7, &hand.comm()});
  };
  CHECK(now(SendMode::standard, kShortBytes, 1));
  CHECK(now(SendMode::ready, kShortBytes, 1));
  CHECK(now(SendMode::standard, 0, 1));
  CHECK(now(SendMode::standard, kLongBytes, MPI_PROC_NULL));
  CHECK(!now(SendMode::standard, kLongBytes, 1));
  CHECK(!now(SendMode::synchronous, kShortBytes, 1));
  hand.settle();
  REQUIRE(hand.received.size() == 3);
  CHECK(hand.received.header(1).match_bits == envelope_bits(7, 0, 0, kReadyBit));
  CHECK(hand.received.body(2).empty());
}

}  // namespace
}  // namespace margay::mpi_adi
