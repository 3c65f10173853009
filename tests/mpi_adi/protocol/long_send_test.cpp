#include "tests/mpi_adi/hand_made.hpp"

namespace margay::mpi_adi {
namespace {

struct LongSend {
  explicit LongSend(SendMode mode = SendMode::standard) : send(hand.send(mode, data)) { hand.settle(); }
  // The receiver reads `bytes` of the body.
  void get(std::uint64_t bytes) {
    portals::Header made = HandMade::header(portals::Kind::get, kReadPortal, bits());
    made.return_portal = kReceivePortal;
    made.return_match_bits = 0x1234;
    made.return_length = bytes;
    hand.inject(made);
    hand.settle();
  }
  void acknowledge(portals::Saved saved) {
    hand.acknowledge(bits(), saved);
    hand.settle();
  }
  [[nodiscard]] portals::MatchBits bits() const { return hand.received.header(0).return_match_bits; }

  HandMade hand;
  std::vector<std::byte> data = pattern(kLongBytes, 4);
  Request& send;
};

TEST_CASE("a long send carries its body and requests an acknowledgment with bits of its own") {
  LongSend one;
  REQUIRE(one.hand.received.size() == 1);
  const portals::Header& header = one.hand.received.header(0);
  CHECK(header.match_bits == envelope_bits(7, 0, 0, kLongBit));
  CHECK(header.length == kLongBytes);
  CHECK(header.return_portal == kAcknowledgmentPortal);
  CHECK(header.return_match_bits != 0);
  CHECK(read_note(header.user_data).protocol == NoteProtocol::long_message);
  CHECK(read_note(header.user_data).answer_bits == header.return_match_bits);
  CHECK(one.hand.received.body(0) == one.data);
  CHECK(!one.send.complete);  // the body is taken, but no acknowledgment has arrived
  CHECK(one.hand.device().kernel().unfinished());
}

TEST_CASE("a long send that is acknowledged whole is complete") {
  LongSend one;
  one.acknowledge(portals::Saved::both);
  CHECK(one.send.complete);
  CHECK(one.hand.device().counts().long_matched.messages == 1);
  CHECK(one.hand.device().quiet());
  CHECK(!one.hand.device().kernel().unfinished());
}

TEST_CASE("a long send whose header only is acknowledged is complete when the body has been read, in either order") {
  for (const bool acknowledged_first : {true, false}) {
    LongSend one;
    if (acknowledged_first) one.acknowledge(portals::Saved::header);
    CHECK(!one.send.complete);
    one.get(kLongBytes);
    CHECK(one.send.complete == acknowledged_first);
    if (!acknowledged_first) one.acknowledge(portals::Saved::header);
    CHECK(one.send.complete);
    REQUIRE(one.hand.received.size() == 2);
    CHECK(one.hand.received.header(1).kind == portals::Kind::reply);
    CHECK(one.hand.received.header(1).match_bits == 0x1234);
    CHECK(one.hand.received.body(1) == one.data);
    CHECK(one.hand.device().counts().long_pulled.messages == 1);
  }
}

TEST_CASE("a receiver with little room reads less, or nothing: the sender completes all the same") {
  for (const std::uint64_t bytes : {std::uint64_t{0}, std::uint64_t{10}}) {
    LongSend one;
    one.acknowledge(portals::Saved::header);
    one.get(bytes);
    CHECK(one.send.complete);
    CHECK(one.hand.received.header(1).length == bytes);
  }
}

TEST_CASE("a synchronous long send also waits for the extra answer") {
  LongSend one(SendMode::synchronous);
  CHECK(read_note(one.hand.received.header(0).user_data).synchronous);
  one.acknowledge(portals::Saved::both);
  CHECK(!one.send.complete);
  one.hand.inject(HandMade::header(portals::Kind::put, kAcknowledgmentPortal, one.bits()));
  one.hand.settle();
  CHECK(one.send.complete);
  CHECK(one.hand.device().counts().synchronous_long.messages == 1);
}

TEST_CASE("a header-only acknowledgment stops a body that is still in transit") {
  sim::VirtualOptions narrow;
  narrow.segment_bytes = 512;
  narrow.window_bytes = 1024;
  HandMade hand({}, 1, narrow);
  const std::vector<std::byte> data = pattern(kLongBytes, 4);
  Request& send = hand.send(SendMode::standard, data);
  // This is the first use of the first request, so its bits are known before its header arrives.
  hand.acknowledge(answer_bits(0, 1), portals::Saved::header);
  portals::Header get = HandMade::header(portals::Kind::get, kReadPortal, answer_bits(0, 1));
  get.return_portal = kAcknowledgmentPortal;
  get.return_length = kLongBytes;
  hand.inject(get);
  hand.settle();
  CHECK(send.complete);
  CHECK(hand.received.size() == 0);  // stopped, so it never arrives completely
  CHECK(hand.acknowledged.body(0) == data);
}

TEST_CASE("an answer to a completed send finds no entry") {
  LongSend one;
  one.acknowledge(portals::Saved::both);
  one.acknowledge(portals::Saved::both);
  one.get(kLongBytes);
  const auto& drops = one.hand.device().kernel().registers().drops();
  CHECK(drops[static_cast<std::size_t>(portals::DropReason::no_match)] == 2);
}

}  // namespace
}  // namespace margay::mpi_adi
