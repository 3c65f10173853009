// Tests of the credit of rings: the consumer returns room in parts while it is behind, and all room when it is idle.
#include <doctest/doctest.h>

#include <memory>
#include <vector>

#include "sim/shm/byte_ring.hpp"
#include "sim/shm/cell_ring.hpp"
#include "sim/shm/read_offer.hpp"
#include "sim/wire/shm/shm_layout.hpp"
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

// After any number of messages, at any position of the rings, another process continues either side of a channel.
TEST_CASE("rings: a successor continues them where its predecessor ended") {
  auto channel = std::make_unique<ChannelData>();
  auto producer = std::make_unique<CellProducer>(channel->cells, channel->consumer);
  auto consumer = std::make_unique<CellConsumer>(channel->cells, channel->consumer);
  auto out = std::make_unique<ByteProducer>(channel->bytes, channel->producer, channel->consumer);
  auto in = std::make_unique<ByteConsumer>(channel->bytes, channel->producer, channel->consumer);
  std::vector<std::byte> body(kByteRingBytes - 7), landing(body.size());
  // Enough for the lap to pass 255.
  for (std::uint64_t message = 1; message <= 300 * std::uint64_t{kCellCount}; ++message) {
    REQUIRE(producer->has_room());
    producer->publish(message << 8U);
    CHECK(!is_at_rest(*channel));
    std::uint64_t word = 0;
    REQUIRE(consumer->peek(word));
    CHECK(word == message << 8U);
    static_cast<void>(consumer->release());
    static_cast<void>(consumer->settle());
    CHECK(is_at_rest(*channel));
    if (message % 97 != 0) continue;
    body[message % body.size()] = static_cast<std::byte>(message);
    REQUIRE(out->room(body.size()) >= body.size());
    out->write(body);
    out->publish();
    CHECK(!is_at_rest(*channel));
    REQUIRE(in->available() == body.size());
    portals::RegionCursor to(portals::Region(landing.data(), landing.size()));
    in->read(to, body.size());
    in->release(body.size());
    CHECK(landing == body);
    if (message % 2 == 0) {
      producer = std::make_unique<CellProducer>(channel->cells, channel->consumer);
      out = std::make_unique<ByteProducer>(channel->bytes, channel->producer, channel->consumer);
      producer->resume();
      out->resume();
    } else {
      consumer = std::make_unique<CellConsumer>(channel->cells, channel->consumer);
      in = std::make_unique<ByteConsumer>(channel->bytes, channel->producer, channel->consumer);
      consumer->resume();
      in->resume();
    }
  }
}

TEST_CASE("offers: a successor continues their numbers on either side") {
  ConsumerLine line;
  auto sender = std::make_unique<OfferProducer>(line);
  auto reader = std::make_unique<OfferConsumer>(line);
  for (std::uint64_t number = 1; number <= 20; ++number) {
    CHECK(sender->next() == number);
    sender->offer();
    CHECK(reader->take() == number);
    reader->answer(number % 3 == 0 ? ReadAnswer::cannot_now : ReadAnswer::over);
    CHECK(sender->answer() == (number % 3 == 0 ? ReadAnswer::cannot_now : ReadAnswer::over));
    sender->end();
    CHECK(!sender->stands());
    if (number % 2 == 0) {
      sender = std::make_unique<OfferProducer>(line);
      sender->resume();
    } else {
      reader = std::make_unique<OfferConsumer>(line);
      reader->resume();
    }
  }
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
