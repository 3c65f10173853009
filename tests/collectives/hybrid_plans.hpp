// Plans, placements and rows for tests of grids and hybrids.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "collectives/op/reducer.hpp"
#include "collectives/topology/grid.hpp"

namespace margay::collectives {

// All lists of up to four lengths above 1 whose product is `ranks`, in every order; one rank: one length.
inline std::vector<std::vector<int>> ordered_cuts(int ranks, std::size_t most = HybridPlan::kMaxDimensions) {
  std::vector<std::vector<int>> cuts{{ranks}};
  for (int first = 2; most > 1 && first <= ranks / 2; ++first) {
    if (ranks % first != 0) continue;
    for (std::vector<int> cut : ordered_cuts(ranks / first, most - 1)) {
      cut.insert(cut.begin(), first);
      cuts.push_back(cut);
    }
  }
  return cuts;
}

// All plans with these lists of lengths, with each of `ways` in each dimension.
inline std::vector<HybridPlan> plans_of(int ranks, const std::vector<Method>& ways) {
  std::vector<HybridPlan> plans;
  for (const std::vector<int>& cut : ordered_cuts(ranks)) {
    std::vector<HybridPlan> of_cut(1);
    for (std::size_t at = 0; at < cut.size(); ++at) {
      std::vector<HybridPlan> next;
      for (const HybridPlan& begun : of_cut) {
        for (const Method method : ways) {
          next.push_back(begun);
          next.back().dimensions[at] = {cut[at], method};
        }
      }
      of_cut = next;
    }
    plans.insert(plans.end(), of_cut.begin(), of_cut.end());
  }
  return plans;
}

inline std::string format_plan(const HybridPlan& plan) {
  std::string text;
  for (const HybridPlan::Dimension& each : plan.dimensions) {
    text += (text.empty() ? "" : "x") + std::to_string(each.length) + "slb"[static_cast<std::size_t>(each.method)];
  }
  return text;
}

// The node of each rank: all on one; equally many on each, in blocks or dealt out in turn; or at random.
inline std::vector<std::uint32_t> nodes_of(int ranks, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto size = static_cast<std::size_t>(ranks);
  std::size_t nodes = 1 + random() % size;
  while (size % nodes != 0) --nodes;
  std::vector<std::uint32_t> places(size, 0);
  const std::uint64_t sort = random() % 4;
  for (std::size_t rank = 0; rank < size && sort != 0; ++rank) {
    const std::size_t by[] = {rank / (size / nodes), rank % nodes, random() % nodes};
    places[rank] = static_cast<std::uint32_t>(by[sort - 1]);
  }
  return places;
}

using HybridRow = std::vector<std::uint64_t>;

template <typename Element>
inline std::byte* bytes_of_row(std::vector<Element>& row) {
  return reinterpret_cast<std::byte*>(row.data());
}

inline const Reducer& sum_of_words() {
  static const Reducer kSum(predefined_combine(MPI_SUM, MPI_UINT64_T));
  return kSum;
}

inline std::uint64_t word_at(int rank, std::size_t i) {
  return i * 7 + static_cast<std::uint64_t>(rank + 1) * 100'003;
}
inline HybridRow row_of_rank(int rank, std::size_t count) {
  HybridRow row(count);
  for (std::size_t i = 0; i < count; ++i) row[i] = word_at(rank, i);
  return row;
}

}  // namespace margay::collectives
