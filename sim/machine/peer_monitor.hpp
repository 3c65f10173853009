// A monitor of the node's processes: it detects that a process has ended, under launchers that do not end the job when
// a process ends. The message coprocessor polls; after its end the owner does.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/base/process_identity.hpp"

namespace margay::sim {

class ShmWire;

// Part of each Process. Without begin(), look() has no effect.
class PeerMonitor {
 public:
  // The least time between two polls: a quarter of the 2 s within which a loss is reported.
  static constexpr std::uint64_t kLookNs = 500'000'000;

  // Begins to monitor `processes` (by local rank). `wire` outlives this.
  void begin(ShmWire& wire, std::vector<ProcessIdentity> processes);
  // Whether begin() was called.
  [[nodiscard]] bool watching() const { return wire_ != nullptr; }
  // Polls all processes, unless the last poll is less than kLookNs old, and reports each ended one to the wire, once.
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
