// The registry of algorithms: which algorithms an operation has, whether one can do a call, its cost, and its routine.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "collectives/algorithm/row.hpp"
#include "portals/base/assert.hpp"

namespace margay::collectives {

// Whether the operation has that algorithm at all, whatever the call.
[[nodiscard]] bool does(Algorithm algorithm, Operation operation);
// Whether the algorithm can do this call: its rows restrict the number of ranks, the length, the placement and the
// operation's order. `bytes`: as CallFacts::bytes. `in_order`: the operation does not commute.
[[nodiscard]] bool can(Algorithm algorithm, Operation operation, std::uint64_t bytes, const Facts& facts,
                       bool in_order = false);
// The cost of the call, in counts; seconds() (cost/counts) gives its time. Requires: can() returns true. For a hybrid,
// the cheapest plan's.
[[nodiscard]] Cost cost_of(Algorithm algorithm, Operation operation, std::uint64_t bytes, const Facts& facts,
                           bool in_order = false);

// The rows of one kind of call (calls.hpp), in the order of the enumeration; scans of both kinds share theirs. The
// tables are constants; the specializations are in registry.cpp.
template <typename Call>
[[nodiscard]] std::span<const Row<Call>* const> rows();
template <>
std::span<const Row<BarrierCall>* const> rows<BarrierCall>();
template <>
std::span<const Row<BcastCall>* const> rows<BcastCall>();
template <>
std::span<const Row<ReduceCall>* const> rows<ReduceCall>();
template <>
std::span<const Row<AllreduceCall>* const> rows<AllreduceCall>();
template <>
std::span<const Row<GatherCall>* const> rows<GatherCall>();
template <>
std::span<const Row<AllgatherCall>* const> rows<AllgatherCall>();
template <>
std::span<const Row<ScatterCall>* const> rows<ScatterCall>();
template <>
std::span<const Row<AlltoallCall>* const> rows<AlltoallCall>();
template <>
std::span<const Row<ReduceScatterCall>* const> rows<ReduceScatterCall>();
template <>
std::span<const Row<ScanCall>* const> rows<ScanCall>();

// The first row that can do the call, among all rows of one algorithm for one operation (`same`, at least one). The
// last row is not tested, because it takes the remaining calls. So there is a cost for each class of lengths
// (select/choose), even if the algorithm cannot do the length for which the class's cost is computed.
template <typename SomeRow>
[[nodiscard]] const SomeRow& first_applicable(std::span<const SomeRow* const> same, const CallFacts& call) {
  for (const SomeRow* const row : same.first(same.size() - 1)) {
    if (row->can(call)) return *row;
  }
  return *same.back();
}

// The row of `algorithm` that does a call. An array lookup by the algorithm's number, because it is on the path of each
// call. Requires: the operation has the algorithm.
template <typename Call>
[[nodiscard]] const Row<Call>& row_of(Algorithm algorithm, const CallFacts& call) {
  using Rows = std::span<const Row<Call>* const>;
  // Made once for each kind of call, by the first call. Rows of one algorithm are consecutive, so a span holds them.
  static const std::array<Rows, kAlgorithmCount> numbered = [] {
    std::array<Rows, kAlgorithmCount> by_number{};
    const Rows all = rows<Call>();
    for (std::size_t at = 0; at < all.size(); ++at) {
      Rows& same = by_number[static_cast<std::size_t>(all[at]->algorithm)];
      // Grows the span by this row.
      same = all.subspan(at - same.size(), same.size() + 1);
    }
    return by_number;
  }();
  const Rows same = numbered[static_cast<std::size_t>(algorithm)];
  // The choice only takes algorithms that the operation has (does()).
  MARGAY_ASSERT(!same.empty());
  // All members find the same row, because `call` is equal on all of them.
  return first_applicable(same, call);
}

}  // namespace margay::collectives
