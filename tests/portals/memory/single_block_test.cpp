// Tests of the single block: "sender or receiver managed offset; save message header only, save message body only or
// save both; read only or write only; acknowledge sender."
#include "portals/memory/block.hpp"

#include <doctest/doctest.h>

#include "tests/portals/portals_fixture.hpp"

namespace margay::portals::testing {

TEST_SUITE_BEGIN("portals/memory/block");

namespace {

struct Single {
  explicit Single(const Options& options) { REQUIRE(kernel.table.attach(kPortal, block, options).ok()); }
  Memory memory{8};
  SingleBlock block{memory.buffer()};
  Kernel kernel;
};

}  // namespace

TEST_CASE("receiver-managed: messages fill the block from its beginning, until it is reset") {
  Single single({});
  CHECK(single.kernel.send(0, "abc").offset == 0);
  CHECK(single.kernel.send(0, "de").offset == 3);
  CHECK(single.block.local_offset() == 5);
  CHECK(single.kernel.send(0, "four").reason == DropReason::too_small);
  CHECK(single.kernel.send(0, "fgh").offset == 5);
  CHECK(single.memory.text() == "abcdefgh");
  CHECK(single.kernel.send(0, "i").reason == DropReason::no_room);
  // An empty message needs no room.
  CHECK(single.kernel.send(0, "").outcome == Outcome::deposit);
  single.block.reset_local_offset();
  CHECK(single.kernel.send(0, "new").offset == 0);
  CHECK(single.memory.text() == "newdefgh");
  CHECK(single.block.messages() == 5);
  CHECK(single.block.bytes() == 11);
}

TEST_CASE("sender-managed: messages are written at their offset, and may overwrite") {
  Single single({.offset_by = OffsetBy::sender});
  Header header = put(0, 4);
  header.offset = 4;
  CHECK(single.kernel.send(header, "tail").offset == 4);
  header.offset = 2;
  CHECK(single.kernel.send(header, "over").offset == 2);
  CHECK(single.memory.text().substr(2) == "overil");
  CHECK(single.block.local_offset() == 0);
  header.offset = 5;
  CHECK(single.kernel.send(header).reason == DropReason::too_small);
  header.offset = 9;
  CHECK(single.kernel.send(header).reason == DropReason::offset_out_of_range);
  header.offset = 8;
  header.length = 0;
  CHECK(single.kernel.send(header).outcome == Outcome::deposit);
}

TEST_CASE("save the header only: the body is not saved and needs no room") {
  Single single({.save = Save::header});
  Header header = put(5, 1000);
  header.offset = 1000;
  const Verdict verdict = single.kernel.send(header);
  CHECK(verdict.saved == Saved::header);
  CHECK(verdict.landing.bytes() == 0);
  CHECK(single.block.saved_header() == header);
  CHECK(single.block.local_offset() == 0);
  CHECK(single.block.bytes() == 0);
  CHECK(single.block.messages() == 1);
}

TEST_CASE("save the body only: the block contains no header") {
  Single single({.save = Save::body});
  const Verdict verdict = single.kernel.send(5, "abc");
  CHECK(verdict.saved == Saved::body);
  CHECK(single.memory.text().substr(0, 3) == "abc");
  CHECK(single.block.saved_header() == Header());
}

TEST_CASE("save both: one slot for the header, the latest message's") {
  Single single({.save = Save::both});
  CHECK(single.kernel.send(put(5, 1), "a").saved == Saved::both);
  CHECK(single.block.saved_header() == put(5, 1));
  single.kernel.send(put(6, 2), "bb");
  CHECK(single.block.saved_header() == put(6, 2));
}

TEST_CASE("read only: a get is answered from the block, by the sender's or receiver's offset; a put is rejected") {
  Single by_sender({.offset_by = OffsetBy::sender, .direction = Direction::read_only});
  std::memcpy(by_sender.memory.data(), "abcdefgh", 8);
  CHECK(text(by_sender.kernel.send(get(0, 3, 2)).landing) == "cde");
  CHECK(text(by_sender.kernel.send(get(0, 0, 8)).landing).empty());
  CHECK(by_sender.kernel.send(get(0, 3, 6)).reason == DropReason::too_small);
  CHECK(by_sender.kernel.send(get(0, 3, 9)).reason == DropReason::offset_out_of_range);
  CHECK(by_sender.kernel.send(get(0, 3, ~std::uint64_t{0})).reason == DropReason::offset_out_of_range);
  CHECK(by_sender.kernel.send(0, "x").reason == DropReason::read_only);
  CHECK(by_sender.memory.text() == "abcdefgh");
  CHECK(by_sender.block.messages() == 2);
  CHECK(by_sender.block.bytes() == 3);

  Single by_receiver({.direction = Direction::read_only});
  std::memcpy(by_receiver.memory.data(), "abcdefgh", 8);
  CHECK(text(by_receiver.kernel.send(get(0, 3, 7)).landing) == "abc");
  CHECK(text(by_receiver.kernel.send(get(0, 5, 7)).landing) == "defgh");
  CHECK(by_receiver.kernel.send(get(0, 1)).reason == DropReason::no_room);
  CHECK(by_receiver.block.saved_header() == get(0, 5, 7));
}

TEST_CASE("write only: a get is rejected") {
  Single single({});
  CHECK(single.kernel.send(get(0, 1)).reason == DropReason::write_only);
}

TEST_CASE("'the faster zero length single block': it counts messages and keeps none") {
  Kernel kernel;
  SingleBlock block({nullptr, 0});
  REQUIRE(kernel.table.attach(kPortal, block, {}).ok());
  CHECK(kernel.send(0, "").outcome == Outcome::deposit);
  CHECK(kernel.send(0, "").outcome == Outcome::deposit);
  CHECK(block.messages() == 2);
  CHECK(kernel.send(0, "x").reason == DropReason::no_room);
}

TEST_CASE("abandon returns the last message's room; a gap remains") {
  Single single({});
  const Verdict first = single.kernel.delivery.decide(put(0, 3));
  const Verdict second = single.kernel.delivery.decide(put(0, 3));
  single.kernel.delivery.abandon(second);
  CHECK(single.block.local_offset() == 3);
  const Verdict third = single.kernel.delivery.decide(put(0, 2));
  CHECK(third.offset == 3);
  single.kernel.delivery.abandon(first);
  CHECK(single.block.local_offset() == 5);
  single.kernel.delivery.abandon(third);
  CHECK(single.block.local_offset() == 3);
  CHECK(single.block.messages() == 0);
}

TEST_CASE("abandoning a sender-managed message does not change the receiver's offset") {
  Single single({});
  REQUIRE(single.kernel.table.attach(4, single.block, {.offset_by = OffsetBy::sender}).ok());
  single.kernel.send(0, "abcd");
  Header header = put(0, 4);
  header.portal = 4;
  single.kernel.delivery.abandon(single.kernel.delivery.decide(header));
  CHECK(single.block.local_offset() == 4);
}

TEST_SUITE_END();

}  // namespace margay::portals::testing
