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
  // The node of each place. The first places are those of the ranks; the others have no process at first.
  std::vector<std::uint32_t> node_of_place;
  // The option that forbids empty places, and why; otherwise empty.
  std::string no_empty_places;

  [[nodiscard]] std::uint32_t size() const { return static_cast<std::uint32_t>(program_of_rank.size()); }
  // The first rank of a rank's process.
  [[nodiscard]] std::uint32_t first_of_process(std::uint32_t rank) const { return rank - rank % process_ranks; }
  [[nodiscard]] std::uint32_t places() const { return static_cast<std::uint32_t>(node_of_place.size()); }
  // Number of ranks, by node.
  [[nodiscard]] std::vector<std::uint32_t> ranks_of_node() const;
  // Number of places, by node.
  [[nodiscard]] std::vector<std::uint32_t> places_of_node() const;
};

// The number of places without --places: a few times the ranks, because an empty place costs addresses only. No node
// gets more than share memory.
[[nodiscard]] std::uint32_t usual_places(std::uint32_t ranks, std::uint32_t nodes);
// Gives the plan `places` places; the empty ones go to the nodes in turn. Requires: places >= size(), and the plan has
// no empty place yet.
void add_places(JobPlan& plan, std::uint32_t places);

// Assigns processes to nodes in blocks of processes / nodes; each of the first (processes mod nodes) nodes gets one
// process more. With processes_per_node and several nodes, each block has that number of processes, and the blocks
// cycle over the nodes. Requires: 1 <= nodes <= number of processes.
[[nodiscard]] JobPlan make_plan(const RunOptions& options);

}  // namespace margay::command
