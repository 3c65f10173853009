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
  // Ranks of each process, which have successive numbers and are on one node.
  std::uint32_t process_ranks = 1;
  // Nodes with at least one rank.
  std::uint32_t node_count = 1;
  // The next four fields become those of sim::Job with the same names; the launcher fills them in after make_plan().
  bool crowded = false;
  double processors = 0;
  std::string rates;
  bool rates_given = false;
  // BoardHeader::ways.
  std::uint32_t ways = 1;

  [[nodiscard]] std::uint32_t size() const { return static_cast<std::uint32_t>(program_of_rank.size()); }
  // The first rank of a rank's process.
  [[nodiscard]] std::uint32_t first_of_process(std::uint32_t rank) const { return rank - rank % process_ranks; }
  // Number of ranks, by node.
  [[nodiscard]] std::vector<std::uint32_t> ranks_of_node() const;
};

// Assigns processes to nodes in blocks of processes / nodes; each of the first (processes mod nodes) nodes gets one
// process more. With processes_per_node and several nodes, each block has that number of processes, and the blocks
// cycle over the nodes. Requires: 1 <= nodes <= number of processes.
[[nodiscard]] JobPlan make_plan(const RunOptions& options);

}  // namespace margay::command
