#include "mpi_adi/protocol/cancel.hpp"
#include "mpi_adi/device/parts.hpp"
#include "tests/mpi_adi/hand_made.hpp"

namespace margay::mpi_adi {
namespace {

TEST_CASE("an unmatched posted receive is cancelled, and the message goes to the next one") {
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

TEST_CASE("a matched receive continues to its end") {
  sim::VirtualOptions slow;
  slow.segment_bytes = 16;
  HandMade hand({}, 1, slow);
  std::vector<std::byte> room(kShortBytes);
  Request& receive = hand.receive(room);
  const std::vector<std::byte> data = pattern(kShortBytes, 1);
  hand.inject(HandMade::message(kShortBytes, {}), data);
  // Stimulus: cancelled after the header has arrived and before the body has.
  REQUIRE(hand.world().until([&] { return !hand.device().kernel().idle(); }));
  hand.device().cancel(receive);
  CHECK(!receive.complete);
  hand.settle();
  CHECK(receive.complete);
  CHECK(!receive.cancelled);
  CHECK(room == data);
}

TEST_CASE("a send that waits for its receiver asks it, and ends as the answer specifies") {
  for (const Answer answer : {Answer::returned, Answer::not_returned}) {
    HandMade hand;
    Sink asked;
    REQUIRE(hand.table().attach(kCancelPortal, asked.block(), {}).ok());
    const std::vector<std::byte> data = pattern(kShortBytes, 1);
    Request& send = hand.send(SendMode::synchronous, data);
    hand.device().cancel(send);
    hand.device().cancel(send);  // asks once
    hand.settle();
    CHECK(!send.complete);
    REQUIRE(asked.size() == 1);
    const portals::MatchBits bits = read_note(hand.received.header(0).user_data).answer_bits;
    CHECK(asked.header(0).match_bits == bits);
    portals::Header said = HandMade::header(portals::Kind::put, kAcknowledgmentPortal, bits);
    said.user_data[0] = static_cast<std::byte>(answer);
    hand.inject(said);
    hand.settle();
    CHECK(send.complete == (answer == Answer::returned));
    CHECK(send.cancelled == (answer == Answer::returned));
    if (answer == Answer::not_returned) {
      hand.inject(HandMade::header(portals::Kind::put, kAcknowledgmentPortal, bits));
      hand.settle();
      CHECK(send.complete);
      CHECK(!send.cancelled);
    }
    hand.device().free(send);
    CHECK(hand.device().quiet());
    hand.table().detach(kCancelPortal);
  }
}

TEST_CASE("a receiver returns a message that no receive has, once, and no other one") {
  HandMade hand;
  const std::vector<std::byte> data = pattern(kShortBytes, 1);
  hand.inject(HandMade::message(kShortBytes, {NoteProtocol::short_message, true, 0xabcdef}), data);
  hand.inject(HandMade::header(portals::Kind::put, kCancelPortal, 0xabcdee));  // another message, long received
  hand.inject(HandMade::header(portals::Kind::put, kCancelPortal, 0xabcdef));
  hand.inject(HandMade::header(portals::Kind::put, kCancelPortal, 0xabcdef));
  hand.settle();
  REQUIRE(hand.acknowledged.size() == 3);
  const Answer expected[] = {Answer::not_returned, Answer::returned, Answer::not_returned};
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(static_cast<Answer>(hand.acknowledged.header(i).user_data[0]) == expected[i]);
  }
  Envelope envelope;
  CHECK_FALSE(hand.device().probe(1, 7, hand.comm(), envelope));
}

TEST_CASE("a message that returns to a finalizing sender is kept for the report, unless the program cancelled it") {
  for (const bool kept : {true, false}) {
    HandMade hand;
    parts_of(hand.device()).keeps_unreceived = kept;
    const std::vector<std::byte> data = pattern(kShortBytes, 1);
    for (const portals::MatchBits bits : {0xa, 0xb}) {
      hand.inject(HandMade::message(kShortBytes, {NoteProtocol::short_message, true, bits}), data);
    }
    hand.inject(HandMade::header(portals::Kind::put, kCancelPortal, 0xa));
    portals::Header ends = HandMade::header(portals::Kind::put, kCancelPortal, 0xb);
    ends.user_data[0] = static_cast<std::byte>(AskBack::nobody_receives);
    hand.inject(ends);
    hand.settle();
    CHECK(hand.acknowledged.size() == 2);
    const std::vector<portals::Header>& reported = parts_of(hand.device()).unreceived;
    REQUIRE(reported.size() == (kept ? 1 : 0));
    if (kept) CHECK(read_note(reported[0].user_data).answer_bits == 0xb);
  }
}

TEST_CASE("a request to return a message states whether its send was cancelled or abandoned") {
  HandMade hand;
  Sink asked;
  REQUIRE(hand.table().attach(kCancelPortal, asked.block(), {}).ok());
  const std::vector<std::byte> data = pattern(kShortBytes, 1);
  Request& cancelled = hand.send(SendMode::synchronous, data);
  hand.device().cancel(cancelled);
  Request& given_up = hand.send(SendMode::synchronous, data);
  hand.device().give_up_sends(Group::kWorldModel, Device::Receivers::leave);
  hand.settle();
  REQUIRE(asked.size() == 2);
  const auto why = [&](std::size_t at) { return static_cast<AskBack>(asked.header(at).user_data[0]); };
  CHECK(why(0) == AskBack::cancelled);
  CHECK(why(1) == AskBack::nobody_receives);
  for (std::size_t i = 0; i < 2; ++i) {
    portals::Header said = HandMade::header(portals::Kind::put, kAcknowledgmentPortal, asked.header(i).match_bits);
    said.user_data[0] = static_cast<std::byte>(Answer::returned);
    hand.inject(said);
  }
  hand.settle();
  CHECK(cancelled.complete);
  CHECK(given_up.complete);
  hand.device().free(cancelled);
  hand.device().free(given_up);
  hand.table().detach(kCancelPortal);
}

TEST_CASE("a cancel request names its sender's message, not another's with the same bits") {
  HandMade hand;
  const std::vector<std::byte> data = pattern(kShortBytes, 1);
  Request& own =
      *hand.device().start_send({SendMode::synchronous, data.data(), kShortBytes, &hand.bytes(), 0, 7, &hand.comm()});
  hand.settle();
  const portals::ArrivedMessage* const there = parts_of(hand.device()).heap.first();
  REQUIRE(there != nullptr);
  const portals::MatchBits bits = read_note(there->header.user_data).answer_bits;
  hand.inject(HandMade::header(portals::Kind::put, kCancelPortal, bits));
  hand.settle();
  REQUIRE(hand.acknowledged.size() == 1);
  CHECK(static_cast<Answer>(hand.acknowledged.header(0).user_data[0]) == Answer::not_returned);
  std::vector<std::byte> room(kShortBytes);
  Request& receive = hand.receive(room, 0);
  hand.settle();
  CHECK(receive.complete);
  CHECK(own.complete);
  CHECK(room == data);
}

TEST_CASE("a freed send completes by itself") {
  HandMade hand;
  const std::vector<std::byte> data = pattern(kLongBytes, 1);
  Request& send = hand.send(SendMode::standard, data);
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
