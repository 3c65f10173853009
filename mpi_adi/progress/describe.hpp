// Descriptions of a process's waits, as lines and as numbers, for reports of stalls. Both functions read the device's
// lists and change nothing. Under the process lock.
#pragma once

#include <cstdint>
#include <string>

#include "mpi_adi/device/parts.hpp"

namespace margay::mpi_adi {

// Appends at most `limit_lines` lines and the number of further lines: lost peers, heaps without room, receives, sends,
// tasks, unexpected messages.
void describe(const DeviceParts& parts, std::string& out, std::size_t limit_lines);

// The first wait of the process and its counts, for the job board. If a call waits in a probe, peer, tag and context
// are the probe's. Otherwise they are those of one incomplete send or receive. The launcher searches for cycles with
// these numbers (command/run/report/stall).
struct FirstWait {
  int peer = -1;  // rank in the world; -1: any, or none in particular
  int tag = -1;   // -1: any
  std::uint32_t context = 0;
  std::uint64_t posted_receives = 0;
  std::uint64_t unexpected_messages = 0;
  // If a call waits in a probe: the number of such probes. Otherwise the number of sends, receives and tasks that are
  // not complete.
  std::uint32_t requests = 0;
  std::uint32_t tasks = 0;   // non-blocking calls under way, which only messages can complete
  std::string communicator;  // of the first wait; empty: none
  // The first three unexpected messages that differ from the awaited message only in source, only in tag or only in
  // communicator, in words. The awaited message is that of the first probe, or else of the first receive.
  std::string near_misses;
  // The messages that lack room and are held on their wires: number, sender, length and portal. Empty: none.
  std::string held;
};
// Costs a pass over all requests and the heap: for reports only.
[[nodiscard]] FirstWait first_wait(const DeviceParts& parts);

}  // namespace margay::mpi_adi
