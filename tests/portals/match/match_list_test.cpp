// Tests of match lists: "A match list is a linked list of match entries."
#include "portals/match/match_list.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <deque>
#include <list>
#include <vector>

#include "portals/match/match_list_impl.hpp"
#include "tests/portals/portals_fixture.hpp"
#include "tests/portals/random.hpp"

namespace margay::portals::testing {

TEST_SUITE_BEGIN("portals/match/match_list");

namespace {

std::vector<const MatchEntry*> chain_of(const MatchList& list) {
  std::vector<const MatchEntry*> chain;
  for (const MatchEntry* at = list.first(); at != nullptr; at = list.next(*at)) chain.push_back(at);
  return chain;
}

// Entries on one block that takes every message of no bytes, so that the first in order always takes it.
struct Lists {
  explicit Lists(std::size_t count) : entries(count) {
    for (MatchEntry& entry : entries) entry.set({}, block, {});
    REQUIRE(kernel.table.attach(kPortal, list).ok());
  }
  const MatchEntry* winner() { return kernel.delivery.decide(put(0, 0)).entry; }
  Kernel kernel;
  SingleBlock block{{nullptr, 0}};
  std::vector<MatchEntry> entries;
  MatchList list;
};

}  // namespace

TEST_CASE("entries are appended, inserted before others, and removed") {
  Lists lists(4);
  auto& e = lists.entries;
  lists.list.append(e[1]);
  lists.list.append(e[3]);
  lists.list.insert_before(e[1], e[0]);
  lists.list.insert_before(e[3], e[2]);
  CHECK(chain_of(lists.list) == std::vector<const MatchEntry*>{&e[0], &e[1], &e[2], &e[3]});
  CHECK(lists.list.size() == 4);
  CHECK(e[2].listed());
  lists.list.remove(e[0]);
  lists.list.remove(e[2]);
  lists.list.remove(e[3]);
  CHECK(chain_of(lists.list) == std::vector<const MatchEntry*>{&e[1]});
  CHECK_FALSE(e[2].listed());
  CHECK_FALSE(e[2].active());
  lists.list.remove(e[1]);
  CHECK(lists.list.first() == nullptr);
  CHECK(lists.list.size() == 0);
  lists.list.append(e[2]);
  CHECK(lists.winner() == &e[2]);
}

TEST_CASE("a destroyed list releases its entries: chained, adopted, indexed and exhausted ones") {
  std::vector<MatchEntry> entries(60);
  SingleBlock block({nullptr, 0});
  IndependentBlock empty({}, Progression::linear);
  {
    Kernel kernel;
    MatchList list;
    REQUIRE(kernel.table.attach(kPortal, list).ok());
    for (std::size_t at = 0; at < entries.size(); ++at) {
      entries[at].set({}, at % 2 == 0 ? static_cast<Descriptor&>(block) : empty, {});
      if (at % 7 == 0) {
        list.adopt(entries[at]);
      } else {
        list.append(entries[at], at % 5 == 0 ? MatchList::Start::inactive : MatchList::Start::active);
      }
    }
    CHECK(kernel.send(0, "").entry == &entries[2]);
  }
  for (const MatchEntry& entry : entries) CHECK_FALSE(entry.listed());
  MatchList other;
  for (MatchEntry& entry : entries) other.append(entry);
  CHECK(other.size() == 60);
}

TEST_CASE("entries start active or inactive, and may change") {
  for (const std::size_t count : {2U, 50U}) {
    Lists lists(count);
    for (MatchEntry& entry : lists.entries) lists.list.append(entry, MatchList::Start::inactive);
    CHECK(lists.winner() == nullptr);
    CHECK_FALSE(lists.entries[1].active());
    lists.list.activate(lists.entries[1]);
    lists.list.activate(lists.entries[1]);
    CHECK(lists.entries[1].active());
    CHECK(lists.winner() == &lists.entries[1]);
    lists.list.activate(lists.entries[0]);
    CHECK(lists.winner() == &lists.entries[0]);
    lists.list.deactivate(lists.entries[0]);
    lists.list.deactivate(lists.entries[0]);
    CHECK(lists.winner() == &lists.entries[1]);
  }
}

TEST_CASE("the earliest entry in list order takes the message, wherever entries were inserted") {
  // Positions that use up the gaps between order keys: always the same, two alternating, or at random.
  for (const unsigned how : {0U, 1U, 2U, 3U, 4U}) {
    CAPTURE(how);
    constexpr std::size_t kCount = 3000;
    Lists lists(kCount);
    Random random(how + 1);
    std::list<const MatchEntry*> expected;
    std::vector<MatchEntry*> listed;
    for (MatchEntry& entry : lists.entries) {
      MatchEntry* position = nullptr;
      if (!listed.empty()) {
        switch (how) {
          case 0:
            position = lists.list.first();
            break;
          case 1:
            position = listed.front();
            break;
          case 2:
            position = listed.back();
            break;
          case 3:
            position = listed[listed.size() > 1 ? listed.size() % 2 : 0];
            break;
          default:
            position = listed[random.below(listed.size())];
            break;
        }
      }
      if (position == nullptr) {
        lists.list.append(entry);
        expected.push_back(&entry);
      } else {
        lists.list.insert_before(*position, entry);
        // A linear search, because the model is simple: quadratic in kCount, which is small.
        expected.insert(std::find(expected.begin(), expected.end(), position), &entry);
      }
      listed.push_back(&entry);
    }
    CHECK(chain_of(lists.list) == std::vector<const MatchEntry*>(expected.begin(), expected.end()));
    // Removing the entry that takes the message, each time, yields the whole order.
    for (const MatchEntry* wanted : expected) {
      REQUIRE(lists.winner() == wanted);
      lists.list.remove(const_cast<MatchEntry&>(*wanted));
    }
  }
}

TEST_CASE("a new order key lies between its neighbours, or there is none") {
  CHECK(order_between(0, kOrderEnd, true) == kOrderEnd / 2);
  CHECK(order_between(5, 6, false) == 0);
  CHECK(order_between(5, 7, false) == 6);
  Random random(5);
  for (int at = 0; at < 100000; ++at) {
    const std::uint64_t before = random.next() >> (2 + random.below(62));
    const std::uint64_t after = before + 2 + (random.next() >> (3 + random.below(60)));
    if (after > kOrderEnd) continue;
    const std::uint64_t key = order_between(before, after, random.percent(50));
    REQUIRE(key > before);
    REQUIRE(key < after);
  }
}

TEST_CASE("entries with adjacent order keys remain distinct") {
  // The entries before the last find no room and link to the next; one by one they use up the keys before it. The last
  // entry's no-match link differs, so the index keeps it in a group of its own.
  Lists lists(100);
  Memory memory(8);
  SingleBlock roomy(memory.buffer());
  MatchEntry& last = lists.entries[99];
  last.set({}, roomy, {.offset_by = OffsetBy::sender}, {.no_match = Link::drop()});
  for (std::size_t at = 0; at < 40; ++at) lists.list.append(lists.entries[at]);
  lists.list.append(last);
  for (std::size_t at = 40; at < 99; ++at) {
    lists.list.insert_before(last, lists.entries[at]);
    REQUIRE(lists.kernel.delivery.decide(put(0, 1)).entry == &last);
  }
  lists.list.remove(last);
}

TEST_CASE("posting before a catch-all and removing from the front may continue without limit") {
  Lists lists(40);
  auto& e = lists.entries;
  MatchEntry& catch_all = e[39];
  lists.list.append(catch_all);
  for (std::size_t at = 0; at < 39; ++at) lists.list.insert_before(catch_all, e[at]);
  for (std::size_t turn = 0; turn < 200000 / kFewer; ++turn) {
    MatchEntry& entry = e[turn % 39];
    REQUIRE(lists.winner() == &entry);
    lists.list.remove(entry);
    lists.list.insert_before(catch_all, entry);
  }
}

TEST_CASE("overlay shares the storage under options of its own") {
  SingleBlock block({nullptr, 0});
  MatchEntry one({.match_bits = 1}, block, {});
  MatchEntry two;
  two.overlay(one, {.save = Save::header, .acknowledge = true});
  CHECK(two.memory() == &block);
  CHECK(two.options().save == Save::header);
  CHECK(two.options().acknowledge);
  CHECK(one.options().save == Save::both);
}

TEST_SUITE_END();

}  // namespace margay::portals::testing
