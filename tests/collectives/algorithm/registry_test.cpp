// Tests of the registry of algorithms: the rows have the order of the enumeration, by which the first of equal costs is
// chosen, and each row states the calls that it can do.
#include <doctest/doctest.h>

#include <algorithm>

#include "collectives/algorithm/algorithms.hpp"
#include "collectives/algorithm/registry.hpp"
#include "collectives/portal/post.hpp"

namespace margay::collectives {

extern const Row<BarrierCall> barrier_by_posting, barrier_by_shared_barrier;
extern const Row<AllreduceCall> allreduce_by_posting, allreduce_by_shared_barrier, allreduce_by_strips;
extern const Row<BcastCall> bcast_by_posting, bcast_by_strips;
extern const Row<ScatterCall> scatter_by_posting, scatter_by_reading;
extern const Row<AlltoallCall> alltoall_by_reading, alltoall_by_posting, alltoall_by_strips;
extern const Row<ScanCall> scan_by_posting, scan_by_shared_barrier;

namespace {

template <typename Call>
void check_rows(Operation operation) {
  CAPTURE(name(operation));
  const auto listed = rows<Call>();
  CHECK(std::ranges::is_sorted(listed, std::ranges::less(), &Row<Call>::algorithm));
  const Facts nothing;
  for (std::size_t at = 0; at < kAlgorithmCount; ++at) {
    const auto algorithm = static_cast<Algorithm>(at);
    const auto count = std::ranges::count(listed, algorithm, &Row<Call>::algorithm);
    CHECK(does(algorithm, operation) == (count != 0));
    if (algorithm != Algorithm::shared) CHECK(count <= 1);
    // Without shared memory no row that needs it can do a call, so the last row is taken.
    const auto first = std::ranges::find(listed, algorithm, &Row<Call>::algorithm);
    if (count != 0) CHECK(&row_of<Call>(algorithm, {operation, 8, nothing}) == first[count - 1]);
  }
}

TEST_CASE("registry: the rows of each operation are in the order of the enumeration") {
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
  check_rows<AlltoallCall>(Operation::alltoall);
  for (std::size_t at = 0; at < kAlgorithmCount; ++at) {
    CHECK_FALSE(does(static_cast<Algorithm>(at), Operation::neighbor_alltoall));
    CHECK_FALSE(can(static_cast<Algorithm>(at), Operation::neighbor_alltoall, 8, Facts{}));
  }
}

// A few ranks with a processor each use postings for barriers and similar calls, and shared-memory barriers for scans;
// a crowd does the reverse. Data longer than a part goes strip by strip. Roots post up to kPostedBytes in all.
TEST_CASE("registry: length and crowding determine the algorithm in shared memory") {
  Facts few;
  few.ranks = 3;
  few.shared = few.strips = few.reads = true;
  Facts crowd = few;
  crowd.crowded = true;
  const auto algorithm_of = []<typename Call>(const Call& /*call*/, std::uint64_t bytes, const Facts& facts) {
    return &row_of<Call>(Algorithm::shared, {Call().operation(), bytes, facts});
  };
  CHECK(algorithm_of(BarrierCall(), 0, few) == &barrier_by_posting);
  CHECK(algorithm_of(BarrierCall(), 0, crowd) == &barrier_by_shared_barrier);
  CHECK(algorithm_of(AllreduceCall(), kPostedBytes, few) == &allreduce_by_posting);
  CHECK(algorithm_of(AllreduceCall(), kPostedBytes + 1, few) == &allreduce_by_strips);
  CHECK(algorithm_of(AllreduceCall(), sim::kBarrierPartBytes, crowd) == &allreduce_by_shared_barrier);
  CHECK(algorithm_of(AllreduceCall(), sim::kBarrierPartBytes + 1, crowd) == &allreduce_by_strips);
  CHECK(algorithm_of(BcastCall(), kPostedBytes, crowd) == &bcast_by_posting);
  CHECK(algorithm_of(BcastCall(), kPostedBytes + 1, crowd) == &bcast_by_strips);
  CHECK(algorithm_of(ScatterCall(), kPostedBytes / 3, crowd) == &scatter_by_posting);
  CHECK(algorithm_of(ScatterCall(), kPostedBytes / 3 + 1, crowd) == &scatter_by_reading);
  CHECK(algorithm_of(AlltoallCall(), kPostedBytes / 3, few) == &alltoall_by_reading);
  CHECK(algorithm_of(AlltoallCall(), kReadInPlaceBytes, few) == &alltoall_by_posting);
  CHECK(algorithm_of(AlltoallCall(), kReadInPlaceBytes, crowd) == &alltoall_by_strips);
  CHECK(algorithm_of(ScanCall(), 8, few) == &scan_by_shared_barrier);
  CHECK(algorithm_of(ScanCall(), 8, crowd) == &scan_by_posting);
}

TEST_CASE("registry: each algorithm states the calls that it can do") {
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
           Expected{Algorithm::shared, Operation::bcast, 8, 3, 1, false, false},  // no shared memory
           Expected{Algorithm::chain, Operation::bcast, 8, 3, 1, false, false},
           Expected{Algorithm::chain, Operation::bcast, kLong, 3, 1, false, true},
           Expected{Algorithm::chain, Operation::reduce, kLong, 3, 1, false, false},  // no row for it
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
