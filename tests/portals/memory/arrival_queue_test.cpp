// Tests of find() against a search of the whole queue, while messages are added, removed and searched for at random.
#include "portals/memory/arrival_queue.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <list>
#include <vector>

#include "tests/portals/portals_fixture.hpp"
#include "tests/portals/random.hpp"
#include "tests/support/seeds.hpp"

namespace margay::portals::testing {

TEST_SUITE_BEGIN("portals/memory/arrival_queue");

namespace {

struct Queue {
  explicit Queue(std::uint64_t seed) : random(seed) { REQUIRE(kernel.table.attach(kPortal, block, {}).ok()); }

  void arrive() {
    Header header = put(random.below(4) | random.below(4) << 8, random.below(100));
    header.source = {static_cast<GroupId>(random.below(2)), static_cast<Rank>(random.below(3))};
    const Verdict verdict = kernel.delivery.decide(header);
    if (verdict.outcome == Outcome::drop) return;
    expected.push_back(verdict.message);
    kernel.delivery.complete(verdict, header);
  }
  void leave(ArrivedMessage* message) {
    expected.remove(message);
    if (random.percent(50)) block.unlink(*message);
    block.release(*message);
  }
  Criteria any_criteria(std::size_t masks) {
    Criteria criteria;
    criteria.match_bits = random.below(4) | random.below(4) << 8;
    // Few masks, as in practice, or more than are indexed at a time.
    constexpr std::array<MatchBits, 4> kFew = {0, 0xff, 0xff00, ~MatchBits{0}};
    criteria.ignore_bits = masks <= 4 ? kFew[random.below(masks)] : random.below(masks) << 16;
    if (random.percent(50)) criteria.source_group = static_cast<GroupId>(random.below(2));
    if (random.percent(50)) criteria.source_rank = static_cast<Rank>(random.below(3));
    return criteria;
  }
  void search(std::size_t masks) {
    const Criteria criteria = any_criteria(masks);
    const auto found = std::find_if(expected.begin(), expected.end(),
                                    [&](const ArrivedMessage* message) { return criteria.accepts(message->header); });
    ArrivedMessage* const answer = block.find(criteria);
    REQUIRE(answer == (found == expected.end() ? nullptr : *found));
    if (answer != nullptr && random.percent(70)) leave(answer);
  }
  void check_order() {
    const ArrivedMessage* message = block.first();
    for (const ArrivedMessage* wanted : expected) {
      REQUIRE(message == wanted);
      const ArrivedMessage* const next = block.next(*message);
      if (next != nullptr) REQUIRE(message->arrival < next->arrival);
      message = next;
    }
    REQUIRE(message == nullptr);
    REQUIRE(block.queued() == expected.size());
  }

  Random random;
  Memory memory{1 << 18};
  DynamicBlock block{memory.buffer()};
  Kernel kernel;
  std::list<ArrivedMessage*> expected;
};

}  // namespace

TEST_CASE("find() returns the result of a search of the whole queue") {
  for (const std::uint64_t seed : margay::testing::Seeds(60 / kFewer + 1)) {
    CAPTURE(seed);
    Queue queue(seed);
    const std::size_t masks = seed % 4 == 0 ? 40 : 4;
    for (int round = 0; round < 3000; ++round) {
      // The queue grows and shrinks in turn, so that the index is made and dropped.
      const bool growing = (round / 300) % 2 == 0;
      const std::uint64_t what = queue.random.below(100);
      if (what < (growing ? 60U : 20U)) {
        queue.arrive();
      } else if (what < 90) {
        queue.search(masks);
      } else if (!queue.expected.empty()) {
        queue.leave(
            *std::next(queue.expected.begin(), static_cast<std::ptrdiff_t>(queue.random.below(queue.expected.size()))));
      }
    }
    queue.check_order();
    while (!queue.expected.empty()) queue.leave(queue.expected.front());
    REQUIRE(queue.block.used_bytes() == 0);
  }
}

TEST_CASE("the memory of the index is bounded by the longest queue, not by the number of arrivals") {
  std::vector<ArrivedNode> nodes(100);
  ArrivalQueue queue;
  for (ArrivedNode& node : nodes) queue.append(node);
  CHECK(queue.index().slots() == 0);
  REQUIRE(queue.find({.match_bits = 1}) == nullptr);
  CHECK(queue.index().slots() == 100);
  // One old message remains while many others are added and removed.
  for (std::size_t turn = 0; turn < 10000; ++turn) {
    ArrivedNode& node = nodes[1 + turn % 99];
    queue.remove(node);
    queue.append(node);
  }
  CHECK(queue.index().slots() == 100);
  CHECK(queue.find({}) == &nodes[0].message);
  for (ArrivedNode& node : nodes) queue.remove(node);
  CHECK(queue.index().slots() == 0);
  CHECK(queue.size() == 0);
}

TEST_CASE("messages taken in the order of arrival need no index, those taken from behind others do") {
  std::vector<ArrivedNode> nodes(100);
  ArrivalQueue queue;
  for (std::size_t at = 0; at < nodes.size(); ++at) {
    nodes[at].message.header.match_bits = at;
    queue.append(nodes[at]);
  }
  for (std::size_t at = 0; at < 40; ++at) {
    REQUIRE(queue.find({.match_bits = at}) == &nodes[at].message);
    queue.remove(nodes[at]);
  }
  CHECK(queue.find({.match_bits = 40 + ArrivalQueue::kShort - 1}) == &nodes[40 + ArrivalQueue::kShort - 1].message);
  CHECK(queue.index().slots() == 0);
  CHECK(queue.find({.match_bits = 40 + ArrivalQueue::kShort}) == &nodes[40 + ArrivalQueue::kShort].message);
  CHECK(queue.index().slots() == 60);
  for (std::size_t at = 40; at < nodes.size(); ++at) {
    CHECK(queue.find({.match_bits = at}) == &nodes[at].message);
    queue.remove(nodes[at]);
  }
}

TEST_CASE("find() works with criteria of more shapes than are indexed at a time") {
  std::vector<ArrivedNode> nodes(50);
  ArrivalQueue queue;
  for (std::size_t at = 0; at < nodes.size(); ++at) {
    nodes[at].message.header.match_bits = at;
    queue.append(nodes[at]);
  }
  for (int again = 0; again < 3; ++again) {
    for (std::uint64_t shape = 0; shape < 3 * ArrivalIndex::kShapes; ++shape) {
      CHECK(queue.find({.match_bits = 49, .ignore_bits = shape << 32}) == &nodes[49].message);
    }
  }
}

TEST_SUITE_END();

}  // namespace margay::portals::testing
