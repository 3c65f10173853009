// Tests of the arithmetic of grids and graphs; MPI_Dims_create is compared with an exhaustive search.
#include "mpi_adi/object/topology.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <climits>
#include <functional>
#include <numeric>

namespace margay::mpi_adi {

namespace {

using Dims = std::vector<int>;

// The closest factors by exhaustive search; among equals the first in the order that balance_dims documents.
Dims slow_balance(int nodes, std::size_t count) {
  Dims best, now;
  const std::function<void(int, int)> sub_rank = [&](int rest, int limit) {
    if (now.size() == count) {
      if (rest != 1) return;
      const auto key = [](const Dims& d) { return std::pair(d.front() - d.back(), -d.back()); };
      if (best.empty() || key(now) < key(best) || (key(now) == key(best) && now < best)) best = now;
      return;
    }
    for (int factor = 1; factor <= limit && factor <= rest; ++factor) {
      if (rest % factor != 0) continue;
      now.push_back(factor);
      sub_rank(rest / factor, factor);
      now.pop_back();
    }
  };
  sub_rank(nodes, nodes);
  return best;
}

Dims balanced(int nodes, Dims dims) {
  REQUIRE(balance_dims(nodes, dims));
  return dims;
}

}  // namespace

TEST_CASE("dimensions are as close to each other as possible, greatest first") {
  for (std::size_t count = 1; count <= 4; ++count) {
    for (int nodes = 1; nodes <= 400; ++nodes) {
      CAPTURE(nodes);
      CHECK(balanced(nodes, Dims(count, 0)) == slow_balance(nodes, count));
    }
  }
  // As in Debian's MPICH.
  CHECK(balanced(360, {0, 0, 0}) == Dims{10, 6, 6});
  CHECK(balanced(3696, {0, 0, 0}) == Dims{22, 14, 12});
  CHECK(balanced(2520, {0, 0, 0, 0}) == Dims{10, 7, 6, 6});
  CHECK(balanced(1 << 20, {0, 0, 0}) == Dims{128, 128, 64});
  CHECK(balanced(INT_MAX, {0, 0}) == Dims{INT_MAX, 1});
}

TEST_CASE("given dimensions are kept") {
  CHECK(balanced(12, {0, 3, 0}) == Dims{2, 3, 2});
  CHECK(balanced(6, {6, 0}) == Dims{6, 1});
  CHECK(balanced(6, {2, 3}) == Dims{2, 3});
  CHECK(balanced(6, {3, 1}) == Dims{3, 1});
  CHECK(balanced(6, {}) == Dims{});
  for (Dims dims : {Dims{4, 0}, Dims{2, 2}, Dims{7}}) {
    const Dims before = dims;
    CHECK(!balance_dims(6, dims));
    CHECK(dims == before);
  }
}

TEST_CASE("many dimensions take no time") {
  Dims dims(20, 0);
  CHECK(balance_dims(1 << 19, dims));
  CHECK(std::count(dims.begin(), dims.end(), 2) == 19);
  Dims more(16, 0);
  CHECK(balance_dims(1'396'755'360, more));
  CHECK(grid_size(more) == 1'396'755'360);
}

TEST_CASE("coordinates and ranks are each other's inverse, row by row") {
  const CartTopology cart{{3, 4, 2}, {0, 1, 0}};
  for (int rank = 0; rank < 24; ++rank) CHECK(cart.rank_of(cart.coords_of(rank)) == rank);
  CHECK(cart.coords_of(23) == Dims{2, 3, 1});
  CHECK(cart.coords_of(2) == Dims{0, 1, 0});
  CHECK(cart.rank_of(Dims{1, -1, 0}) == cart.rank_of(Dims{1, 3, 0}));
  CHECK(cart.rank_of(Dims{1, 9, 0}) == cart.rank_of(Dims{1, 1, 0}));
  CHECK(cart.rank_of(Dims{3, 0, 0}) == MPI_PROC_NULL);
  CHECK(cart.shifted(0, 0, 1) == 8);
  CHECK(cart.shifted(0, 0, -1) == MPI_PROC_NULL);
  CHECK(cart.shifted(0, 1, -1) == 6);
  CHECK(cart.shifted(0, 1, -std::int64_t{INT_MIN}) == 0);  // 2^31 is a multiple of 4
  CHECK(cart.shifted(0, 2, INT_MAX) == MPI_PROC_NULL);
}

TEST_CASE("a sub-grid has the remaining dimensions") {
  const CartTopology cart{{2, 3, 2}, {0, 1, 0}};
  const Dims remain{1, 0, 1};
  const CartTopology sub = cart.sub_grid(remain);
  CHECK(sub.dims == Dims{2, 2});
  CHECK(sub.periods == Dims{0, 0});
  for (int rank = 0; rank < 12; ++rank) {
    const auto sub_rank = cart.rank_in_sub_grid(rank, remain);
    const Dims at = cart.coords_of(rank);
    CHECK(sub_rank.color == at[1]);
    CHECK(sub.coords_of(sub_rank.key) == Dims{at[0], at[2]});
  }
  CHECK(cart.rank_in_sub_grid(7, Dims{0, 0, 0}).key == 0);
}

TEST_CASE("a graph returns a rank's neighbors") {
  const GraphTopology graph{{2, 3, 3, 4}, {1, 3, 0, 0}};
  CHECK(std::ranges::equal(graph.neighbors(0), Dims{1, 3}));
  CHECK(std::ranges::equal(graph.neighbors(1), Dims{0}));
  CHECK(graph.neighbors(2).empty());
  CHECK(std::ranges::equal(graph.neighbors(3), Dims{0}));
}

TEST_CASE("the size of a grid is the product of its dimensions") {
  CHECK(grid_size(Dims{}) == 1);
  CHECK(grid_size(Dims{4, 5}) == 20);
  CHECK(grid_size(Dims{4, 0}) == 0);
  CHECK(grid_size(Dims{65536, 65536}) == -1);
  CHECK(grid_size(Dims{-1, -1}) == -1);
}

}  // namespace margay::mpi_adi
