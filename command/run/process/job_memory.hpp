// The shared memory of a job: the board, and one segment for each node with more than one rank.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "command/run/options/plan.hpp"
#include "sim/boot/board.hpp"

namespace margay::command {

// Owns the descriptors. Ranks inherit them, so no name in the file system remains after a crash.
class JobMemory {
 public:
  JobMemory() = default;
  JobMemory(const JobMemory&) = delete;
  JobMemory& operator=(const JobMemory&) = delete;
  ~JobMemory();

  // Creates the board and the segments, and fills the board. Error: one line with the bytes and the limit.
  [[nodiscard]] portals::Status create(const JobPlan& plan);
  // Creates the memory file to which ranks append their findings (sim/boot/findings).
  [[nodiscard]] portals::Status create_findings();

  // All functions below require that create() has succeeded. Descriptors stay this object's; ranks inherit copies of
  // them.
  [[nodiscard]] const sim::Board& board() const { return board_; }
  [[nodiscard]] int board_descriptor() const { return board_descriptor_; }
  // -1: the node has one rank and needs none.
  [[nodiscard]] int segment_of_node(std::uint32_t node) const { return segments_[node]; }
  // -1: no report was requested.
  [[nodiscard]] int findings_descriptor() const { return findings_descriptor_; }
  [[nodiscard]] const std::string& job_name() const { return job_name_; }

 private:
  sim::Board board_;
  int board_descriptor_ = -1;
  int findings_descriptor_ = -1;
  std::vector<int> segments_;
  // Eight hexadecimal digits of the job's random number.
  std::string job_name_;
};

}  // namespace margay::command
