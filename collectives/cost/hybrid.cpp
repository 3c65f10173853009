#include "collectives/cost/parts.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "collectives/cost/counts.hpp"
#include "collectives/topology/crossings.hpp"
#include "collectives/topology/grid.hpp"
#include "portals/base/assert.hpp"

namespace margay::collectives {

namespace {

// A dimension of the plan, as cost functions need it. They handle the dimensions in HybridPlan::order().
struct Line {
  double members;
  double count;  // number of lines
  // The product of the lengths of the dimensions handled before this one. In a broadcast, the number of lines that have
  // a member with data.
  double before;
  Method method;
  bool far;  // some of its messages go between nodes
};

std::vector<Line> lines_of(const HybridPlan& plan, const Facts& facts) {
  std::array<double, HybridPlan::kMaxDimensions> strides;
  double stride = 1;
  for (std::size_t at = 0; at < plan.dimensions.size(); ++at) {
    strides[at] = stride;
    stride *= plan.dimensions[at].length;
  }
  std::vector<Line> lines;
  double before = 1;
  const HybridPlan::Order order = plan.order();
  for (const std::uint8_t at : order.all()) {
    const double length = plan.dimensions[at].length;
    // A line lies inside a node if its dimension, together with the faster ones, divides the node's ranks.
    const double reach = strides[at] * length;
    const bool inside = facts.nodes == 1 || (facts.even && std::fmod(facts.most_on_node, reach) == 0);
    lines.push_back({length, facts.ranks / length, before, plan.dimensions[at].method, !inside});
    before *= length;
  }
  return lines;
}

Group group_of(const Line& line) {
  return {line.members, line.count, line.far ? line.members * line.count * (line.members - 1) : 0};
}

Rings rings_of(const Line& line, double cut = 0) {
  return {line.members, line.count, line.far ? line.members * line.count - cut : 0, cut};
}

// The work of `count` lines with `bodies` bodies in each; a body has `bytes` bytes and takes `each` messages.
Cost on_lines(const Line& line, double count, double bodies, double bytes, double each) {
  Cost cost;
  const double all = count * bodies;
  add_sent(cost, {each * all, line.far ? each * all : 0}, {all * bytes, line.far ? all * bytes : 0});
  return cost;
}

// Adds `depth` dependent messages, their bytes, and `busy` further messages to the path.
void follow(Cost& cost, const Line& line, double depth, double bytes, double busy = 0) {
  add_path(cost, {depth, line.far ? depth : 0}, {bytes, line.far ? bytes : 0});
  (line.far ? cost.path.busy_between : cost.path.busy_inside) += busy;
}

// Rounds between partners that have 1, 2, 4, ... blocks of a line.
Cost rounds_along(const Line& line, double block, bool asks, bool combined) {
  Cost cost;
  for (int had = 1; had < static_cast<int>(line.members); had *= 2) {
    const double blocks = had;
    const double bytes = std::min(blocks, line.members - blocks) * block;
    const double each = messages_of(bytes, asks);
    cost = cost + on_lines(line, line.count, line.members, bytes, each);
    follow(cost, line, each, bytes * (line.far ? 1 : kBothWays));
  }
  if (!combined) return cost;
  cost.path.combined_bytes = (line.members - 1) * block;
  cost.all.combined_bytes = cost.path.combined_bytes * line.members * line.count;
  return cost;
}

// Each member combines its slice of the line's rows.
Cost combine_along(const Line& line, double slice, bool asks) {
  if (line.method == Method::slices) return combine_slices(group_of(line), slice);
  if (line.method == Method::bucket) return ring_round(rings_of(line), slice, true);
  return rounds_along(line, slice, asks, true);
}

// Each member's block goes to all others of its line. In `full` lines one member has all blocks from the start; a
// negative number of lines takes the messages that this member does not receive out of the work.
Cost collect_along(const Line& line, double block, bool asks, double full = 0) {
  if (line.method == Method::bucket) return ring_round(rings_of(line, full), block, false);
  if (line.method == Method::brief) return rounds_along(line, block, asks, false);
  Cost cost = all_to_all_in_groups(group_of(line), block, asks);
  const double spared = full * (line.members - 1);
  const Cost less = on_lines(line, -1, spared, block, messages_of(block, asks));
  cost.all = (cost + less).all;
  return cost;
}

// The trees of `count` lines.
Cost trees(const Line& line, double count, double bytes, double each, double depth) {
  const int members = static_cast<int>(line.members);
  Cost cost = on_lines(line, count, line.members - 1, bytes, each);
  follow(cost, line, depth, rounds_of(members) * bytes);
  return cost;
}

// The roots of `count` lines send a slice to each other member, or receive one from each.
Cost deal_along(const Line& line, double count, double slice, double depth) {
  Cost cost = on_lines(line, count, line.members - 1, slice, 2);
  follow(cost, line, depth, (line.members - 1) * slice, 2 * (line.members - 2));
  return cost;
}

Cost allreduce_plan(const std::vector<Line>& lines, double n, bool asks) {
  Cost down, up;
  for (const Line& line : lines) {
    if (line.method == Method::brief) {
      const int members = static_cast<int>(line.members);
      const double whole = std::exp2(tree_depth(members));
      const double messages = (2 * (line.members - whole) + whole * tree_depth(members)) * line.count;
      const Crossing between{line.far ? messages : 0, line.far ? tree_depth(members) : 0};
      down = down + doubling({members, line.count, between}, n, asks);
      continue;
    }
    n /= line.members;
    down = down + combine_along(line, n, true);
    up = up + collect_along(line, n, true);
  }
  return down + up;
}

// All receivers send their ready notices when the call begins, so only a notice in the first dimension delays the path.
Cost bcast_plan(const std::vector<Line>& lines, double n, bool asks) {
  Cost down, up;
  for (const Line& line : lines) {
    const double word = line.before == 1 && (asks || messages_of(n) > 1) ? 1 : 0;
    if (line.method == Method::brief) {
      const double each = messages_of(n, asks);
      down = down + trees(line, line.before, n, each, tree_depth(static_cast<int>(line.members)) + word);
      continue;
    }
    n /= line.members;
    down = down + deal_along(line, line.before, n, 1 + word);
    up = collect_along(line, n, true, line.before) + up;
  }
  return down + up;
}

// A rank that has sent its part up a tree is done, so later dimensions have fewer lines.
Cost reduce_plan(const std::vector<Line>& lines, double n, bool asks) {
  Cost down, up;
  double left = lines.front().members * lines.front().count;  // ranks that still have a part
  for (const Line& line : lines) {
    if (line.method != Method::brief) {
      n /= line.members;
      down = down + combine_along(line, n, true);
      continue;
    }
    const int members = static_cast<int>(line.members);
    const double each = messages_of(n, asks);
    left /= line.members;
    Cost in = trees(line, left, n, each, each > 1 ? tree_depth_with_notices(members) : tree_depth(members));
    in.path.combined_bytes = rounds_of(members) * n;
    in.all.combined_bytes = left * (line.members - 1) * n;
    down = down + in;
  }
  for (std::size_t at = lines.size(); at-- > 0;) {
    const Line& line = lines[at];
    if (line.method == Method::brief) continue;
    left /= line.members;
    up = up + deal_along(line, left, n, 2);
    n *= line.members;
  }
  return down + up;
}

Cost allgather_plan(const std::vector<Line>& lines, double block, bool asks) {
  Cost cost;
  for (std::size_t at = lines.size(); at-- > 0;) {
    cost = cost + collect_along(lines[at], block, asks);
    block *= lines[at].members;
  }
  return cost;
}

Cost reduce_scatter_plan(const std::vector<Line>& lines, double n, bool asks) {
  Cost cost;
  for (const Line& line : lines) {
    n /= line.members;
    cost = cost + combine_along(line, n, asks);
  }
  return cost;
}

}  // namespace

Cost cost_of_plan(const HybridPlan& plan, Operation operation, std::uint64_t bytes, const Facts& facts) {
  const std::vector<Line> lines = lines_of(plan, facts);
  const auto n = static_cast<double>(bytes);
  const bool asks = plan.any_long();
  // One rank: nothing to send.
  if (lines.empty()) return {};
  switch (operation) {
    case Operation::bcast:
      return bcast_plan(lines, n, asks);
    case Operation::reduce:
      return reduce_plan(lines, n, asks);
    case Operation::allgather:
      return allgather_plan(lines, n, asks);
    case Operation::reduce_scatter:
      return reduce_scatter_plan(lines, n, asks);
    default:
      return allreduce_plan(lines, n, asks);
  }
}

namespace {

// Adds the plans with every permitted combination of methods for the dimensions from `at` on.
void add_plans(std::vector<HybridPlan>& plans, const HybridPlan& begun, std::size_t at, const RequestedPlan& asked) {
  if (at == HybridPlan::kMaxDimensions || begun.dimensions[at].length == 1) {
    plans.push_back(begun);
    return;
  }
  for (const Method method : {Method::slices, Method::brief, Method::bucket}) {
    if (asked.dimensions[at].method.value_or(method) != method) continue;
    HybridPlan next = begun;
    next.dimensions[at].method = method;
    add_plans(plans, next, at + 1, asked);
  }
}

// Whether the plan combines in the order of ranks, as operations need that do not commute.
bool keeps_order(const HybridPlan& plan, Operation operation) {
  return operation == Operation::reduce_scatter ? plan.reduce_scatters_in_order() : plan.combines_in_order();
}

}  // namespace

std::vector<HybridPlan> hybrid_plans(Operation operation, const Facts& facts, bool in_order) {
  if (in_order && !facts.by_node) return {};
  const RequestedPlan& asked = facts.requested.plans[static_cast<std::size_t>(operation)];
  std::vector<HybridPlan> plans;
  if (asked.has_lengths()) {
    if (const auto whole = complete_plan(asked, facts.ranks, facts.nodes, facts.even ? facts.most_on_node : 0)) {
      add_plans(plans, *whole, 0, asked);
    }
  } else if (facts.even) {
    for (const std::vector<int>& cut : grid_cuts(facts.most_on_node, facts.nodes)) {
      HybridPlan plan;
      for (std::size_t at = 0; at < cut.size(); ++at) plan.dimensions[at].length = cut[at];
      add_plans(plans, plan, 0, asked);
    }
  }
  if (in_order) std::erase_if(plans, [&](const HybridPlan& plan) { return !keeps_order(plan, operation); });
  return plans;
}

// A hybrid needs data, because empty data cannot be cut.
bool can_hybrid(Operation operation, std::uint64_t bytes, const Facts& facts, bool in_order) {
  if (bytes == 0 || facts.ranks == 1 || (in_order && !facts.by_node)) return false;
  // Without requested lengths an even communicator always has the plan of slices, so no search is needed.
  const bool any = !facts.requested.plans[static_cast<std::size_t>(operation)].has_lengths();
  return any ? facts.even : !hybrid_plans(operation, facts, in_order).empty();
}

HybridPlan cheapest_plan(Operation operation, std::uint64_t bytes, const Facts& facts, bool in_order) {
  const std::vector<HybridPlan> plans = hybrid_plans(operation, facts, in_order);
  MARGAY_ASSERT(!plans.empty());
  const auto takes = [&](const HybridPlan& plan) {
    return seconds(cost_of_plan(plan, operation, bytes, facts), facts, facts.rates);
  };
  const HybridPlan* best = &plans.front();
  double of_best = takes(*best);
  for (const HybridPlan& plan : plans) {
    const double of_plan = takes(plan);
    if (of_plan >= of_best) continue;
    best = &plan;
    of_best = of_plan;
  }
  return *best;
}

}  // namespace margay::collectives
