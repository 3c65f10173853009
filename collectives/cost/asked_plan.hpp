// A hybrid's plan as it is asked for (--collective allreduce=hybrid:2x4l): as text, and made into a whole one.
#pragma once

#include <array>
#include <optional>
#include <string_view>

#include "collectives/topology/hybrid_plan.hpp"
#include "portals/base/status.hpp"

namespace margay::collectives {

// What is not said is for the selector to decide.
struct AskedPlan {
  struct Dimension {
    int length = 0;  // 0: there is none
    std::optional<Way> way = {};
    bool operator==(const Dimension&) const = default;
  };
  std::array<Dimension, HybridPlan::kMaxDimensions> dimensions = {};

  [[nodiscard]] bool says_lengths() const { return dimensions[0].length != 0; }
  bool operator==(const AskedPlan&) const = default;
};

// "2x4": lengths, the fastest dimension first (topology/grid); each may have a letter behind it: s, short; l, long, by
// slices; b, long, round a bucket's ring. Anything else is an error, which says what it can be.
[[nodiscard]] portals::Status parse_plan(std::string_view text, AskedPlan& out);

// The plan of `ranks` ranks on `nodes` nodes, each of `on_node`: the lengths that were asked for, or a node's ranks and
// the nodes; long by slices where nothing else was asked for. nullopt: that many ranks have no such plan. `on_node` 0:
// nodes have different numbers of ranks, so only lengths that are asked for will do.
[[nodiscard]] std::optional<HybridPlan> complete_plan(const AskedPlan& asked, int ranks, int nodes, int on_node);

}  // namespace margay::collectives
