// The registry of algorithms: rows in the order of the enumeration, of which choices with equal costs take the first;
// each row says what it can do, and what it cannot.
#include <doctest/doctest.h>

#include <algorithm>

#include "collectives/algorithm/registry.hpp"

namespace margay::collectives {
namespace {

template <typename Call>
void check_rows(Operation operation) {
  CAPTURE(name(operation));
  const auto listed = rows<Call>();
  CHECK(std::ranges::is_sorted(listed, std::ranges::less(), &Row<Call>::algorithm));
  CHECK(std::ranges::adjacent_find(listed, {}, &Row<Call>::algorithm) == listed.end());
  for (std::size_t at = 0; at < kAlgorithmCount; ++at) {
    const auto algorithm = static_cast<Algorithm>(at);
    const auto found = std::ranges::find(listed, algorithm, &Row<Call>::algorithm);
    CHECK(does(algorithm, operation) == (found != listed.end()));
    if (found == listed.end()) continue;
    CHECK(find_formula(algorithm, operation) == *found);
    CHECK(&row_of<Call>(algorithm) == *found);
  }
}

TEST_CASE("registry: rows of each operation, in the order of the enumeration") {
  check_rows<BarrierCall>(Operation::barrier);
  check_rows<BcastCall>(Operation::bcast);
  check_rows<ReduceCall>(Operation::reduce);
  check_rows<AllreduceCall>(Operation::allreduce);
  check_rows<GatherCall>(Operation::gather);
  check_rows<AllgatherCall>(Operation::allgather);
  check_rows<ScatterCall>(Operation::scatter);
  check_rows<ReduceScatterCall>(Operation::reduce_scatter);
  check_rows<ScanCall>(Operation::scan);
  check_rows<ScanCall>(Operation::exscan);
  CHECK(does(Algorithm::direct, Operation::alltoall));
  CHECK_FALSE(does(Algorithm::tree, Operation::alltoall));
  for (std::size_t at = 0; at < kAlgorithmCount; ++at) {
    CHECK_FALSE(does(static_cast<Algorithm>(at), Operation::neighbor_alltoall));
    CHECK_FALSE(can(static_cast<Algorithm>(at), Operation::neighbor_alltoall, 8, Facts{}));
  }
}

TEST_CASE("registry: what an algorithm can do") {
  struct Expected {
    Algorithm algorithm;
    Operation operation;
    std::uint64_t bytes;
    int ranks, nodes;
    bool in_order;
    bool can;
  };
  constexpr std::uint64_t kLong = kHandshakeBytes + 1;
  for (const Expected& row : {
           Expected{Algorithm::tree, Operation::barrier, 0, 3, 1, false, true},
           Expected{Algorithm::bucket, Operation::allreduce, 8, 3, 1, false, true},
           Expected{Algorithm::bucket, Operation::allreduce, 8, 3, 1, true, false},
           Expected{Algorithm::bucket, Operation::allreduce, 0, 3, 1, false, false},
           Expected{Algorithm::nodes, Operation::reduce, 8, 4, 2, true, false},
           Expected{Algorithm::nodes, Operation::reduce, 8, 4, 1, true, true},
           Expected{Algorithm::nodes, Operation::reduce, kLong, 4, 1, false, false},
           Expected{Algorithm::nodes, Operation::bcast, kLong, 4, 2, false, true},
           Expected{Algorithm::nodes, Operation::allgather, 8, 4, 2, false, false},
           Expected{Algorithm::exchange, Operation::allgather, kLong, 2, 1, false, true},
           Expected{Algorithm::exchange, Operation::allgather, 8, 3, 1, false, false},
           Expected{Algorithm::direct, Operation::gather, 0, 3, 1, false, true},
           Expected{Algorithm::direct, Operation::scatter, 0, 3, 1, false, false},
           Expected{Algorithm::direct, Operation::reduce, 8, 3, 1, true, true},
           Expected{Algorithm::chain, Operation::exscan, kLong, 3, 2, true, true},
           Expected{Algorithm::shared, Operation::bcast, 8, 3, 1, false, false},  // no memory in common
           Expected{Algorithm::chain, Operation::bcast, 8, 3, 1, false, false},   // no such row
       }) {
    Facts facts;
    facts.ranks = row.ranks;
    facts.nodes = row.nodes;
    CAPTURE(name(row.operation));
    CAPTURE(name(row.algorithm));
    CAPTURE(row.bytes);
    CHECK(can(row.algorithm, row.operation, row.bytes, facts, row.in_order) == row.can);
  }
}

}  // namespace
}  // namespace margay::collectives
