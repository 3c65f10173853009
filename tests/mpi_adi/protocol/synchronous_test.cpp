#include "tests/mpi_adi/hand_made.hpp"

namespace margay::mpi_adi {
namespace {

TEST_CASE("a short synchronous send has its return match bits in the user data and waits for the answer") {
  HandMade hand;
  const std::vector<std::byte> data = pattern(kShortBytes, 7);
  Request& send = hand.send(SendMode::synchronous, data);
  hand.settle();
  REQUIRE(hand.received.size() == 1);
  const Note note = read_note(hand.received.header(0).user_data);
  CHECK(note.synchronous);
  CHECK(note.answer_bits != 0);
  CHECK(hand.received.header(0).return_portal == portals::kNoPortal);
  CHECK(!send.complete);
  hand.inject(HandMade::header(portals::Kind::put, kAcknowledgmentPortal, note.answer_bits));
  hand.settle();
  CHECK(send.complete);
  CHECK(hand.device().counts().synchronous_short.messages == 1);
}

TEST_CASE("a receive of a synchronous message answers to the sender's bits, posted or out of the heap") {
  for (const bool posted : {true, false}) {
    HandMade hand;
    const std::vector<std::byte> data = pattern(kShortBytes, 7);
    std::vector<std::byte> room(kShortBytes);
    Request* receive = posted ? &hand.receive(room) : nullptr;
    hand.inject(HandMade::message(kShortBytes, {NoteProtocol::short_message, true, 0xabcdef}), data);
    hand.settle();
    CHECK(hand.acknowledged.size() == (posted ? 1 : 0));
    if (!posted) receive = &hand.receive(room);
    hand.settle();
    CHECK(receive->complete);
    CHECK(room == data);
    REQUIRE(hand.acknowledged.size() == 1);
    CHECK(hand.acknowledged.header(0).match_bits == 0xabcdef);
    CHECK(hand.acknowledged.header(0).kind == portals::Kind::put);
    CHECK(hand.acknowledged.header(0).length == 0);
  }
}

TEST_CASE("a truncated synchronous message is answered too") {
  HandMade hand;
  const std::vector<std::byte> data = pattern(kShortBytes, 7);
  std::vector<std::byte> room(kShortBytes - 1);
  Request& receive = hand.receive(room);
  hand.inject(HandMade::message(kShortBytes, {NoteProtocol::short_message, true, 0xabcdef}), data);
  hand.settle();
  CHECK(receive.error_class == MPI_ERR_TRUNCATE);
  CHECK(hand.acknowledged.size() == 1);
}

}  // namespace
}  // namespace margay::mpi_adi
