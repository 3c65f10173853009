// Tests of edges that another member sent, valid and invalid.
#include "collectives/comm/construct.hpp"

#include <doctest/doctest.h>

#include <limits>
#include <vector>

namespace margay::collectives {

TEST_CASE("edges from another member connect this one with an existing rank, or are rejected") {
  const auto fit = [](const std::vector<Edge>& edges) { return can_be_edges(edges, 1, 3); };
  CHECK(fit({}));
  CHECK(fit({{1, 2, 7}, {0, 1, -7}, {1, 1, 0}}));
  CHECK_FALSE(fit({{0, 2, 1}}));
  CHECK_FALSE(fit({{1, 3, 1}}));
  CHECK_FALSE(fit({{-1, 1, 1}}));
  CHECK_FALSE(fit({{1, 2, 1}, {std::numeric_limits<int>::min(), 1, 1}}));
}

}  // namespace margay::collectives
