// A monitor of the node's processes. It detects that a process has ended, under launchers that do not end the job in
// that case. The message coprocessor polls; after the coprocessor has stopped, the owner polls.
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

  // Begins to monitor `processes` (by local rank). `wire` outlives the monitor.
  void begin(ShmWire& wire, std::vector<ProcessIdentity> processes);
  // Whether begin() was called.
  [[nodiscard]] bool watching() const { return wire_ != nullptr; }
  // Unless the last poll is less than kLookNs old: polls all processes, and reports each one that has ended to the
  // wire, once.
  void look(std::uint64_t now_ns);

 private:
  // Receives the reports; nullptr: begin() was not called.
  ShmWire* wire_ = nullptr;
  // By local rank. pid 0: the process is not monitored any more.
  std::vector<ProcessIdentity> processes_;
  // Time of the last poll.
  std::uint64_t looked_ns_ = 0;
};

}  // namespace margay::sim
