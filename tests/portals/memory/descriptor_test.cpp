#include "portals/memory/descriptor.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <deque>
#include <memory>
#include <vector>

#include "tests/portals/portals_fixture.hpp"
#include "tests/portals/random.hpp"

namespace margay::portals::testing {

TEST_SUITE_BEGIN("portals/memory/descriptor");

TEST_CASE("the changed list returns each descriptor once, the oldest change first") {
  ChangedList changed;
  SingleBlock a({nullptr, 0});
  SingleBlock b({nullptr, 0});
  changed.add(a);
  changed.add(b);
  changed.add(a);
  CHECK_FALSE(changed.empty());
  CHECK(changed.take() == &a);
  changed.add(a);
  CHECK(changed.take() == &b);
  CHECK(changed.take() == &a);
  CHECK(changed.take() == nullptr);
  CHECK(changed.empty());
}

TEST_CASE("a destroyed descriptor leaves the changed list") {
  ChangedList changed;
  SingleBlock first({nullptr, 0});
  SingleBlock last({nullptr, 0});
  {
    SingleBlock middle({nullptr, 0});
    changed.add(first);
    changed.add(middle);
    changed.add(last);
  }
  CHECK(changed.take() == &first);
  CHECK(changed.take() == &last);
  CHECK(changed.empty());
  {
    SingleBlock only({nullptr, 0});
    changed.add(only);
  }
  CHECK(changed.empty());
}

TEST_CASE("a destroyed changed list releases its descriptors for another list") {
  SingleBlock block({nullptr, 0});
  {
    ChangedList changed;
    changed.add(block);
  }
  ChangedList other;
  other.add(block);
  CHECK(other.take() == &block);
}

TEST_CASE("remove takes listed descriptors off, and affects no others") {
  ChangedList changed;
  ChangedList other;
  SingleBlock a({nullptr, 0});
  SingleBlock b({nullptr, 0});
  changed.remove(a);
  changed.add(a);
  changed.add(b);
  other.remove(a);
  changed.remove(a);
  changed.remove(a);
  CHECK(changed.take() == &b);
  CHECK(changed.take() == nullptr);
}

TEST_CASE("the owner's mark is kept and not interpreted") {
  SingleBlock block({nullptr, 0});
  int owner = 0;
  block.set_owner_tag(&owner, 42);
  CHECK(block.owner() == &owner);
  CHECK(block.owner_tag_kind() == 42);
}

TEST_CASE("the changed list agrees with a plain queue") {
  Random random(7);
  std::vector<std::unique_ptr<SingleBlock>> blocks;
  for (int at = 0; at < 10; ++at) blocks.push_back(std::make_unique<SingleBlock>(Buffer{}));
  ChangedList changed;
  std::deque<Descriptor*> expected;
  for (std::uint64_t at = 0; at < 50000 / kFewer; ++at) {
    auto& block = random.pick(blocks);
    const auto place = std::find(expected.begin(), expected.end(), block.get());
    switch (random.below(4)) {
      case 0:
      case 1:
        changed.add(*block);
        if (place == expected.end()) expected.push_back(block.get());
        break;
      case 2:
        if (place != expected.end()) expected.erase(place);
        if (random.percent(50)) {
          changed.remove(*block);
        } else {
          block = std::make_unique<SingleBlock>(Buffer{});
        }
        break;
      default:
        REQUIRE(changed.take() == (expected.empty() ? nullptr : expected.front()));
        if (!expected.empty()) expected.pop_front();
    }
  }
}

TEST_SUITE_END();

}  // namespace margay::portals::testing
