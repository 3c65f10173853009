// Tests of the paper's sentences about portals, section 1.2, at least one for each: overlays, acknowledgments, offsets,
// portals without a match list. A test's name quotes the words that it tests.
#include <doctest/doctest.h>

#include "portals/deliver.hpp"
#include "tests/portals/portals_fixture.hpp"

namespace margay::portals::testing {

TEST_SUITE_BEGIN("portals/paper_section_1_2");

TEST_CASE(
    "'overlaid so that the same memory region is accessed or manipulated by multiple match list entries or portals'") {
  Kernel kernel;
  Memory memory(8);
  SingleBlock block(memory.buffer());
  MatchEntry writer({.match_bits = 1}, block, {.offset_by = OffsetBy::sender});
  MatchEntry reader;
  reader.set({.match_bits = 2}, block, {});
  reader.overlay(writer, {.offset_by = OffsetBy::sender, .direction = Direction::read_only});
  MatchList list;
  list.append(writer);
  list.append(reader);
  REQUIRE(kernel.table.attach(kPortal, list).ok());
  REQUIRE(kernel.table.attach(9, block, {.offset_by = OffsetBy::sender, .direction = Direction::read_only}).ok());

  Header header = put(1, 4);
  header.offset = 2;
  CHECK(kernel.send(header, "data").entry == &writer);
  const Verdict by_entry = kernel.send(get(2, 4, 2));
  CHECK(by_entry.entry == &reader);
  CHECK(by_entry.outcome == Outcome::reply);
  CHECK(text(by_entry.landing) == "data");
  Header by_portal = get(0, 2, 4);
  by_portal.portal = 9;
  CHECK(text(kernel.send(by_portal).landing) == "ta");
}

TEST_CASE("'overlaid onto another match list entry which has an independent block ... update the same buffer table'") {
  Kernel kernel;
  Memory memory(16);
  std::array<IndependentBuffer, 2> rows;
  rows[0].memory = Region(memory.data(), 8);
  rows[1].memory = Region(memory.data() + 8, 8);
  IndependentBlock block(rows, Progression::linear);
  MatchEntry one({.match_bits = 1}, block, {});
  MatchEntry two({.match_bits = 2}, block, {});
  two.overlay(one, {});
  MatchList list;
  list.append(one);
  list.append(two);
  REQUIRE(kernel.table.attach(kPortal, list).ok());
  CHECK(kernel.send(2, "from two").row == 0);
  CHECK(kernel.send(1, "from one").row == 1);
  CHECK(memory.text() == "from twofrom one");
  CHECK(kernel.send(1, "more").reason == DropReason::no_room);
  CHECK(kernel.send(2, "more").reason == DropReason::no_room);
}

TEST_CASE(
    "'comparing the group, rank, and match bits in the incoming message header to those in each match list entry'") {
  Kernel kernel;
  Memory memory(64);
  SingleBlock block(memory.buffer());
  MatchEntry both({.match_bits = 1, .source_group = 7, .source_rank = 3}, block, {});
  MatchEntry group({.match_bits = 1, .source_group = 8}, block, {});
  MatchEntry rank({.match_bits = 1, .source_rank = 4}, block, {});
  MatchList list;
  list.append(both);
  list.append(group);
  list.append(rank);
  REQUIRE(kernel.table.attach(kPortal, list).ok());
  CHECK(kernel.send(put(1, 0, {7, 3})).entry == &both);
  CHECK(kernel.send(put(1, 0, {8, 3})).entry == &group);
  CHECK(kernel.send(put(1, 0, {8, 4})).entry == &group);
  CHECK(kernel.send(put(1, 0, {7, 4})).entry == &rank);
  CHECK(kernel.send(put(1, 0, {7, 5})).reason == DropReason::no_match);
  CHECK(kernel.send(put(2, 0, {7, 3})).reason == DropReason::no_match);
}

TEST_CASE("'configured to send an acknowledgment back to the sender needs to know to which portal'") {
  Kernel kernel;
  Memory memory(64);
  SingleBlock block(memory.buffer());
  REQUIRE(kernel.table.attach(kPortal, block, {.acknowledge = true}).ok());
  REQUIRE(kernel.table.attach(4, block, {}).ok());
  Header header = put(0, 4);
  header.return_portal = 11;
  CHECK(kernel.send(header, "data").acknowledge);
  // Without a return portal there is no destination for it.
  header.return_portal = kNoPortal;
  CHECK_FALSE(kernel.send(header, "data").acknowledge);
  // A descriptor that is not configured to does not send one.
  header.return_portal = 11;
  header.portal = 4;
  CHECK_FALSE(kernel.send(header, "data").acknowledge);
  // An acknowledgment is never acknowledged.
  header.portal = kPortal;
  header.kind = Kind::acknowledgment;
  header.length = 0;
  const Verdict verdict = kernel.send(header);
  CHECK(verdict.outcome == Outcome::deposit);
  CHECK_FALSE(verdict.acknowledge);
}

TEST_CASE("'a sender managed memory descriptor needs to get the desired offset from the incoming message'") {
  Kernel kernel;
  Memory memory(8);
  std::fill_n(memory.data(), 8, std::byte{'.'});
  SingleBlock block(memory.buffer());
  REQUIRE(kernel.table.attach(kPortal, block, {.offset_by = OffsetBy::sender}).ok());
  REQUIRE(kernel.table.attach(4, block, {.offset_by = OffsetBy::receiver}).ok());
  Header header = put(0, 2);
  header.offset = 3;
  CHECK(kernel.send(header, "ab").offset == 3);
  CHECK(memory.text() == "...ab...");
  // "The configuration of the destination portal and memory descriptor will determine how and if" it is used.
  header.portal = 4;
  CHECK(kernel.send(header, "cd").offset == 0);
  CHECK(memory.text() == "cd.ab...");
}

TEST_CASE("'a memory descriptor attached, but no match list, will ignore the destination match bits'") {
  Kernel kernel;
  Memory memory(64);
  SingleBlock block(memory.buffer());
  REQUIRE(kernel.table.attach(kPortal, block, {}).ok());
  for (const MatchBits bits : {MatchBits{0}, MatchBits{1}, ~MatchBits{0}}) {
    const Verdict verdict = kernel.send(bits, "x");
    CHECK(verdict.outcome == Outcome::deposit);
    CHECK(verdict.entry == nullptr);
  }
  std::vector<Step> steps;
  CHECK(kernel.delivery.explain(put(9, 1), steps) == Outcome::deposit);
  REQUIRE(steps.size() == 1);
  CHECK(steps[0].entry == nullptr);
  CHECK(steps[0].passed == Passed::taken);
  // A failure has no link to follow there.
  CHECK(kernel.send(put(0, 62)).reason == DropReason::too_small);
  CHECK(kernel.send(get(0, 1)).reason == DropReason::write_only);
  CHECK(kernel.delivery.explain(put(0, 62), steps) == Outcome::drop);
  CHECK(steps.back().passed == Passed::too_small);
}
TEST_SUITE_END();

}  // namespace margay::portals::testing
