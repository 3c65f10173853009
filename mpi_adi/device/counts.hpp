// A device's counters: messages and bytes by protocol.
#pragma once

#include <cstdint>

namespace margay::mpi_adi {

// Counts since the device began, for the job's table and for tests. They never decrease. The sender counts a send: a
// long standard or synchronous message when its outcome (matched or pulled) is known, every other message at its start.
struct ProtocolCounts {
  struct Count {
    // Bytes of data; headers are not counted. A message of 0 bytes counts as a message.
    std::uint64_t messages = 0, bytes = 0;
  };
  // long_matched, synchronous_long: the target saved the body with the header. The names with `pulled`: the receiver
  // pulled the body later.
  Count short_, long_matched, long_pulled, synchronous_short, synchronous_long, synchronous_long_pulled, ready,
      buffered;
  std::uint64_t unexpected = 0;     // messages found in the heap
  std::uint64_t ready_dropped = 0;  // ready sends that found no posted receive here (receiver's count)
  std::uint64_t send_requests = 0;  // sends that needed a request: the wire had no room, or an answer is owed
};

}  // namespace margay::mpi_adi
