#include "command/run/options/plan.hpp"

#include <algorithm>

#include "portals/base/assert.hpp"

namespace margay::command {

std::vector<std::uint32_t> JobPlan::ranks_of_node() const {
  std::vector<std::uint32_t> ranks(node_count, 0);
  for (std::uint32_t node : node_of_rank) ++ranks[node];
  return ranks;
}

// Numbers the ranks program by program, in the order of the command line, so that ranks of one appnum are contiguous.
JobPlan make_plan(const RunOptions& options) {
  JobPlan plan;
  for (std::uint32_t program = 0; program < options.programs.size(); ++program) {
    plan.program_of_rank.insert(plan.program_of_rank.end(), options.programs[program].ranks, program);
  }
  const std::uint32_t size = plan.size();
  const std::uint32_t nodes = options.nodes;
  // The parser has checked `nodes` against the number of ranks.
  MARGAY_ASSERT(nodes >= 1 && nodes <= std::max(size, 1U));
  const std::uint32_t least = size / nodes;
  const std::uint32_t with_one_more = size % nodes;
  for (std::uint32_t rank = 0; rank < size; ++rank) {
    // With one node all ranks are on it, whatever the value of -ppn.
    if (options.ranks_per_node > 0 && nodes > 1) {
      plan.node_of_rank.push_back(rank / options.ranks_per_node % nodes);
    } else if (rank < with_one_more * (least + 1)) {
      plan.node_of_rank.push_back(rank / (least + 1));
    } else {
      plan.node_of_rank.push_back((rank - with_one_more) / least);
    }
  }
  // -ppn may leave nodes empty; they do not count.
  plan.node_count = 1 + *std::max_element(plan.node_of_rank.begin(), plan.node_of_rank.end());
  return plan;
}

}  // namespace margay::command
