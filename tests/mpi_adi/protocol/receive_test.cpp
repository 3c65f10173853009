#include "tests/mpi_adi/hand_made.hpp"

namespace margay::mpi_adi {
namespace {

TEST_CASE("a posted receive gets source, tag and bytes from the saved header") {
  HandMade hand;
  std::vector<std::byte> room(kShortBytes * 2, std::byte{1});
  Request& receive = hand.receive(room, MPI_ANY_SOURCE, MPI_ANY_TAG);
  const std::vector<std::byte> data = pattern(kShortBytes, 8);
  hand.inject(HandMade::message(kShortBytes, {}, 0, 42), data);
  hand.settle();
  CHECK(receive.complete);
  CHECK(receive.source == 1);
  CHECK(receive.tag == 42);
  CHECK(receive.bytes == kShortBytes);
  CHECK(std::equal(data.begin(), data.end(), room.begin()));
  CHECK(room[kShortBytes] == std::byte{1});
}

TEST_CASE("a receive takes no message with another tag, source or context, and no reply") {
  HandMade hand;
  std::vector<std::byte> room(kShortBytes);
  Request& receive = hand.receive(room);
  const std::vector<std::byte> data = pattern(kShortBytes, 8);
  hand.inject(HandMade::message(kShortBytes, {}, 0, 8), data);
  portals::Header other = HandMade::message(kShortBytes, {});
  other.match_bits = envelope_bits(7, 2, 0);
  hand.inject(other, data);
  other.match_bits = envelope_bits(7, 1, 1);
  hand.inject(other, data);
  other.match_bits = envelope_bits(7, 1, 0, kReplyBit);
  hand.inject(other, data);
  hand.settle();
  CHECK(!receive.complete);
  CHECK(hand.device().counts().ready_dropped == 1);  // the unexpected reply finds no entry either
  hand.inject(HandMade::message(kShortBytes, {}), data);
  hand.settle();
  CHECK(receive.complete);
}

TEST_CASE("a zero-byte message completes a receive without a buffer") {
  HandMade hand;
  Request& receive = *hand.device().start_receive({nullptr, 0, &hand.bytes(), 1, 7, &hand.comm()});
  hand.inject(HandMade::message(0, {}));
  hand.settle();
  CHECK(receive.complete);
  CHECK(receive.bytes == 0);
  CHECK(receive.error_class == MPI_SUCCESS);
}

TEST_CASE("a short message longer than the room is truncated, and the next receive gets the next message") {
  HandMade hand;
  std::vector<std::byte> room(10);
  std::vector<std::byte> next(kShortBytes);
  Request& first = hand.receive(room);
  Request& second = hand.receive(next);
  const std::vector<std::byte> data = pattern(kShortBytes, 8);
  const std::vector<std::byte> more = pattern(kShortBytes, 9);
  hand.inject(HandMade::message(kShortBytes, {}), data);
  hand.inject(HandMade::message(kShortBytes, {}), more);
  hand.settle();
  CHECK(first.complete);
  CHECK(first.error_class == MPI_ERR_TRUNCATE);
  CHECK(first.bytes == 10);
  CHECK(std::equal(room.begin(), room.end(), data.begin()));
  CHECK(second.complete);
  CHECK(second.error_class == MPI_SUCCESS);
  CHECK(next == more);
}

TEST_CASE("a long message longer than the room is saved as far as it fits, and the sender is notified") {
  HandMade hand;
  std::vector<std::byte> room(100);
  Request& receive = hand.receive(room);
  std::vector<std::byte> data = pattern(kLongBytes, 8);
  hand.offer(data);
  portals::Header header = HandMade::message(kLongBytes, {NoteProtocol::long_message, false, 77}, kLongBit);
  header.return_portal = kAcknowledgmentPortal;
  header.return_match_bits = 77;
  hand.inject(header, data);
  hand.settle();
  CHECK(receive.complete);
  CHECK(receive.error_class == MPI_ERR_TRUNCATE);
  CHECK(receive.bytes == 100);
  CHECK(std::equal(room.begin(), room.end(), data.begin()));
  CHECK(hand.reads() == 0);
  REQUIRE(hand.acknowledged.size() == 1);
  CHECK(hand.acknowledged.header(0).user_data[0] == static_cast<std::byte>(portals::Saved::both));
  CHECK(hand.acknowledged.header(0).return_length == 100);
}

TEST_CASE("a long message to a receive without room is not saved, and its sender waits for no answer") {
  HandMade hand;
  Request& receive = *hand.device().start_receive({nullptr, 0, &hand.bytes(), 1, 7, &hand.comm()});
  const std::vector<std::byte> data = pattern(kLongBytes, 8);
  portals::Header header = HandMade::message(kLongBytes, {NoteProtocol::long_message, false, 77}, kLongBit);
  header.return_portal = kAcknowledgmentPortal;
  header.return_match_bits = 77;
  hand.inject(header, data);
  hand.settle();
  CHECK(receive.error_class == MPI_ERR_TRUNCATE);
  CHECK(receive.bytes == 0);
  REQUIRE(hand.acknowledged.size() == 1);
  CHECK(hand.acknowledged.header(0).user_data[0] == static_cast<std::byte>(portals::Saved::both));
}

TEST_CASE("a truncated long ready message requests nothing from its sender") {
  HandMade hand;
  std::vector<std::byte> room(100);
  Request& receive = hand.receive(room);
  const std::vector<std::byte> data = pattern(kLongBytes, 8);
  hand.inject(HandMade::message(kLongBytes, {NoteProtocol::long_message, false, 0}, kLongBit | kReadyBit), data);
  hand.settle();
  CHECK(receive.complete);
  CHECK(receive.error_class == MPI_ERR_TRUNCATE);
  CHECK(receive.bytes == 100);
  CHECK(std::equal(room.begin(), room.end(), data.begin()));
  CHECK(hand.device().quiet());
}

}  // namespace
}  // namespace margay::mpi_adi
