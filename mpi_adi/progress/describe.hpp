// Descriptions of a process's waits, as lines and as numbers, for reports of stalls. Both read the device's lists and
// change nothing; the process lock is held.
#pragma once

#include <cstdint>
#include <string>

#include "mpi_adi/device/parts.hpp"

namespace margay::mpi_adi {

// Appends at most `limit_lines` lines and the number of further ones: lost peers, heaps without room, receives, sends,
// tasks, unexpected messages.
void describe(const DeviceParts& parts, std::string& out, std::size_t limit_lines);

// The first wait of the process and its counts, for the job board. If a call waits in a probe, peer, tag and context
// are the probe's; otherwise those of one incomplete send or receive. With these numbers the launcher searches for
// cycles (command/run/report/stall).
struct FirstWait {
  int peer = -1;  // rank in the world; -1: any, or none in particular
  int tag = -1;   // -1: any
  std::uint32_t context = 0;
  std::uint64_t posted_receives = 0;
  std::uint64_t unexpected_messages = 0;
  // Sends, receives and tasks that are not complete; if a call waits in a probe, probes instead.
  std::uint32_t requests = 0;
  std::uint32_t tasks = 0;   // non-blocking calls under way, which only messages can complete
  std::string communicator;  // of the first wait; empty: none
  // Unexpected messages that differ from the first receive or probe only in source, tag or communicator: the first
  // three, in words.
  std::string near_misses;
};
// Costs a pass over all requests and the heap: for reports only.
[[nodiscard]] FirstWait first_wait(const DeviceParts& parts);

}  // namespace margay::mpi_adi
