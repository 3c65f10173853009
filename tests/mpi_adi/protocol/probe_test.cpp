#include "mpi_adi/device/parts.hpp"
#include "tests/mpi_adi/hand_made.hpp"

namespace margay::mpi_adi {
namespace {

TEST_CASE("a probe returns the envelope and takes nothing") {
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

TEST_CASE("a probe of a message whose body waits at its sender returns the body's length") {
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

TEST_CASE("a trace records the result of a probe and the number of empty polls before it; these make no events") {
  HandMade hand;
  sim::Recorder& recorder = parts_of(hand.device()).recorder();
  REQUIRE(recorder.open_memory().ok());
  const std::vector<std::byte> data = pattern(kShortBytes, 1);
  hand.inject(HandMade::message(kShortBytes, {}), data);
  hand.settle();
  recorder.clear();
  Envelope envelope;
  const auto poll = [&](int tag, std::optional<sim::TraceProbe> call) {
    return hand.device().probe(1, tag, hand.comm(), envelope, Context::point_to_point, call);
  };
  for (int again = 0; again < 3; ++again) CHECK(!poll(8, sim::TraceProbe::iprobe));
  CHECK(!poll(8, sim::TraceProbe::probe));  // not counted, because a blocking probe polls all the time
  CHECK(poll(7, std::nullopt));             // a poll of the library itself
  CHECK(recorder.events().empty());
  CHECK(poll(7, sim::TraceProbe::iprobe));
  Message* const message = hand.device().matched_probe(1, 7, hand.comm(), envelope, sim::TraceProbe::improbe);
  REQUIRE(message != nullptr);
  std::vector<sim::TraceEvent> reported = recorder.events();
  REQUIRE(reported.size() == 2);
  CHECK(reported[0].kind == sim::TraceKind::found);
  CHECK(reported[0].reason == static_cast<std::uint8_t>(sim::TraceProbe::iprobe));
  CHECK(reported[0].a == 3);
  CHECK(reported[0].bytes == kShortBytes);
  CHECK(reported[0].source == 1);
  CHECK(reported[0].sequence == 1);
  CHECK(reported[1].reason == static_cast<std::uint8_t>(sim::TraceProbe::improbe));
  CHECK(reported[1].a == 0);
  CHECK(reported[1].sequence == 1);
  recorder.clear();
  std::vector<std::byte> room(kShortBytes);
  CHECK(hand.device().start_matched_receive(room.data(), kShortBytes, hand.bytes(), *message)->complete);
  reported = recorder.events();
  REQUIRE(reported.size() > 1);
  CHECK(reported[1].kind == sim::TraceKind::search_hit);
  CHECK(reported[1].reason == 1);
  CHECK(reported[1].sequence == 1);
}

TEST_CASE("a matched probe may take a message that is still arriving") {
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
