#include "collectives/topology/hybrid_plan.hpp"

#include <algorithm>

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
  return std::ranges::is_sorted(order.all()) &&
         std::ranges::none_of(order.all(), [&](std::uint8_t at) { return dimensions[at].way == Way::bucket; });
}

bool HybridPlan::reduce_scatters_in_order() const {
  const Order order = this->order();
  return std::ranges::all_of(order.all(), [&](std::uint8_t at) { return dimensions[at].way == Way::slices; });
}

}  // namespace margay::collectives
