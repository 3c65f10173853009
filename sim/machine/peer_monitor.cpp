#include "sim/machine/peer_monitor.hpp"

#include <utility>

#include "sim/wire/shm/shm_wire.hpp"

namespace margay::sim {

void PeerMonitor::begin(ShmWire& wire, std::vector<ProcessIdentity> processes) {
  wire_ = &wire;
  processes_ = std::move(processes);
}

void PeerMonitor::look(std::uint64_t now_ns) {
  if (!watching() || now_ns - looked_ns_ < kLookNs) return;
  looked_ns_ = now_ns;
  for (std::uint32_t local_rank = 0; local_rank < processes_.size(); ++local_rank) {
    if (!has_ended(processes_[local_rank])) continue;
    // Not monitored from here on, so that its end is reported once.
    processes_[local_rank] = {};
    wire_->process_ended(local_rank);
  }
}

}  // namespace margay::sim
