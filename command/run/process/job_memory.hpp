// The shared memory of a job: the board, and one segment for each node with more than one place.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "command/run/options/plan.hpp"
#include "sim/boot/board.hpp"
#include "sim/machine/mapping.hpp"
#include "sim/wire/shm/shm_layout.hpp"

namespace margay::command {

// Whether the memory of this plan costs only addresses where it is not touched, and fits the limits of this process:
// the system has memfds, their sizes are within the limit on file sizes, and addresses are not limited.
[[nodiscard]] bool costs_addresses_only(const JobPlan& plan);

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

  // Whether the channels of a place whose process has ended are at rest, so that another process may continue them.
  [[nodiscard]] bool is_at_rest(std::uint32_t place);
  // Clears what processes that had these places before have left there, and writes to the board that the places get
  // processes of a further world, the first one with rank 0 there. Requires: is_at_rest() of each place that had a
  // process. `is_awaited`: see BoardPlace.
  void begin_world(const std::vector<std::uint32_t>& places, std::uint32_t world, bool is_awaited);

  // All functions below require that create() has succeeded. Descriptors stay this object's; ranks inherit copies of
  // them.
  [[nodiscard]] const sim::Board& board() const { return board_; }
  [[nodiscard]] int board_descriptor() const { return board_descriptor_; }
  // -1: the node has one place and needs none.
  [[nodiscard]] int segment_of_node(std::uint32_t node) const { return segments_[node]; }
  // -1: no report was requested.
  [[nodiscard]] int findings_descriptor() const { return findings_descriptor_; }
  [[nodiscard]] const std::string& job_name() const { return job_name_; }

 private:
  // A node's segment as this process sees it, mapped at the first use; nullptr: it has none, or cannot be mapped.
  [[nodiscard]] const sim::ShmLayout* layout_of(std::uint32_t node);
  // The index of a place on its node.
  [[nodiscard]] std::uint32_t local_rank(std::uint32_t place) const;

  struct MappedNode {
    sim::Mapping memory;
    sim::ShmLayout layout;
  };

  sim::Board board_;
  int board_descriptor_ = -1;
  int findings_descriptor_ = -1;
  std::vector<int> segments_;
  std::map<std::uint32_t, MappedNode> mapped_;
  // Eight hexadecimal digits of the job's random number.
  std::string job_name_;
};

}  // namespace margay::command
