#include "mpi_adi/device/match_bits.hpp"
#include "tests/mpi_adi/hand_made.hpp"

namespace margay::mpi_adi {
namespace {

TEST_CASE("a long ready send has the ready bit, requests no answer, and is complete when its body is taken") {
  HandMade hand;
  const std::vector<std::byte> data = pattern(kLongBytes, 6);
  Request& send = hand.send(SendMode::ready, data);
  hand.settle();
  CHECK(send.complete);
  REQUIRE(hand.received.size() == 1);
  CHECK(hand.received.header(0).match_bits == envelope_bits(7, 0, 0, kLongBit | kReadyBit));
  CHECK(hand.received.header(0).return_portal == portals::kNoPortal);
  CHECK(hand.received.body(0) == data);
}

TEST_CASE("no catch-all takes a ready message: it is dropped and counted") {
  for (const std::size_t bytes : {kShortBytes, kLongBytes}) {
    HandMade hand;
    const std::vector<std::byte> data = pattern(bytes, 6);
    hand.inject(HandMade::message(bytes, {}, bytes == kLongBytes ? kReadyBit | kLongBit : kReadyBit), data);
    hand.settle();
    CHECK(hand.device().counts().ready_dropped == 1);
    Envelope envelope;
    CHECK(!hand.device().probe(MPI_ANY_SOURCE, MPI_ANY_TAG, hand.comm(), envelope));
  }
}

TEST_CASE("a message dropped by a window's portal is not a ready message, whatever its match bits") {
  HandMade hand;
  portals::MatchList nothing;
  REQUIRE(hand.device().kernel().table().attach(kPutPortal, nothing).ok());
  portals::Header put = HandMade::message(kShortBytes, {}, kReadyBit);
  put.portal = kPutPortal;
  hand.inject(put, pattern(kShortBytes, 6));
  hand.settle();
  CHECK(hand.device().kernel().registers().drops()[static_cast<std::size_t>(portals::DropReason::no_match)] == 1);
  CHECK(hand.device().counts().ready_dropped == 0);
  hand.device().kernel().table().detach(kPutPortal);
}

}  // namespace
}  // namespace margay::mpi_adi
