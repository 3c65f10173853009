// A monitor of the node's processes: it detects the end of a process under launchers that do not end the job then. One
// thread polls: the message coprocessor; after its end the owner.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/base/process_identity.hpp"

namespace margay::sim {

class ShmWire;

// Made for each process; used only after begin().
class PeerMonitor {
 public:
  // The time between two polls: four of them in the 2 s within which a loss is reported.
  static constexpr std::uint64_t kLookNs = 500'000'000;

  // Begins to monitor `processes` (by local rank). `wire` outlives this.
  void begin(ShmWire& wire, std::vector<ProcessIdentity> processes);
  // Whether begin() was called.
  [[nodiscard]] bool watching() const { return wire_ != nullptr; }
  // Polls all, unless the last poll is less than kLookNs old, and reports ended processes to the wire.
  void look(std::uint64_t now_ns);

 private:
  // Receives the reports; nullptr: begin() was not called.
  ShmWire* wire_ = nullptr;
  // pid 0: not monitored any more.
  std::vector<ProcessIdentity> processes_;
  // Time of the last poll.
  std::uint64_t looked_ns_ = 0;
};

}  // namespace margay::sim
