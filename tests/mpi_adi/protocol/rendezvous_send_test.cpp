#include "tests/mpi_adi/hand_made.hpp"

namespace margay::mpi_adi {
namespace {

TEST_CASE("a rendezvous is a header with the length, and a body that remains until it is read") {
  DeviceOptions options;
  options.long_protocol = DeviceOptions::LongProtocol::rendezvous;
  HandMade hand(options);
  const std::vector<std::byte> data = pattern(kLongBytes, 5);
  Request& send = hand.send(SendMode::standard, data);
  hand.settle();
  REQUIRE(hand.received.size() == 1);
  const portals::Header header = hand.received.header(0);
  CHECK(header.length == 0);
  CHECK(message_bytes(header) == kLongBytes);
  CHECK(header.return_portal == portals::kNoPortal);
  CHECK(header.match_bits == envelope_bits(7, 0, 0, kLongBit));
  CHECK(!send.complete);

  portals::Header get = HandMade::header(portals::Kind::get, kReadPortal, read_note(header.user_data).answer_bits);
  get.return_portal = kReceivePortal;
  get.return_length = kLongBytes;
  hand.inject(get);
  hand.settle();
  CHECK(send.complete);
  CHECK(hand.received.body(1) == data);
}

}  // namespace
}  // namespace margay::mpi_adi
