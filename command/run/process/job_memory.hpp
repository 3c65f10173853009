// The memory that a job shares: the board, and one segment for each node with more than one rank.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "command/run/options/plan.hpp"
#include "sim/boot/board.hpp"

namespace margay::command {

class JobMemory {
 public:
  JobMemory() = default;
  JobMemory(const JobMemory&) = delete;
  JobMemory& operator=(const JobMemory&) = delete;
  ~JobMemory();

  // Makes and fills everything. Error: one line with bytes and limit.
  [[nodiscard]] portals::Status create(const JobPlan& plan);
  // Makes the memory file to which ranks append what they find (sim/boot/findings).
  [[nodiscard]] portals::Status create_findings();

  [[nodiscard]] const sim::Board& board() const { return board_; }
  [[nodiscard]] int board_descriptor() const { return board_descriptor_; }
  [[nodiscard]] int segment_of_node(std::uint32_t node) const { return segments_[node]; }  // -1: one rank, none needed
  [[nodiscard]] int findings_descriptor() const { return findings_descriptor_; }           // -1: no report is asked for
  [[nodiscard]] const std::string& job_name() const { return job_name_; }

 private:
  sim::Board board_;
  int board_descriptor_ = -1;
  int findings_descriptor_ = -1;
  std::vector<int> segments_;
  std::string job_name_;  // hexadecimal
};

}  // namespace margay::command
