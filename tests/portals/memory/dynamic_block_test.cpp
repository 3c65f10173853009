// Tests of the dynamic block: "save message header only or save both header and body; acknowledge sender."
#include "portals/memory/dynamic_block.hpp"

#include <doctest/doctest.h>

#include "tests/portals/portals_fixture.hpp"

namespace margay::portals::testing {

TEST_SUITE_BEGIN("portals/memory/dynamic_block");

namespace {

struct Dynamic {
  explicit Dynamic(const Options& options = {}, std::size_t bytes = 8192) : memory(bytes) {
    REQUIRE(kernel.table.attach(kPortal, block, options).ok());
  }
  Memory memory;
  DynamicBlock block{memory.buffer()};
  Kernel kernel;
};

}  // namespace

TEST_CASE("save both: header and body lie in the heap itself, the body on a 64-byte boundary") {
  Dynamic dynamic;
  const Verdict verdict = dynamic.kernel.send(put(3, 5, {1, 2}), "hello");
  CHECK(verdict.saved == Saved::both);
  ArrivedMessage* const message = dynamic.block.first();
  REQUIRE(message != nullptr);
  CHECK(message->header == put(3, 5, {1, 2}));
  CHECK(message->saved == Saved::both);
  CHECK(text(Region(message->body)) == "hello");
  CHECK(message->arrival == 1);
  CHECK(message->claim == nullptr);
  const auto* const begin = dynamic.memory.data();
  const auto inside = [&](const void* at) { return at >= begin && at < begin + 8192; };
  CHECK(inside(message));
  CHECK(inside(message->body.base));
  CHECK(reinterpret_cast<std::uintptr_t>(message->body.base) % 64 == 0);
}

TEST_CASE("save the header only: it needs room for a header, and is complete at once") {
  Dynamic dynamic({.save = Save::header});
  const Verdict verdict = dynamic.kernel.delivery.decide(put(3, 1 << 30));
  CHECK(verdict.saved == Saved::header);
  CHECK(verdict.landing.bytes() == 0);
  CHECK(verdict.message->complete);
  CHECK(dynamic.block.used_bytes() <= 256);
  CHECK(dynamic.block.bytes() == 0);
}

TEST_CASE("counts that several blocks share equal the sums over these blocks after each step") {
  ArrivalCounts counts;
  Dynamic one;
  Dynamic other;
  one.block.count_in(counts);
  other.block.count_in(counts);
  const auto holds = [&](std::uint64_t messages) {
    CHECK(counts.messages == messages);
    CHECK(counts.messages == one.block.queued() + other.block.queued());
    CHECK(counts.bytes == one.block.used_bytes() + other.block.used_bytes());
  };
  one.kernel.send(put(3, 5, {1, 2}), "hello");
  one.kernel.send(put(3, 3, {1, 2}), "you");
  other.kernel.send(put(3, 1, {1, 2}), "!");
  holds(3);
  ArrivedMessage& taken = *one.block.first();
  one.block.unlink(taken);
  holds(2);
  one.block.release(taken);
  other.block.release(*other.block.first());
  holds(1);
  one.block.release(*one.block.first());
  holds(0);
  CHECK(counts.bytes == 0);
}

TEST_CASE("a header needs room too") {
  Dynamic dynamic({.save = Save::header}, 512);
  std::size_t held = 0;
  while (dynamic.kernel.send(put(3, 100)).outcome == Outcome::deposit) ++held;
  CHECK(held > 0);
  CHECK(held <= 512 / sizeof(ArrivedMessage));
  CHECK(dynamic.kernel.send(put(3, 0)).reason == DropReason::no_room);
  CHECK(dynamic.block.queued() == held);
}

TEST_CASE("no room: a message longer than any free block, even one whose length wraps") {
  Dynamic dynamic;
  CHECK(dynamic.kernel.send(put(3, 8192)).reason == DropReason::no_room);
  for (const std::uint64_t length : {~std::uint64_t{0}, ~std::uint64_t{0} - 100, std::uint64_t{1} << 63}) {
    CHECK(dynamic.kernel.send(put(3, length)).reason == DropReason::no_room);
  }
  CHECK(dynamic.block.used_bytes() == 0);
}

TEST_CASE("a dynamic block is written and never read: a get is rejected") {
  Dynamic dynamic;
  CHECK(dynamic.kernel.send(get(3, 1)).reason == DropReason::write_only);
}

TEST_CASE("acknowledge sender: the verdict requests an acknowledgment") {
  Dynamic dynamic({.acknowledge = true});
  Header header = put(3, 1);
  header.return_portal = 2;
  CHECK(dynamic.kernel.send(header, "a").acknowledge);
}

TEST_CASE("the order is that of arrival, though bodies complete out of order") {
  Dynamic dynamic;
  const Verdict a = dynamic.kernel.delivery.decide(put(1, 1));
  const Verdict b = dynamic.kernel.delivery.decide(put(1, 1));
  dynamic.kernel.delivery.complete(b, put(1, 1));
  CHECK(dynamic.block.first() == a.message);
  CHECK_FALSE(a.message->complete);
  CHECK(b.message->complete);
  CHECK(dynamic.block.find({.match_bits = 1}) == a.message);
  dynamic.kernel.delivery.complete(a, put(1, 1));
  CHECK(a.message->complete);
  CHECK(dynamic.block.find({.match_bits = 1}) == a.message);
  CHECK(a.message->arrival < b.message->arrival);
}

TEST_CASE("a message taken off the queue keeps its memory until it is released") {
  Dynamic dynamic;
  ArrivedMessage& message = *dynamic.kernel.send(1, "still here").message;
  dynamic.block.unlink(message);
  CHECK(dynamic.block.queued() == 0);
  CHECK(dynamic.block.first() == nullptr);
  CHECK(dynamic.block.find({.match_bits = 1}) == nullptr);
  CHECK(dynamic.block.used_bytes() > 0);
  dynamic.kernel.send(1, "another");
  CHECK(text(Region(message.body)) == "still here");
  dynamic.block.release(message);
  CHECK(dynamic.block.queued() == 1);
}

TEST_CASE("a message may be taken off while its body is in transit") {
  Dynamic dynamic;
  const Header header = put(1, 4);
  const Verdict verdict = dynamic.kernel.delivery.decide(header);
  dynamic.block.unlink(*verdict.message);
  int claimer = 0;
  verdict.message->claim = &claimer;
  move_body(verdict, "body");
  dynamic.kernel.delivery.complete(verdict, header);
  CHECK(verdict.message->complete);
  CHECK(verdict.message->claim == &claimer);
  CHECK(text(Region(verdict.message->body)) == "body");
  dynamic.block.release(*verdict.message);
  CHECK(dynamic.block.used_bytes() == 0);
}

TEST_CASE("abandon takes the message off the queue and frees its memory") {
  Dynamic dynamic;
  const Verdict first = dynamic.kernel.delivery.decide(put(1, 1000));
  dynamic.kernel.send(1, "second");
  dynamic.kernel.delivery.abandon(first);
  CHECK(dynamic.block.queued() == 1);
  CHECK(text(Region(dynamic.block.first()->body)) == "second");
  dynamic.block.release(*dynamic.block.first());
  CHECK(dynamic.block.used_bytes() == 0);
  CHECK(dynamic.block.messages() == 1);
}

TEST_CASE("the block reports the bytes in use and their maximum") {
  Dynamic dynamic;
  CHECK(dynamic.block.heap_bytes() == 8192);
  ArrivedMessage& first = *dynamic.kernel.send(1, std::string(1000, 'a')).message;
  const std::uint64_t one = dynamic.block.used_bytes();
  CHECK(one >= 1000);
  dynamic.block.release(first);
  CHECK(dynamic.block.used_bytes() == 0);
  CHECK(dynamic.block.high_water_bytes() == one);
}

TEST_SUITE_END();

}  // namespace margay::portals::testing
