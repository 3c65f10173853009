// Tests of the credit of rings: the consumer returns room in parts while it is behind, and all room when it is idle.
#include <doctest/doctest.h>

#include <memory>

#include "sim/shm/byte_ring.hpp"
#include "sim/shm/cell_ring.hpp"
#include "tests/sim/shm_set.hpp"
#include "tests/sim/wire_contract.hpp"

namespace margay::sim::test {
namespace {

TEST_CASE("cell ring: releases are published by quarters, and by settle()") {
  auto channel = std::make_unique<ChannelData>();
  CellProducer producer(channel->cells, channel->consumer);
  CellConsumer consumer(channel->cells, channel->consumer);
  for (std::uint32_t i = 0; i < kCellCount; ++i) {
    REQUIRE(producer.has_room());
    producer.publish(0x100);
  }
  CHECK_FALSE(producer.has_room());
  std::uint64_t word = 0;
  std::uint32_t credited_after = 0;
  for (std::uint32_t i = 1; credited_after == 0; ++i) {
    REQUIRE(consumer.peek(word));
    if (consumer.release()) credited_after = i;
  }
  CHECK(credited_after == kCellCount / 4 + 1);
  CHECK(producer.has_room());
  CHECK_FALSE(consumer.settle());
  REQUIRE(consumer.peek(word));
  CHECK_FALSE(consumer.release());
  CHECK(channel->consumer.cells_consumed == credited_after);
  CHECK(consumer.settle());
  CHECK(channel->consumer.cells_consumed == credited_after + 1);
}

TEST_CASE("byte ring: releases are published by eighths, and by settle()") {
  auto channel = std::make_unique<ChannelData>();
  ByteConsumer consumer(channel->bytes, channel->producer, channel->consumer);
  consumer.expect(kByteRingBytes);
  CHECK_FALSE(consumer.release_later(kByteRingBytes / 8));
  CHECK(channel->consumer.bytes_consumed == 0);
  CHECK(consumer.release_later(1));
  CHECK(channel->consumer.bytes_consumed == kByteRingBytes / 8 + 1);
  CHECK_FALSE(consumer.settle());
  CHECK_FALSE(consumer.release_later(5));
  consumer.release(5);
  CHECK(channel->consumer.bytes_consumed == kByteRingBytes / 8 + 11);
}

// A sender that waits for room sees all of it once its receiver polled an empty ring, and while one message is held.
TEST_CASE("shm wire: at rest, and behind a held message, the sender has all room") {
  Rig rig([](std::uint32_t ranks) { return std::make_unique<ShmSet>(ranks); }, 2);
  auto& set = static_cast<ShmSet&>(rig.set());
  ShmLayout layout;
  REQUIRE(ShmLayout::attach(set.segment(), 2, layout).ok());
  const ConsumerLine& line = layout.channel(0, 1).consumer;
  for (std::uint64_t i = 1; i <= 5; ++i) rig[0].send(1, numbered(i), pattern_body(i, 1000));
  rig[1].round();
  CHECK(line.cells_consumed == 5);
  CHECK(line.bytes_consumed == 5000);
  rig[1].answer = [](const Arrival& arrival) {
    return arrival.sequence == 8 ? Endpoint::Answer::hold : Endpoint::Answer::take;
  };
  for (std::uint64_t i = 6; i <= 8; ++i) rig[0].send(1, numbered(i), pattern_body(i, 1000));
  rig[1].round();
  CHECK(line.cells_consumed == 7);
  CHECK(line.bytes_consumed == 7000);
}

}  // namespace
}  // namespace margay::sim::test
