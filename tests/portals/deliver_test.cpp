// Tests of decide, complete, abandon and explain; paper_section_1_2_test and paper_section_2_test test the paper's
// statements about them.
#include "portals/deliver.hpp"

#include <doctest/doctest.h>

#include "tests/portals/portals_fixture.hpp"

namespace margay::portals::testing {

TEST_SUITE_BEGIN("portals/deliver");

TEST_CASE("put, reply and acknowledgment are deposited; a get from a write-only block is dropped") {
  Kernel kernel;
  Memory memory(64);
  SingleBlock block(memory.buffer());
  REQUIRE(kernel.table.attach(kPortal, block, {.offset_by = OffsetBy::sender}).ok());
  for (const Kind kind : {Kind::put, Kind::reply, Kind::acknowledgment}) {
    CAPTURE(name(kind));
    Header header = put(0, 0);
    header.kind = kind;
    CHECK(kernel.send(header).outcome == Outcome::deposit);
  }
  CHECK(kernel.send(get(0, 0)).reason == DropReason::write_only);
}

TEST_CASE("explain() changes nothing and returns every stop") {
  Kernel kernel;
  Receive a(8);
  Receive b(8);
  Receive c(8);
  a.entry.set({.match_bits = 1}, a.block, {});
  b.entry.set({.match_bits = 2}, b.block, {});
  c.entry.set({.match_bits = 2}, c.block, {});
  MatchList list;
  list.append(a.entry);
  list.append(b.entry, MatchList::Start::inactive);
  list.append(c.entry);
  REQUIRE(kernel.table.attach(kPortal, list).ok());
  for (int again = 0; again < 2; ++again) {
    std::vector<Step> steps;
    CHECK(kernel.delivery.explain(put(2, 4), steps) == Outcome::deposit);
    REQUIRE(steps.size() == 3);
    CHECK(steps[0].entry == &a.entry);
    CHECK(steps[0].passed == Passed::no_match);
    CHECK(steps[1].entry == &b.entry);
    CHECK(steps[1].passed == Passed::inactive);
    CHECK(steps[2].entry == &c.entry);
    CHECK(steps[2].passed == Passed::taken);
  }
  CHECK(c.rows[0].state == IndependentBuffer::State::available);
}

TEST_CASE("a verdict of no room or too small changes nothing: the same header may be decided again later") {
  Kernel kernel;
  Memory memory(1024);
  DynamicBlock block(memory.buffer());
  REQUIRE(kernel.table.attach(kPortal, block, {}).ok());
  const Verdict first = kernel.send(put(1, 600), std::string(600, 'a'));
  const std::uint64_t used = block.used_bytes();
  for (int again = 0; again < 3; ++again) {
    CHECK(kernel.send(put(2, 600)).reason == DropReason::no_room);
    CHECK(block.used_bytes() == used);
    CHECK(block.queued() == 1);
  }
  block.release(*first.message);
  CHECK(kernel.send(put(2, 600), std::string(600, 'b')).outcome == Outcome::deposit);
  CHECK(block.messages() == 2);
}

TEST_CASE("other messages may be decided between a message's decide and complete; counters change at completion") {
  Kernel kernel;
  Memory memory(16);
  SingleBlock block(memory.buffer());
  REQUIRE(kernel.table.attach(kPortal, block, {}).ok());
  const Header a = put(1, 4);
  const Header b = put(2, 4);
  const Verdict first = kernel.delivery.decide(a);
  const Verdict second = kernel.delivery.decide(b);
  CHECK(first.offset == 0);
  CHECK(second.offset == 4);
  CHECK(block.messages() == 0);
  CHECK(kernel.changed.empty());
  move_body(second, "bbbb");
  kernel.delivery.complete(second, b);
  CHECK(block.messages() == 1);
  CHECK(block.saved_header() == b);
  move_body(first, "aaaa");
  kernel.delivery.complete(first, a);
  CHECK(block.messages() == 2);
  CHECK(block.bytes() == 8);
  CHECK(block.saved_header() == a);
  CHECK(memory.text().substr(0, 8) == "aaaabbbb");
}

TEST_SUITE_END();

}  // namespace margay::portals::testing
