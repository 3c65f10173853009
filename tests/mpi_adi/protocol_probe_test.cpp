#include "tests/mpi_adi/hand_made.hpp"

namespace margay::mpi_adi {
namespace {

TEST_CASE("a probe tells the envelope and takes nothing") {
  HandMade hand;
  const std::vector<std::byte> data = pattern(kShortBytes, 1);
  hand.inject(HandMade::message(kShortBytes, {}), data);
  hand.settle();
  Envelope envelope;
  CHECK(!hand.device().probe(1, 8, hand.comm(), envelope));
  CHECK(!hand.device().probe(0, MPI_ANY_TAG, hand.comm(), envelope));
  CHECK(!hand.device().probe(1, 7, hand.comm(), envelope, Context::collective));
  for (int again = 0; again < 2; ++again) {
    REQUIRE(hand.device().probe(MPI_ANY_SOURCE, MPI_ANY_TAG, hand.comm(), envelope));
    CHECK(envelope.source == 1);
    CHECK(envelope.tag == 7);
    CHECK(envelope.bytes == kShortBytes);
  }
}

TEST_CASE("a probe of a message whose body waits at its sender tells the body's length") {
  HandMade hand;
  portals::Header header = HandMade::message(0, {NoteProtocol::rendezvous, false, 5}, kLongBit);
  header.return_length = kLongBytes;
  hand.inject(header);
  hand.settle();
  Envelope envelope;
  REQUIRE(hand.device().probe(1, 7, hand.comm(), envelope));
  CHECK(envelope.bytes == kLongBytes);
}

TEST_CASE("a matched probe takes the message for itself") {
  HandMade hand;
  const std::vector<std::byte> first = pattern(kShortBytes, 1);
  const std::vector<std::byte> second = pattern(kShortBytes, 2);
  hand.inject(HandMade::message(kShortBytes, {}), first);
  hand.inject(HandMade::message(kShortBytes, {}), second);
  hand.settle();
  Envelope envelope;
  Message* const message = hand.device().matched_probe(1, 7, hand.comm(), envelope);
  REQUIRE(message != nullptr);
  CHECK(hand.comm().references == 2);
  std::vector<std::byte> room(kShortBytes);
  Request& other = hand.receive(room);
  CHECK(room == second);
  CHECK(hand.device().matched_probe(1, 7, hand.comm(), envelope) == nullptr);
  Request& mine = *hand.device().start_matched_receive(room.data(), kShortBytes, hand.bytes(), *message);
  CHECK(mine.complete);
  CHECK(room == first);
  CHECK(mine.source == 1);
  CHECK(mine.tag == 7);
  hand.device().free(mine);
  hand.device().free(other);
  CHECK(hand.comm().references == 1);
}

TEST_CASE("a matched probe of a message that is still coming") {
  sim::VirtualOptions slow;
  slow.segment_bytes = 16;
  HandMade hand({}, 3, slow);
  const std::vector<std::byte> data = pattern(kShortBytes, 1);
  hand.inject(HandMade::message(kShortBytes, {}), data);
  Envelope envelope;
  Message* message = nullptr;
  REQUIRE(hand.world().until([&] {
    message = hand.device().matched_probe(1, 7, hand.comm(), envelope);
    return message != nullptr;
  }));
  std::vector<std::byte> room(kShortBytes);
  Request& receive = *hand.device().start_matched_receive(room.data(), kShortBytes, hand.bytes(), *message);
  CHECK(!receive.complete);
  hand.settle();
  CHECK(receive.complete);
  CHECK(room == data);
}

}  // namespace
}  // namespace margay::mpi_adi
