// Notices that a process of the node has ended, where no launcher ends the job then. One thread looks: the message
// coprocessor; after its end the owner.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/base/process_identity.hpp"

namespace margay::sim {

class ShmWire;

class PeerWatch {
 public:
  // Between two looks: four of them in the 2 s that a loss may take to be told.
  static constexpr std::uint64_t kLookNs = 500'000'000;

  // By local rank. Nobody is watched before. `wire` outlives the watch.
  void begin(ShmWire& wire, std::vector<ProcessIdentity> processes);
  [[nodiscard]] bool watching() const { return wire_ != nullptr; }
  // Looks at all, unless the last look is less than kLookNs old; the wire is told who has ended.
  void look(std::uint64_t now_ns);

 private:
  ShmWire* wire_ = nullptr;
  std::vector<ProcessIdentity> processes_;  // pid 0: not watched any more
  std::uint64_t looked_ns_ = 0;
};

}  // namespace margay::sim
