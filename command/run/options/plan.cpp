#include "command/run/options/plan.hpp"

#include <algorithm>

#include "portals/base/assert.hpp"
#include "sim/base/limits.hpp"
#include "sim/wire/shm/shm_layout.hpp"

namespace margay::command {

namespace {

std::vector<std::uint32_t> count_by_node(const std::vector<std::uint32_t>& node_of, std::uint32_t nodes) {
  std::vector<std::uint32_t> counts(nodes, 0);
  for (const std::uint32_t node : node_of) ++counts[node];
  return counts;
}

}  // namespace

std::vector<std::uint32_t> JobPlan::ranks_of_node() const {
  return count_by_node(node_of_rank, node_count);
}

std::vector<std::uint32_t> JobPlan::places_of_node() const {
  return count_by_node(node_of_place, node_count);
}

// Each place costs every process about 1 KiB for its side of the channels, so their number is bounded.
std::uint32_t usual_places(std::uint32_t ranks, std::uint32_t nodes) {
  constexpr std::uint32_t kTimes = 4;
  constexpr std::uint32_t kLeastEmpty = 8;
  constexpr std::uint32_t kMostEmpty = 64;
  const std::uint64_t wanted = ranks + std::clamp((kTimes - 1) * ranks, kLeastEmpty, kMostEmpty);
  // The ranks of a node may be one more than the average.
  const std::uint64_t most = std::uint64_t{sim::kShmRanksMax - 1} * nodes;
  return static_cast<std::uint32_t>(
      std::max<std::uint64_t>(ranks, std::min<std::uint64_t>({wanted, most, sim::kRanksMax})));
}

void add_places(JobPlan& plan, std::uint32_t places) {
  MARGAY_ASSERT(places >= plan.size() && plan.places() == plan.size());
  for (std::uint32_t place = plan.size(); place < places; ++place) {
    plan.node_of_place.push_back((place - plan.size()) % plan.node_count);
  }
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
  plan.node_of_place = plan.node_of_rank;
  return plan;
}

}  // namespace margay::command
