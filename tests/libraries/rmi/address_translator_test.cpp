#include "margay/rmi/stapl/address_translator.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

namespace {

using namespace margay::rmi;

TEST_CASE("parts cover all elements once, in the order of nodes, and differ by at most one element") {
  for (int nodes = 1; nodes <= 9; ++nodes) {
    for (std::size_t size = 0; size <= 30; ++size) {
      const address_translator parts(size, nodes);
      CAPTURE(nodes);
      CAPTURE(size);
      std::size_t next = 0, least = size, most = 0;
      for (int node = 0; node < nodes; ++node) {
        const subrange mine = parts.part_of(node);
        CHECK(mine.node == node);
        CHECK(mine.first == next);
        for (std::size_t offset = 0; offset < mine.count; ++offset) {
          const location at = parts.find(mine.first + offset);
          CHECK(at.node == node);
          CHECK(at.offset == offset);
        }
        next = mine.end();
        least = std::min(least, mine.count);
        most = std::max(most, mine.count);
      }
      CHECK(next == size);
      CHECK(most - least <= 1);
    }
  }
}

TEST_CASE("ranges are cut at the borders of parts") {
  // Parts: 0 to 2, 3 to 5, 6 and 7, 8 and 9.
  const address_translator parts(10, 4);
  struct Row {
    std::size_t first, count;
    std::vector<std::vector<std::size_t>> pieces;  // node, first, count
  };
  const Row rows[] = {
      {0, 10, {{0, 0, 3}, {1, 3, 3}, {2, 6, 2}, {3, 8, 2}}},
      {0, 0, {}},
      {10, 0, {}},
      {4, 1, {{1, 4, 1}}},
      {2, 5, {{0, 2, 1}, {1, 3, 3}, {2, 6, 1}}},
      {9, 1, {{3, 9, 1}}},
  };
  for (const Row& row : rows) {
    CAPTURE(row.first);
    CAPTURE(row.count);
    std::vector<std::vector<std::size_t>> pieces;
    parts.for_each_part(row.first, row.count, [&](const subrange& piece) {
      pieces.push_back({static_cast<std::size_t>(piece.node), piece.first, piece.count});
    });
    CHECK(pieces == row.pieces);
    // The same by node; the other nodes have none.
    std::size_t sum = 0;
    for (int node = 0; node < 4; ++node) {
      const subrange mine = parts.part_of(node, row.first, row.count);
      CHECK(mine.first >= parts.part_of(node).first);
      CHECK(mine.end() <= parts.part_of(node).end());
      sum += mine.count;
    }
    CHECK(sum == row.count);
  }
}

}  // namespace
