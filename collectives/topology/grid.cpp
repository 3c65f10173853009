#include "collectives/topology/grid.hpp"

#include <algorithm>
#include <numeric>

#include "portals/base/assert.hpp"

namespace margay::collectives {

std::int64_t HybridPlan::ranks() const {
  std::int64_t ranks = 1;
  for (const Dimension& dimension : dimensions) ranks *= dimension.length;
  return ranks;
}

bool HybridPlan::any_long() const {
  return std::ranges::any_of(dimensions, [](const Dimension& each) { return each.length > 1 && each.is_long(); });
}

HybridPlan::Order HybridPlan::order() const {
  Order order;
  for (const bool is_long : {true, false}) {
    for (std::size_t at = 0; at < dimensions.size(); ++at) {
      if (dimensions[at].length == 1 || dimensions[at].is_long() != is_long) continue;
      order.dimensions[order.count++] = static_cast<std::uint8_t>(at);
    }
  }
  return order;
}

bool HybridPlan::combines_in_order() const {
  const Order order = this->order();
  // Sorted: no short dimension lies before a long one in the grid's order.
  return std::ranges::is_sorted(order.all()) &&
         std::ranges::none_of(order.all(), [&](std::uint8_t at) { return dimensions[at].method == Method::bucket; });
}

bool HybridPlan::reduce_scatters_in_order() const {
  const Order order = this->order();
  return std::ranges::all_of(order.all(), [&](std::uint8_t at) { return dimensions[at].method == Method::slices; });
}

Grid::Grid(const NodeGroups& groups, const HybridPlan& plan) : groups_(groups), lengths_() {
  MARGAY_ASSERT(plan.ranks() == static_cast<std::int64_t>(groups.by_node().size()));
  for (std::size_t at = 0; at < kDimensions; ++at) lengths_[at] = plan.dimensions[at].length;
  // The lines are computed once: line() only refers to them.
  mine_ = position_of(groups.rank());
  for (std::size_t at = 0; at < kDimensions; ++at) {
    Position position = mine_;
    for (position[at] = 0; position[at] < lengths_[at]; ++position[at]) lines_[at].push_back(rank_at(position));
  }
}

Grid::Position Grid::position_of(int rank) const {
  int left = groups_.index_by_node(rank);
  Position position;
  for (std::size_t at = 0; at < kDimensions; ++at) {
    position[at] = left % lengths_[at];
    left /= lengths_[at];
  }
  return position;
}

int Grid::rank_at(const Position& position) const {
  int in_row = 0;
  for (std::size_t at = kDimensions; at-- > 0;) in_row = in_row * lengths_[at] + position[at];
  return groups_.by_node()[static_cast<std::size_t>(in_row)];
}

std::vector<int> Grid::plane(Position position, std::span<const std::uint8_t> free) const {
  std::array<bool, kDimensions> counts{};
  for (const std::uint8_t dimension : free) {
    counts[dimension] = true;
    position[dimension] = 0;
  }
  std::vector<int> ranks;
  for (;;) {
    ranks.push_back(rank_at(position));
    // The next position: an odometer, the lowest free dimension first.
    std::size_t at = 0;
    while (at < kDimensions && (!counts[at] || position[at] + 1 == lengths_[at])) {
      if (counts[at]) position[at] = 0;
      ++at;
    }
    if (at == kDimensions) return ranks;
    ++position[at];
  }
}

namespace {

using Cuts = std::vector<std::vector<int>>;

// Finds the ascending lists of at most `most` factors whose product is `number` and of which each is at least `least`;
// adds them to `found`, behind the factors in `begun`.
void add_cuts(Cuts& found, std::vector<int>& begun, int number, int least, std::size_t most) {
  if (number >= least) {
    found.push_back(begun);
    found.back().push_back(number);
  }
  if (most == 1) return;
  // Only up to the square root: a larger first factor would leave a smaller second one.
  for (int factor = least; factor <= number / factor; ++factor) {
    if (number % factor != 0) continue;
    begun.push_back(factor);
    add_cuts(found, begun, number / factor, factor, most - 1);
    begun.pop_back();
  }
}

// All cuts of a node's ranks, or of the nodes. A single rank or node has one: the empty cut.
Cuts cuts_of(int number, std::size_t most) {
  if (number == 1) return {{}};
  Cuts found;
  std::vector<int> begun;
  add_cuts(found, begun, number, 2, most);
  return found;
}

}  // namespace

std::vector<std::vector<int>> grid_cuts(int on_node, int nodes) {
  constexpr std::size_t kMost = HybridPlan::kMaxDimensions;
  Cuts cuts;
  // Leaves a dimension for the nodes, if there are several.
  for (const std::vector<int>& inside : cuts_of(on_node, nodes == 1 ? kMost : kMost - 1)) {
    if (nodes == 1) {
      cuts.push_back(inside);
      continue;
    }
    for (const std::vector<int>& between : cuts_of(nodes, kMost - inside.size())) {
      cuts.push_back(inside);
      cuts.back().insert(cuts.back().end(), between.begin(), between.end());
    }
  }
  if (cuts.size() == 1 && cuts[0].empty()) return {};
  // Fewer dimensions first, then the more even ones: of lengths with equal product the smallest sum.
  const auto sum = [](const std::vector<int>& cut) { return std::accumulate(cut.begin(), cut.end(), std::int64_t{0}); };
  std::ranges::stable_sort(cuts, [&](const std::vector<int>& a, const std::vector<int>& b) {
    return a.size() != b.size() ? a.size() < b.size() : sum(a) < sum(b);
  });
  Cuts kept;
  for (std::size_t at = 0, of_size = 0; at < cuts.size(); ++at) {
    of_size = at > 0 && cuts[at].size() == cuts[at - 1].size() ? of_size + 1 : 0;
    // Each number of dimensions gets an equal share of kGridCuts.
    if (of_size < kGridCuts / kMost) kept.push_back(cuts[at]);
  }
  return kept;
}

}  // namespace margay::collectives
