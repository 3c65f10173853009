#include "tests/mpi_adi/hand_made.hpp"

namespace margay::mpi_adi {
namespace {

TEST_CASE("a posted receive that nothing matched is taken back, and the message goes to the next one") {
  HandMade hand;
  std::vector<std::byte> room(kShortBytes);
  Request& receive = hand.receive(room);
  hand.device().cancel(receive);
  CHECK(receive.complete);
  CHECK(receive.cancelled);
  hand.device().free(receive);
  const std::vector<std::byte> data = pattern(kShortBytes, 1);
  hand.inject(HandMade::message(kShortBytes, {}), data);
  hand.settle();
  CHECK(hand.receive(room).complete);
  CHECK(room == data);
}

TEST_CASE("what a message has matched goes on to its end") {
  sim::VirtualOptions slow;
  slow.segment_bytes = 16;
  HandMade hand({}, 1, slow);
  std::vector<std::byte> room(kShortBytes);
  Request& receive = hand.receive(room);
  const std::vector<std::byte> data = pattern(kShortBytes, 1);
  hand.inject(HandMade::message(kShortBytes, {}), data);
  // Stimulus: cancelled when the header is there and the body is not.
  REQUIRE(hand.world().until([&] { return !hand.device().kernel().idle(); }));
  hand.device().cancel(receive);
  CHECK(!receive.complete);
  hand.settle();
  CHECK(receive.complete);
  CHECK(!receive.cancelled);
  CHECK(room == data);
}

TEST_CASE("a send cannot be taken back; a freed one ends by itself") {
  HandMade hand;
  const std::vector<std::byte> data = pattern(kLongBytes, 1);
  Request& send = hand.send(SendMode::standard, data);
  hand.device().cancel(send);
  CHECK(!send.cancelled);
  hand.device().free(send);
  CHECK(hand.comm().references == 2);
  hand.settle();
  hand.acknowledge(hand.received.header(0).return_match_bits, portals::Saved::both);
  hand.settle();
  CHECK(hand.comm().references == 1);
  CHECK(hand.device().quiet());
}

}  // namespace
}  // namespace margay::mpi_adi
