// The plan of a job: the program and node of each rank. Pure arithmetic.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "command/run/options/run_options.hpp"

namespace margay::command {

// The assignment, with facts about the machine that all ranks get.
struct JobPlan {
  // Index into RunOptions::programs; also MPI's appnum.
  std::vector<std::uint32_t> program_of_rank;
  // Dense, from 0.
  std::vector<std::uint32_t> node_of_rank;
  // Nodes with at least one rank.
  std::uint32_t node_count = 1;
  // The next four fields become those of sim::Job with the same names; the launcher fills them in after make_plan().
  bool crowded = false;
  double processors = 0;
  std::string rates;
  bool rates_given = false;

  [[nodiscard]] std::uint32_t size() const { return static_cast<std::uint32_t>(program_of_rank.size()); }
  // Number of ranks, by node.
  [[nodiscard]] std::vector<std::uint32_t> ranks_of_node() const;
};

// Assigns ranks to nodes in blocks of ranks / nodes; each of the first (ranks mod nodes) nodes gets one rank more. With
// ranks_per_node and several nodes, each block has that number of ranks, and the blocks cycle over the nodes. Requires:
// 1 <= nodes <= number of ranks.
[[nodiscard]] JobPlan make_plan(const RunOptions& options);

}  // namespace margay::command
