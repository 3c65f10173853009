#include "tests/mpi_adi/hand_made.hpp"

namespace margay::mpi_adi {
namespace {

// Stimulus: `begin` starts an operation with rank 1, which dies after `steps` steps. Expect: it ends with an error.
template <typename Begin>
void dies(Begin&& begin) {
  for (std::uint64_t steps = 0; steps < 60; ++steps) {
    CAPTURE(steps);
    sim::VirtualOptions slow;
    slow.segment_bytes = 512;
    HandMade hand({}, steps + 1, slow);
    std::vector<std::byte> memory = pattern(kLongBytes, 1);
    Request& request = begin(hand, memory);
    for (std::uint64_t step = 0; step < steps; ++step) (void)hand.world().step();
    REQUIRE(!request.complete);
    hand.world().network().lose(1);
    for (int round = 0; round < 20; ++round) hand.device().progress();
    REQUIRE(request.complete);
    CHECK(request.error_class == MPIX_ERR_PROC_FAILED);
    hand.device().free(request);
    CHECK(hand.device().quiet());
    CHECK(hand.comm().references == 1);
    CHECK(!hand.device().kernel().unfinished());
  }
}

TEST_CASE("a long send to a lost peer ends") {
  dies([](HandMade& hand, auto& memory) -> Request& { return hand.send(SendMode::standard, memory); });
}

TEST_CASE("a synchronous send to a lost peer ends") {
  dies([](HandMade& hand, auto& memory) -> Request& {
    memory.resize(kShortBytes);
    return hand.send(SendMode::synchronous, memory);
  });
}

TEST_CASE("a posted receive from a lost peer ends, with or without a body in transit") {
  dies([](HandMade& hand, auto& memory) -> Request& { return hand.receive(memory); });
}

TEST_CASE("a receive whose sender is lost after half of the body ends, and its entry is reused") {
  sim::VirtualOptions slow;
  slow.segment_bytes = 512;
  HandMade hand({}, 1, slow);
  std::vector<std::byte> room(kLongBytes);
  Request& receive = hand.receive(room);
  const std::vector<std::byte> data = pattern(kLongBytes, 1);
  hand.inject(HandMade::message(kLongBytes, {}), data);
  REQUIRE(hand.world().until([&] { return !hand.device().kernel().idle(); }));
  REQUIRE(!receive.complete);
  hand.world().network().lose(1);
  for (int round = 0; round < 20; ++round) hand.device().progress();
  REQUIRE(receive.complete);
  CHECK(receive.error_class == MPIX_ERR_PROC_FAILED);
  hand.device().free(receive);
  // Expect: the same request is used, now for a message to this rank itself.
  Request& again = *hand.device().start_receive({room.data(), kShortBytes, &hand.bytes(), 0, 7, &hand.comm()});
  Request& send =
      *hand.device().start_send({SendMode::standard, data.data(), kShortBytes, &hand.bytes(), 0, 7, &hand.comm()});
  for (int round = 0; round < 20; ++round) hand.device().progress();
  CHECK(again.complete);
  CHECK(send.complete);
  CHECK(again.error_class == MPI_SUCCESS);
}

TEST_CASE("a pull from a lost peer ends") {
  dies([](HandMade& hand, auto& memory) -> Request& {
    portals::Header header = HandMade::message(0, {NoteProtocol::rendezvous, false, 5}, kLongBit);
    header.return_length = kLongBytes;
    hand.inject(header);
    hand.settle();
    return hand.receive(memory);  // its get finds no portal there: there is never a reply
  });
}

TEST_CASE("a claimed message of a lost peer ends its receive") {
  sim::VirtualOptions slow;
  slow.segment_bytes = 16;
  HandMade hand({}, 1, slow);
  const std::vector<std::byte> data = pattern(kShortBytes, 1);
  hand.inject(HandMade::message(kShortBytes, {}), data);
  Envelope envelope;
  REQUIRE(hand.world().until([&] { return hand.device().probe(1, 7, hand.comm(), envelope); }));
  std::vector<std::byte> room(kShortBytes);
  Request& receive = hand.receive(room);
  REQUIRE(!receive.complete);
  hand.world().network().lose(1);
  for (int round = 0; round < 20; ++round) hand.device().progress();
  REQUIRE(receive.complete);
  CHECK(receive.error_class == MPIX_ERR_PROC_FAILED);
  hand.device().free(receive);
  // Expect: the same request is reused, and waits for its own message.
  Request& again = hand.receive(room, 0);
  Request& other = *hand.device().start_send({SendMode::standard, data.data(), 8, &hand.bytes(), 0, 8, &hand.comm()});
  for (int round = 0; round < 20; ++round) hand.device().progress();
  CHECK(!again.complete);
  CHECK(other.complete);
  Request& send =
      *hand.device().start_send({SendMode::standard, data.data(), kShortBytes, &hand.bytes(), 0, 7, &hand.comm()});
  for (int round = 0; round < 20; ++round) hand.device().progress();
  CHECK(again.complete);
  CHECK(again.error_class == MPI_SUCCESS);
  CHECK(send.complete);
  CHECK(room == data);
}

TEST_CASE("a matched message whose sender is lost before its body arrives ends its receive") {
  sim::VirtualOptions slow;
  slow.segment_bytes = 16;
  HandMade hand({}, 1, slow);
  const std::vector<std::byte> data = pattern(kShortBytes, 1);
  hand.inject(HandMade::message(kShortBytes, {}), data);
  Envelope envelope;
  REQUIRE(hand.world().until([&] { return hand.device().probe(1, 7, hand.comm(), envelope); }));
  Message* const message = hand.device().matched_probe(1, 7, hand.comm(), envelope);
  REQUIRE(message != nullptr);
  hand.world().network().lose(1);
  for (int round = 0; round < 20; ++round) hand.device().progress();
  std::vector<std::byte> room(kShortBytes);
  Request& receive = *hand.device().start_matched_receive(room.data(), kShortBytes, hand.bytes(), *message);
  for (int round = 0; round < 20; ++round) hand.device().progress();
  REQUIRE(receive.complete);
  CHECK(receive.error_class == MPIX_ERR_PROC_FAILED);
  hand.device().free(receive);
  CHECK(hand.device().quiet());
  CHECK(hand.comm().references == 1);
}

TEST_CASE("a receive from any source of an intercommunicator ends when a remote member is lost") {
  HandMade hand;
  auto mine = std::make_shared<Group>(*hand.comm().group);
  mine->world_ranks = {0};
  auto other = std::make_shared<Group>(*hand.comm().group);
  other->world_ranks = {1};
  Communicator inter;
  inter.context = 8;
  inter.collective_context = 9;
  inter.set_groups(mine, other);
  CHECK(!hand.device().is_source_lost(MPI_ANY_SOURCE, inter));
  hand.world().network().lose(1);
  hand.settle();
  CHECK(hand.device().is_source_lost(MPI_ANY_SOURCE, inter));
}

TEST_CASE("an operation that starts with a lost peer ends at once or soon") {
  HandMade hand;
  hand.world().network().lose(1);
  hand.settle();
  std::vector<std::byte> memory = pattern(kLongBytes, 1);
  Request& receive = hand.receive(memory);
  Request& send = hand.send(SendMode::standard, memory);
  std::vector<std::byte> little = pattern(kShortBytes, 1);
  Request& small = hand.send(SendMode::standard, little);
  for (int round = 0; round < 20; ++round) hand.device().progress();
  for (const Request* request : {&receive, &send, &small}) {
    CHECK(request->complete);
    CHECK(request->error_class == MPIX_ERR_PROC_FAILED);
  }
}

}  // namespace
}  // namespace margay::mpi_adi
