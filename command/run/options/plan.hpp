// Which rank is which program, on which node. Pure arithmetic.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "command/run/options/run_options.hpp"

namespace margay::command {

struct JobPlan {
  std::vector<std::uint32_t> program_of_rank;  // index into RunOptions::programs; also the appnum
  std::vector<std::uint32_t> node_of_rank;     // dense, from 0
  std::uint32_t node_count = 1;
  bool crowded = false;   // Job::crowded
  double processors = 0;  // Job::processors
  std::string rates;      // Job::rates
  bool rates_given = false;

  [[nodiscard]] std::uint32_t size() const { return static_cast<std::uint32_t>(program_of_rank.size()); }
  [[nodiscard]] std::vector<std::uint32_t> ranks_of_node() const;  // [node]: how many
};

// Ranks in blocks: the first (ranks mod nodes) nodes hold one more; or ranks_per_node each, cycling over the nodes.
// Requires: 1 <= nodes <= number of ranks.
[[nodiscard]] JobPlan make_plan(const RunOptions& options);

}  // namespace margay::command
