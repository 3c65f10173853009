// Tests of the reduction along the spanning tree: a non-commutative operation is combined in the order of ranks, for
// any root.
#include <vector>

#include <doctest/doctest.h>

#include "collectives/algorithm/algorithms.hpp"
#include "tests/collectives/collective_world.hpp"
#include "tests/collectives/operands.hpp"
#include "tests/support/seeds.hpp"

namespace margay::collectives {

TEST_CASE("a reduction along the tree keeps the order of ranks, to any root, of any length") {
  for (const int size : {1, 2, 3, 5, 8, 13}) {
    for (const std::uint64_t seed : testing::Seeds(3)) {
      for (int root = 0; root < size; ++root) {
        CAPTURE(size);
        CAPTURE(root);
        CAPTURE(seed);
        const std::size_t count = seed % 3 == 0 ? 2000 : 3;
        CollectiveWorld world({.ranks = size, .seed = seed});
        CHECK(world.run([&](int rank) {
          std::vector<Map> mine = maps_of(rank, count);
          const int error_class = world.call(rank, [&](Collective& collective) {
            return reduce_tree(
                collective, root,
                {reinterpret_cast<std::byte*>(mine.data()), count, sizeof(Map), Reducer(&compose, false)});
          });
          if (rank == root) CHECK(mine == composed(size, count));
          CHECK(error_class == MPI_SUCCESS);
        }));
      }
    }
  }
}

}  // namespace margay::collectives
