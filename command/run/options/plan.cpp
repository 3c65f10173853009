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
  plan.process_ranks = options.threads;
  const std::uint32_t processes = plan.size() / options.threads;
  const std::uint32_t nodes = options.nodes;
  // The parser has checked `nodes` against the number of processes.
  MARGAY_ASSERT(nodes >= 1 && nodes <= std::max(processes, 1U));
  const std::uint32_t least = processes / nodes;
  const std::uint32_t with_one_more = processes % nodes;
  for (std::uint32_t process = 0; process < processes; ++process) {
    std::uint32_t node = 0;
    // With one node all processes are on it, whatever the value of -ppn.
    if (options.processes_per_node > 0 && nodes > 1) {
      node = process / options.processes_per_node % nodes;
    } else if (process < with_one_more * (least + 1)) {
      node = process / (least + 1);
    } else {
      node = (process - with_one_more) / least;
    }
    plan.node_of_rank.insert(plan.node_of_rank.end(), options.threads, node);
  }
  // -ppn may leave nodes empty; they do not count.
  plan.node_count = 1 + *std::max_element(plan.node_of_rank.begin(), plan.node_of_rank.end());
  return plan;
}

}  // namespace margay::command
