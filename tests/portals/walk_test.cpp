// Tests of the walk: "There are three types of failure the kernel can experience at each match list entry". Links,
// their ends and circles. Every test runs on a short list, which is walked, and on a long one, which is indexed.
#include "portals/walk.hpp"

#include <doctest/doctest.h>

#include <memory>

#include "tests/portals/portals_fixture.hpp"

namespace margay::portals::testing {

TEST_SUITE_BEGIN("portals/walk");

namespace {

constexpr MatchBits kWanted = 1;
constexpr MatchBits kOther = 2;

// A list of named entries, preceded by `padding` entries that match no message.
struct Lists {
  explicit Lists(std::size_t padding) : fillers(padding) {
    REQUIRE(kernel.table.attach(kPortal, list).ok());
    for (MatchEntry& filler : fillers) {
      filler.set({.match_bits = 99}, roomy, {});
      list.append(filler);
    }
  }
  // Checks the end of a message's walk, and that explain() agrees.
  Verdict end(const Header& header) {
    std::vector<Step> steps;
    const Outcome outcome = kernel.delivery.explain(header, steps);
    const Verdict verdict = kernel.delivery.decide(header);
    CHECK(outcome == verdict.outcome);
    const MatchEntry* const last = steps.empty() ? nullptr : steps.back().entry;
    if (outcome != Outcome::drop) CHECK(last == verdict.entry);
    stops = steps.size() - std::min(steps.size(), fillers.size());
    if (outcome != Outcome::drop) kernel.delivery.complete(verdict, header);
    return verdict;
  }

  Kernel kernel;
  Memory memory{256};
  SingleBlock roomy{{memory.data(), 256}};
  SingleBlock small{{memory.data(), 4}};
  SingleBlock full{{memory.data(), 0}};
  std::vector<MatchEntry> fillers;
  MatchEntry a;
  MatchEntry b;
  MatchEntry c;
  MatchEntry d;
  MatchList list;
  std::size_t stops = 0;
};

}  // namespace

// Checks each destination of one link of an entry a, which is before b and c; these take every message.
void check_links(std::size_t padding, MatchBits bits, SingleBlock Lists::*storage, Link Links::*failure,
                 std::uint64_t length, DropReason reason) {
  for (const Link::To to : {Link::To::next, Link::To::entry, Link::To::drop}) {
    CAPTURE(padding);
    CAPTURE(static_cast<int>(to));
    Lists lists(padding);
    // The other two links have a wrong destination.
    Links links{Link::at(lists.d), Link::at(lists.d), Link::at(lists.d)};
    links.*failure = to == Link::To::next ? Link::next() : to == Link::To::entry ? Link::at(lists.c) : Link::drop();
    lists.a.set({.match_bits = bits}, lists.*storage, {}, links);
    for (MatchEntry* entry : {&lists.b, &lists.c, &lists.d}) entry->set({.match_bits = kWanted}, lists.roomy, {});
    for (MatchEntry* entry : {&lists.a, &lists.b, &lists.c, &lists.d}) lists.list.append(*entry);
    const Verdict verdict = lists.end(put(kWanted, length));
    CHECK(verdict.entry == (to == Link::To::next ? &lists.b : to == Link::To::entry ? &lists.c : nullptr));
    CHECK(verdict.reason == (to == Link::To::drop ? reason : DropReason::none));
    CHECK(lists.stops == (to == Link::To::drop ? 1 : 2));
  }
}

TEST_CASE("'fail because the matching criteria are not met'") {
  for (const std::size_t padding : {0U, 40U}) {
    check_links(padding, kOther, &Lists::roomy, &Links::no_match, 8, DropReason::no_match);
  }
}

TEST_CASE("'because the memory descriptor has no available buffer'") {
  for (const std::size_t padding : {0U, 40U}) {
    check_links(padding, kWanted, &Lists::full, &Links::no_room, 8, DropReason::no_room);
  }
}

TEST_CASE("'because the available buffer is too small to hold the incoming message'") {
  for (const std::size_t padding : {0U, 40U}) {
    check_links(padding, kWanted, &Lists::small, &Links::too_small, 5, DropReason::too_small);
  }
}

TEST_CASE("an inactive entry is passed by its no-match link") {
  for (const std::size_t padding : {0U, 40U}) {
    Lists lists(padding);
    lists.a.set({.match_bits = kWanted}, lists.roomy, {}, {.no_match = Link::at(lists.c)});
    lists.b.set({.match_bits = kWanted}, lists.roomy, {});
    lists.c.set({.match_bits = kWanted}, lists.roomy, {});
    lists.list.append(lists.a, MatchList::Start::inactive);
    lists.list.append(lists.b);
    lists.list.append(lists.c);
    CHECK(lists.end(put(kWanted, 1)).entry == &lists.c);
    lists.list.activate(lists.a);
    CHECK(lists.end(put(kWanted, 1)).entry == &lists.a);
    lists.list.deactivate(lists.a);
    CHECK(lists.end(put(kWanted, 1)).entry == &lists.c);
  }
}

TEST_CASE("an entry reached by a link has its criteria checked too") {
  for (const std::size_t padding : {0U, 40U}) {
    Lists lists(padding);
    lists.a.set({.match_bits = kWanted}, lists.full, {}, {.no_room = Link::at(lists.b)});
    lists.b.set({.match_bits = kOther}, lists.roomy, {});
    lists.c.set({.match_bits = kWanted}, lists.roomy, {});
    lists.list.append(lists.a);
    lists.list.append(lists.b);
    lists.list.append(lists.c);
    CHECK(lists.end(put(kWanted, 1)).entry == &lists.c);
    CHECK(lists.stops == 3);
  }
}

TEST_CASE("an adopted entry has no position in the chain: only links lead to it, and `next` after it ends the walk") {
  for (const std::size_t padding : {0U, 40U}) {
    Lists lists(padding);
    lists.a.set({.match_bits = kWanted}, lists.small, {}, {.too_small = Link::at(lists.b)});
    lists.b.set({.match_bits = kWanted}, lists.small, {});
    lists.c.set({.match_bits = kWanted}, lists.roomy, {});
    lists.list.append(lists.a);
    lists.list.adopt(lists.b);
    lists.list.append(lists.c);
    CHECK(lists.list.size() == padding + 3);
    CHECK(lists.list.next(lists.a) == &lists.c);
    CHECK(lists.list.next(lists.b) == nullptr);
    // a is too small, and so is b; c does not follow b.
    CHECK(lists.end(put(kWanted, 8)).reason == DropReason::too_small);
    lists.list.remove(lists.a);
    CHECK(lists.end(put(kWanted, 8)).entry == &lists.c);
  }
}

TEST_CASE("an inactive adopted entry is passed over, and its no-match link is followed") {
  Lists lists(0);
  lists.a.set({.match_bits = kWanted}, lists.full, {}, {.no_room = Link::at(lists.b)});
  lists.b.set({.match_bits = kWanted}, lists.roomy, {}, {.no_match = Link::at(lists.c)});
  lists.c.set({.match_bits = kWanted}, lists.roomy, {});
  lists.list.append(lists.a);
  lists.list.adopt(lists.b, MatchList::Start::inactive);
  lists.list.adopt(lists.c);
  CHECK(lists.end(put(kWanted, 8)).entry == &lists.c);
  lists.list.activate(lists.b);
  CHECK(lists.end(put(kWanted, 8)).entry == &lists.b);
}

TEST_CASE("explain() returns a walk's first stops and counts its stops, each up to a limit, through links too") {
  Lists lists(40);
  lists.c.set({.match_bits = kWanted}, lists.roomy, {});
  lists.b.set({.match_bits = 98}, lists.roomy, {}, {.no_match = Link::at(lists.c)});
  lists.a.set({.match_bits = 98}, lists.roomy, {}, {.no_match = Link::at(lists.b)});
  lists.list.append(lists.a);
  lists.list.adopt(lists.b);
  lists.list.adopt(lists.c);
  std::vector<Step> steps;
  const auto reported = [&](std::size_t limit, std::uint32_t visited) {
    steps.clear();
    return lists.kernel.delivery.explain(put(kWanted, 8), steps, {.steps = limit, .visited = visited});
  };
  const WalkSummary whole = reported(41, 43);
  CHECK((whole.outcome == Outcome::deposit && whole.is_whole && whole.visited == 43 && steps.size() == 41));
  CHECK(steps.back().entry == &lists.a);
  const WalkSummary cut = reported(41, 42);
  CHECK((!cut.is_whole && cut.visited == 42 && steps.size() == 41));
}

TEST_CASE("a link to an entry in no list, or in another list, ends the walk") {
  for (const std::size_t padding : {0U, 40U}) {
    Lists lists(padding);
    lists.a.set({.match_bits = kWanted}, lists.full, {}, {.no_room = Link::at(lists.b)});
    lists.b.set({.match_bits = kWanted}, lists.roomy, {});
    lists.c.set({.match_bits = kWanted}, lists.roomy, {});
    lists.list.append(lists.a);
    lists.list.append(lists.c);
    CHECK(lists.end(put(kWanted, 8)).reason == DropReason::no_room);
    MatchList other;
    other.append(lists.b);
    CHECK(lists.end(put(kWanted, 8)).reason == DropReason::no_room);
  }
}

TEST_CASE("the reason is the last failure other than no match") {
  for (const std::size_t padding : {0U, 40U}) {
    Lists lists(padding);
    lists.a.set({.match_bits = kWanted}, lists.full, {});
    lists.b.set({.match_bits = kWanted}, lists.small, {});
    lists.c.set({.match_bits = kOther}, lists.roomy, {});
    lists.list.append(lists.a);
    CHECK(lists.end(put(kOther, 8)).reason == DropReason::no_match);
    CHECK(lists.end(put(kWanted, 8)).reason == DropReason::no_room);
    lists.list.append(lists.b);
    lists.list.append(lists.c);
    CHECK(lists.end(put(kWanted, 8)).reason == DropReason::too_small);
    CHECK(lists.end(put(77, 8)).reason == DropReason::no_match);
  }
}

TEST_CASE("the reason is no room if all matching entries are exhausted, indexed or not") {
  for (const std::size_t padding : {0U, 40U}) {
    CAPTURE(padding);
    Lists lists(padding);
    std::vector<std::unique_ptr<Receive>> receives;
    for (int at = 0; at < 3; ++at) {
      receives.push_back(std::make_unique<Receive>(8));
      receives.back()->entry.set({.match_bits = kWanted}, receives.back()->block, {});
      lists.list.append(receives.back()->entry);
    }
    for (const auto& receive : receives) CHECK(lists.end(put(kWanted, 8)).entry == &receive->entry);
    for (int again = 0; again < 3; ++again) CHECK(lists.end(put(kWanted, 8)).reason == DropReason::no_room);
    CHECK(lists.end(put(kOther, 8)).reason == DropReason::no_match);
    // Expect: once its buffer is released and the block rewound, the entry takes a message again.
    receives[1]->block.release(0);
    CHECK(lists.end(put(kWanted, 8)).reason == DropReason::no_room);
    receives[1]->block.rewind();
    CHECK(lists.end(put(kWanted, 8)).entry == &receives[1]->entry);
    CHECK(lists.end(put(kWanted, 8)).reason == DropReason::no_room);
    for (const auto& receive : receives) lists.list.remove(receive->entry);
    CHECK(lists.end(put(kWanted, 8)).reason == DropReason::no_match);
  }
}

TEST_CASE("a wrong direction ends the walk") {
  for (const std::size_t padding : {0U, 40U}) {
    Lists lists(padding);
    lists.a.set({.match_bits = kWanted}, lists.roomy, {.direction = Direction::read_only});
    lists.b.set({.match_bits = kOther}, lists.roomy, {});
    lists.c.set({}, lists.roomy, {});
    lists.list.append(lists.a);
    lists.list.append(lists.b);
    lists.list.append(lists.c);
    CHECK(lists.end(put(kWanted, 1)).reason == DropReason::read_only);
    CHECK(lists.end(get(kOther, 1)).reason == DropReason::write_only);
    std::vector<Step> steps;
    CHECK(lists.kernel.delivery.explain(put(kWanted, 1), steps) == Outcome::drop);
    CHECK(steps.back().passed == Passed::wrong_direction);
    CHECK(lists.end(get(kWanted, 1)).outcome == Outcome::reply);
  }
}

TEST_CASE("an offset past the end ends the walk, however large") {
  for (const std::size_t padding : {0U, 40U}) {
    Lists lists(padding);
    lists.a.set({.match_bits = kWanted}, lists.small, {.offset_by = OffsetBy::sender});
    lists.b.set({.match_bits = kWanted}, lists.roomy, {});
    lists.list.append(lists.a);
    lists.list.append(lists.b);
    Header header = put(kWanted, 2);
    for (const std::uint64_t offset :
         {std::uint64_t{5}, std::uint64_t{1} << 63, ~std::uint64_t{0}, ~std::uint64_t{1}}) {
      header.offset = offset;
      CHECK(lists.end(header).reason == DropReason::offset_out_of_range);
    }
    // A message that begins inside and ends outside is too long for the buffer, also if the sum wraps.
    header.offset = 3;
    CHECK(lists.end(header).entry == &lists.b);
    header.offset = 2;
    header.length = ~std::uint64_t{0};
    CHECK(lists.end(header).reason == DropReason::too_small);
    header.length = 2;
    CHECK(lists.end(header).entry == &lists.a);
    header.offset = 4;
    header.length = 0;
    CHECK(lists.end(header).entry == &lists.a);
  }
}

TEST_CASE("links that form a circle are cut: an entry that links to itself") {
  for (const std::size_t padding : {0U, 40U}) {
    Lists lists(padding);
    lists.a.set({.match_bits = kWanted}, lists.full, {}, {.no_room = Link::at(lists.a)});
    lists.list.append(lists.a);
    CHECK(lists.end(put(kWanted, 8)).reason == DropReason::no_room);
  }
}

TEST_CASE("links that form a circle are cut: two entries that link to each other") {
  for (const std::size_t padding : {0U, 40U}) {
    Lists lists(padding);
    lists.a.set({.match_bits = kOther}, lists.roomy, {}, {.no_match = Link::at(lists.b)});
    lists.b.set({.match_bits = kOther}, lists.roomy, {}, {.no_match = Link::at(lists.a)});
    lists.list.append(lists.a);
    lists.list.append(lists.b);
    CHECK(lists.end(put(kWanted, 8)).reason == DropReason::no_match);
  }
}

TEST_CASE("links that form a circle are cut: back along the chain, where the last stop's failure is the reason") {
  for (const std::size_t padding : {0U, 40U}) {
    Lists lists(padding);
    lists.a.set({.match_bits = kWanted}, lists.full, {});
    lists.b.set({.match_bits = kWanted}, lists.small, {}, {.too_small = Link::at(lists.a)});
    lists.list.append(lists.a);
    lists.list.append(lists.b);
    const Verdict verdict = lists.end(put(kWanted, 8));
    CHECK(verdict.outcome == Outcome::drop);
    std::vector<Step> steps;
    CHECK(lists.kernel.delivery.explain(put(kWanted, 8), steps) == Outcome::drop);
    CHECK(steps.size() == lists.list.size());
    CHECK(name(verdict.reason) == name(steps.back().passed));
  }
}

TEST_CASE("links that form a circle are cut: among adopted entries") {
  for (const std::size_t padding : {0U, 40U}) {
    Lists lists(padding);
    lists.a.set({.match_bits = kWanted}, lists.full, {}, {.no_room = Link::at(lists.b)});
    lists.b.set({.match_bits = kWanted}, lists.small, {}, {.too_small = Link::at(lists.c)});
    lists.c.set({.match_bits = kWanted}, lists.small, {}, {.too_small = Link::at(lists.b)});
    lists.list.append(lists.a);
    lists.list.adopt(lists.b);
    lists.list.adopt(lists.c);
    CHECK(lists.end(put(kWanted, 8)).reason == DropReason::too_small);
  }
}

TEST_CASE("a link back along the chain is no circle if the entry there takes the message") {
  Lists lists(40);
  lists.a.set({.match_bits = kOther}, lists.roomy, {}, {.no_match = Link::at(lists.c)});
  lists.b.set({.match_bits = kWanted}, lists.roomy, {});
  lists.c.set({.match_bits = kWanted}, lists.small, {}, {.too_small = Link::at(lists.b)});
  lists.list.append(lists.a);
  lists.list.append(lists.b);
  lists.list.append(lists.c);
  CHECK(lists.end(put(kWanted, 8)).entry == &lists.b);
  CHECK(lists.stops == 3);
}

TEST_CASE("an empty list matches no message") {
  Kernel kernel;
  MatchList list;
  REQUIRE(kernel.table.attach(kPortal, list).ok());
  CHECK(kernel.send(1, "x").reason == DropReason::no_match);
}

TEST_SUITE_END();

}  // namespace margay::portals::testing
