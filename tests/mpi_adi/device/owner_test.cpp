// Tests of requests that are parts of a parent request: the parent is notified once of each completed part, and may
// start others.
#include <vector>

#include "mpi_adi/request/partitioned.hpp"
#include "tests/mpi_adi/hand_made.hpp"

namespace margay::mpi_adi {
namespace {

struct Counting final : ParentRequest {
  void part_completed(const Request& part) override {
    ++reported;
    bytes += part.bytes;
    if (next != nullptr) {
      std::vector<std::byte>& room = *next;
      next = nullptr;
      hand->device().give_to(*this, hand->receive(room));
    }
  }
  HandMade* hand = nullptr;
  std::vector<std::byte>* next = nullptr;  // a receive into it is started when a part is complete
  int reported = 0;
  std::uint64_t bytes = 0;
};

std::uint32_t top_bits(int tag) {
  return static_cast<std::uint32_t>(tag) >> 29;
}

TEST_CASE("an owner is notified once of each part, also of one that was complete before, and the device gets it back") {
  for (const bool before : {true, false}) {
    CAPTURE(before);
    HandMade hand;
    Counting owner;
    const std::vector<std::byte> data = pattern(kShortBytes, 1);
    std::vector<std::byte> room(kShortBytes);
    if (before) {
      hand.inject(HandMade::message(kShortBytes, {}), data);
      hand.settle();
    }
    hand.device().give_to(owner, hand.receive(room));
    CHECK(owner.reported == (before ? 1 : 0));
    if (!before) {
      hand.inject(HandMade::message(kShortBytes, {}), data);
      hand.settle();
    }
    CHECK(owner.reported == 1);
    CHECK(owner.bytes == kShortBytes);
    CHECK(room == data);
    CHECK(hand.comm().references == 1);
    CHECK(hand.device().quiet());
  }
}

TEST_CASE("an owner may start requests when it is notified, in the middle of progress") {
  HandMade hand;
  std::vector<std::byte> first(kShortBytes);
  std::vector<std::byte> second(kShortBytes);
  Counting owner;
  owner.hand = &hand;
  owner.next = &second;
  hand.device().give_to(owner, hand.receive(first));
  const std::vector<std::byte> data = pattern(kShortBytes, 1);
  const std::vector<std::byte> other = pattern(kShortBytes, 2);
  hand.inject(HandMade::message(kShortBytes, {}), data);
  hand.inject(HandMade::message(kShortBytes, {}), other);
  hand.settle();
  CHECK(owner.reported == 2);
  CHECK(first == data);
  CHECK(second == other);
  CHECK(hand.device().quiet());
}

TEST_CASE("tags of partitions are outside the program's range, and identify the message") {
  for (const int tag : {0, 1, kUserTagMax - 1, kUserTagMax}) {
    CHECK(top_bits(partition_setup_tag(tag)) == 6U);
    CHECK(partition_setup_tag(tag) != MPI_ANY_TAG);
    CHECK((static_cast<std::uint32_t>(partition_setup_tag(tag)) & kUserTagMax) == static_cast<std::uint32_t>(tag));
  }
  for (const std::uint64_t message : {std::uint64_t{0}, std::uint64_t{5}, kPartitionMessagesMax - 1}) {
    const int tag = partition_tag(kPartitionChannels + 17, message);
    CHECK(top_bits(tag) == 7U);
    CHECK(tag == partition_tag(17, message));
    CHECK(tag != partition_tag(18, message));
    CHECK(partition_message_of(tag) == message);
  }
}

}  // namespace
}  // namespace margay::mpi_adi
