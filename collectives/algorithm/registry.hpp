// The registry of algorithms: which there are for an operation, whether one can do a call, what that takes, and how it
// is done.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "collectives/algorithm/row.hpp"
#include "portals/base/assert.hpp"

namespace margay::collectives {

// nullptr: the operation does not go by that algorithm.
[[nodiscard]] const Formula* find_formula(Algorithm algorithm, Operation operation);
[[nodiscard]] inline bool does(Algorithm algorithm, Operation operation) {
  return find_formula(algorithm, operation) != nullptr;
}
// Whether it can do this call.
[[nodiscard]] bool can(Algorithm algorithm, Operation operation, std::uint64_t bytes, const Facts& facts,
                       bool in_order = false);
// What that takes. Requires: it can. Of a hybrid the cheapest plan.
[[nodiscard]] Cost cost_of(Algorithm algorithm, Operation operation, std::uint64_t bytes, const Facts& facts,
                           bool in_order = false);

// Those of one kind of call (calls.hpp), in the order of the enumeration; of scans both kinds.
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
std::span<const Row<ReduceScatterCall>* const> rows<ReduceScatterCall>();
template <>
std::span<const Row<ScanCall>* const> rows<ScanCall>();

// The row of an algorithm, looked up by its number: each call does so. Requires: there is one.
template <typename Call>
[[nodiscard]] const Row<Call>& row_of(Algorithm algorithm) {
  static const std::array<const Row<Call>*, kAlgorithmCount> numbered = [] {
    std::array<const Row<Call>*, kAlgorithmCount> all{};
    for (const Row<Call>* const row : rows<Call>()) all[static_cast<std::size_t>(row->algorithm)] = row;
    return all;
  }();
  const Row<Call>* const found = numbered[static_cast<std::size_t>(algorithm)];
  MARGAY_ASSERT(found != nullptr);
  return *found;
}

}  // namespace margay::collectives
