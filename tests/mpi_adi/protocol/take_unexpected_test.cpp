#include "tests/mpi_adi/hand_made.hpp"

namespace margay::mpi_adi {
namespace {

TEST_CASE("unexpected short messages are taken in the order of their arrival, and the heap is free again") {
  HandMade hand;
  const std::vector<std::byte> first = pattern(kShortBytes, 1);
  const std::vector<std::byte> second = pattern(kShortBytes, 2);
  hand.inject(HandMade::message(kShortBytes, {}), first);
  hand.inject(HandMade::message(kShortBytes, {}), second);
  hand.settle();
  std::vector<std::byte> room(kShortBytes);
  for (const auto* expected : {&first, &second}) {
    Request& receive = hand.receive(room);
    CHECK(receive.complete);
    CHECK(room == *expected);
    hand.device().free(receive);
  }
  CHECK(hand.device().counts().unexpected == 2);
  Envelope envelope;
  CHECK(!hand.device().probe(MPI_ANY_SOURCE, MPI_ANY_TAG, hand.comm(), envelope));
}

TEST_CASE("a heap that returned its memory keeps its messages, and is as good as new when it is empty") {
  HandMade hand;
  std::vector<std::byte> room(kShortBytes);
  const auto take = [&](const std::vector<std::byte>& expected) {
    Request& receive = hand.receive(room);
    CHECK(receive.complete);
    CHECK(room == expected);
    hand.device().free(receive);
  };
  for (const std::uint8_t round : {std::uint8_t{1}, std::uint8_t{2}}) {
    CAPTURE(round);
    const std::vector<std::byte> data = pattern(kShortBytes, round);
    for (int i = 0; i < 50; ++i) hand.inject(HandMade::message(kShortBytes, {}), data);
    hand.settle();
    // Expect: all 50 are taken from it.
    hand.device().give_memory_back();
    for (int i = 0; i < 50; ++i) take(data);
    hand.device().give_memory_back();
  }
}

TEST_CASE("an unexpected message longer than the room is truncated to what fits") {
  HandMade hand;
  const std::vector<std::byte> data = pattern(kShortBytes, 1);
  hand.inject(HandMade::message(kShortBytes, {}), data);
  hand.settle();
  std::vector<std::byte> room(10);
  Request& receive = hand.receive(room);
  CHECK(receive.error_class == MPI_ERR_TRUNCATE);
  CHECK(receive.bytes == 10);
  CHECK(std::equal(room.begin(), room.end(), data.begin()));
}

TEST_CASE("a receive claims a message whose body is still arriving in the heap") {
  sim::VirtualOptions slow;
  slow.segment_bytes = 16;
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    CAPTURE(seed);
    HandMade hand({}, seed, slow);
    const std::vector<std::byte> data = pattern(kShortBytes, 1);
    hand.inject(HandMade::message(kShortBytes, {}), data);
    Envelope envelope;
    REQUIRE(hand.world().until([&] { return hand.device().probe(1, 7, hand.comm(), envelope); }));
    CHECK(envelope.bytes == kShortBytes);
    std::vector<std::byte> room(kShortBytes);
    Request& receive = hand.receive(room);
    // Expect: no other receive gets it meanwhile.
    CHECK(!hand.device().probe(1, 7, hand.comm(), envelope));
    hand.settle();
    CHECK(receive.complete);
    CHECK(room == data);
  }
}

TEST_CASE("a header in the heap is pulled: the get names its sender's bits and requests the part that fits") {
  for (const std::size_t room_bytes : {kLongBytes, std::size_t{50}}) {
    HandMade hand;
    std::vector<std::byte> data = pattern(kLongBytes, 8);
    hand.offer(data);
    portals::Header header = HandMade::message(kLongBytes, {NoteProtocol::long_message, true, 77}, kLongBit);
    header.return_portal = kAcknowledgmentPortal;
    header.return_match_bits = 77;
    hand.inject(header, data);
    hand.settle();
    REQUIRE(hand.acknowledged.size() == 1);
    CHECK(hand.acknowledged.header(0).kind == portals::Kind::acknowledgment);
    std::vector<std::byte> room(room_bytes);
    Request& receive = hand.receive(room);
    CHECK(!receive.complete);
    CHECK(hand.device().kernel().unfinished());  // an answer is owed: its sender may be computing
    hand.settle();
    CHECK(receive.complete);
    CHECK(receive.bytes == room_bytes);
    CHECK(receive.error_class == (room_bytes == kLongBytes ? MPI_SUCCESS : MPI_ERR_TRUNCATE));
    CHECK(std::equal(room.begin(), room.end(), data.begin()));
    CHECK(hand.read_bytes() == room_bytes);
    // Expect: the synchronous answer is sent after the pulled data (figure 7).
    REQUIRE(hand.acknowledged.size() == 2);
    CHECK(hand.acknowledged.header(1).kind == portals::Kind::put);
    CHECK(hand.acknowledged.header(1).match_bits == 77);
    CHECK(!hand.device().kernel().unfinished());
  }
}

TEST_CASE("a full heap holds short messages on the wire and loses none") {
  DeviceOptions options;
  options.heap_bytes = 64 * 1024;
  HandMade hand(options);
  constexpr int kMessages = 40;
  std::vector<std::vector<std::byte>> bodies;
  for (int number = 0; number < kMessages; ++number) {
    bodies.push_back(pattern(4000, static_cast<unsigned>(number)));
  }
  for (const auto& body : bodies) hand.inject(HandMade::message(4000, {}), body);
  for (const auto& body : bodies) {
    hand.settle();
    std::vector<std::byte> room(4000);
    Request& receive = hand.receive(room);
    hand.settle();
    REQUIRE(receive.complete);
    CHECK(room == body);
    hand.device().free(receive);
  }
  hand.world().check_accounting();
}

TEST_CASE("an answer behind messages that a full heap holds arrives, and the messages keep their order") {
  DeviceOptions options;
  options.heap_bytes = 64 * 1024;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    CAPTURE(seed);
    HandMade hand(options, seed);
    std::vector<std::byte> data = pattern(kLongBytes, 8);
    hand.offer(data);
    portals::Header header = HandMade::message(0, {NoteProtocol::rendezvous, false, 77}, kLongBit, 1);
    header.return_length = kLongBytes;
    hand.inject(header);
    std::vector<std::vector<std::byte>> bodies;
    for (unsigned number = 0; number < 40; ++number) bodies.push_back(pattern(4000, number));
    for (const auto& body : bodies) hand.inject(HandMade::message(4000, {}), body);
    hand.settle();
    std::vector<std::byte> room(kLongBytes);
    // Stimulus: the reply is queued behind more short messages than the heap has room for.
    Request& pull = hand.receive(room, 1, 1);
    hand.settle();
    CHECK(!pull.complete);
    for (int round = 0; round < 2000; ++round) hand.device().progress();
    hand.settle();
    REQUIRE(pull.complete);
    CHECK(room == data);
    room.resize(4000);
    for (const auto& body : bodies) {
      Request& receive = hand.receive(room);
      hand.settle();
      REQUIRE(receive.complete);
      REQUIRE(room == body);
      hand.device().free(receive);
    }
    // Expect: the first heap is used again, and messages are held when it is full.
    for (const auto& body : bodies) hand.inject(HandMade::message(4000, {}), body);
    hand.settle();
    CHECK(!hand.world().kernel(1).idle());
    for (const auto& body : bodies) {
      Request& receive = hand.receive(room);
      hand.settle();
      REQUIRE(receive.complete);
      REQUIRE(room == body);
    }
    hand.world().check_accounting();
  }
}

TEST_CASE("a message that a fragmented heap holds does not block others for ever, with or without traffic") {
  DeviceOptions options;
  options.heap_bytes = 64 * 1024;
  for (const bool traffic : {false, true}) {
    CAPTURE(traffic);
    HandMade hand(options);
    const std::vector<std::byte> fill = pattern(7000, 1);
    const std::vector<std::byte> held = pattern(16'000, 2);
    for (int i = 0; i < 8; ++i) {
      hand.inject(HandMade::message(fill.size(), {}), fill);
      hand.inject(HandMade::message(0, {}, 0, 1));
    }
    hand.settle();
    // Stimulus: most of the heap is free again, in pieces of 7,000 bytes.
    std::vector<std::byte> room(fill.size());
    for (int i = 0; i < 8; ++i) hand.device().free(hand.receive(room));
    hand.inject(HandMade::message(held.size(), {}, 0, 2), held);
    hand.inject(HandMade::message(0, {}, 0, 3));
    Request& behind = hand.receive(room, 1, 3);
    hand.settle();
    REQUIRE(!behind.complete);
    std::vector<std::byte> word(8);
    for (int round = 0; round < 2000; ++round) {
      if (!traffic) {
        hand.device().progress();
        continue;
      }
      Request& own = hand.receive(word, 0, 4);
      hand.device().free(
          *hand.device().start_send({SendMode::standard, word.data(), 8, &hand.bytes(), 0, 4, &hand.comm()}));
      CHECK(hand.device().progress());
      hand.device().free(own);
    }
    // Expect: the second heap has taken it.
    hand.settle();
    CHECK(behind.complete);
    room.resize(held.size());
    Request& last = hand.receive(room, 1, 2);
    CHECK(last.complete);
    CHECK(room == held);
    hand.world().check_accounting();
  }
}

TEST_CASE("a device that is about to sleep takes held messages at once, and rounds of the coprocessor do not count") {
  DeviceOptions options;
  options.heap_bytes = 64 * 1024;
  HandMade hand(options);
  const std::vector<std::byte> body = pattern(4000, 1);
  for (int i = 0; i < 20; ++i) hand.inject(HandMade::message(body.size(), {}), body);
  hand.inject(HandMade::message(0, {}, 0, 3));
  std::vector<std::byte> room(4);
  Request& behind = hand.receive(room, 1, 3);
  hand.settle();
  hand.device().kernel().owner_away(true);
  for (int round = 0; round < 2000; ++round) hand.device().progress();
  hand.device().kernel().owner_away(false);
  hand.settle();
  CHECK(!behind.complete);
  // Stimulus: two rounds, in the second of which it is held again.
  hand.device().progress();
  hand.device().progress();
  hand.device().about_to_sleep();
  hand.settle();
  CHECK(behind.complete);
}

}  // namespace
}  // namespace margay::mpi_adi
