#include "mpi_adi/protocol/buffered.hpp"

#include "tests/mpi_adi/hand_made.hpp"

namespace margay::mpi_adi {
namespace {

TEST_CASE("the attached buffer has room for the promised size, and again once the room is returned") {
  std::vector<std::byte> memory(3 * (100 + MPI_BSEND_OVERHEAD));
  AttachedBuffer buffer;
  std::byte* slot = nullptr;
  CHECK(!buffer.reserve(1, slot).ok());
  REQUIRE(buffer.attach(memory.data(), memory.size()).ok());
  CHECK(!buffer.attach(memory.data(), memory.size()).ok());
  std::vector<std::byte*> places;
  for (int number = 0; number < 3; ++number) {
    REQUIRE(buffer.reserve(100, slot).ok());
    CHECK(slot >= memory.data());
    CHECK(slot + 100 <= memory.data() + memory.size());
    for (const std::byte* other : places) CHECK((slot >= other + 100 || other >= slot + 100));
    places.push_back(slot);
  }
  const portals::Status full = buffer.reserve(100, slot);
  REQUIRE(!full.ok());
  CHECK(full.sentence().find("attach a larger one") != std::string::npos);
  buffer.release(places[1]);
  CHECK(!buffer.reserve(101, slot).ok());
  REQUIRE(buffer.reserve(100, slot).ok());
  CHECK(slot == places[1]);
  CHECK(!buffer.reserve(~std::uint64_t{0}, slot).ok());
  for (const std::byte* one : places) buffer.release(one);
  CHECK(buffer.idle());
  void* base = nullptr;
  std::uint64_t bytes = 0;
  buffer.detach(base, bytes);
  CHECK(base == memory.data());
  CHECK(bytes == memory.size());
}

TEST_CASE("buffered sends release their user's memory at once; detaching waits for them") {
  HandMade hand;
  BufferedSends sends(parts_of(hand.device()));
  std::vector<std::byte> memory(100'000);
  REQUIRE(sends.attach(memory.data(), memory.size()).ok());
  std::vector<std::byte> data = pattern(kLongBytes, 1);
  const std::vector<std::byte> kept = data;
  REQUIRE(sends.send({SendMode::buffered, data.data(), kLongBytes, &hand.bytes(), 1, 7, &hand.comm()}).ok());
  std::ranges::fill(data, std::byte{0});
  CHECK(!sends.drained());
  hand.settle();
  REQUIRE(hand.received.size() == 1);
  CHECK(hand.received.body(0) == kept);
  CHECK(!sends.drained());
  hand.acknowledge(hand.received.header(0).return_match_bits, portals::Saved::both);
  hand.settle();
  CHECK(sends.drained());
  CHECK(hand.device().counts().buffered.messages == 1);
  CHECK(hand.device().counts().long_matched.messages == 0);
  CHECK(sends.send({SendMode::buffered, nullptr, 0, &hand.bytes(), MPI_PROC_NULL, 7, &hand.comm()}).ok());
}

}  // namespace
}  // namespace margay::mpi_adi
