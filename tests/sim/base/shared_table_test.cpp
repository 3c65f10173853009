// Tests of a table with several owners.
#include "sim/base/peer_table.hpp"

#include <doctest/doctest.h>

#include <numeric>

namespace margay::sim {

TEST_CASE("shared table: a copy has the same memory, and outlives its original") {
  SharedTable copy;
  CHECK(copy.empty());
  CHECK(copy.numbers().empty());
  const std::uint32_t* memory = nullptr;
  {
    const SharedTable table = SharedTable::Numbers{5, 7, 9};
    memory = table.data();
    copy = table;
    CHECK(copy == table);
  }
  CHECK(copy.data() == memory);
  CHECK(copy.size() == 3);
  CHECK(copy[1] == 7);
  CHECK(copy.front() == 5);
  CHECK(std::accumulate(copy.begin(), copy.end(), 0U) == 21);
  CHECK(copy.numbers() == SharedTable::Numbers{5, 7, 9});
}

TEST_CASE("shared table: tables with equal contents are equal") {
  const SharedTable one{1, 2};
  CHECK(one == SharedTable{1, 2});
  CHECK_FALSE(one == SharedTable{1, 3});
  CHECK_FALSE(one == SharedTable{});
  CHECK(SharedTable{} == SharedTable(SharedTable::Numbers{}));
}

}  // namespace margay::sim
