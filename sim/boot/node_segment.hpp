// Memory shared by the ranks of one node: a file without a name, zero at first, that cannot shrink under those who map
// it.
//
// A memfd comes first (sparse, not bounded by the size of /dev/shm, sealed against shrinking). Where it is refused, a
// file in /dev/shm, allocated in full so that no later touch can raise SIGBUS, and unlinked at once.
#pragma once

#include <cstdint>
#include <string>

#include "portals/base/status.hpp"

namespace margay::sim {

struct SegmentRequest {
  std::uint64_t bytes = 0;
  const char* name = "margay";         // shown in /proc/PID/maps only
  const char* directory = "/dev/shm";  // of the fallback
  bool refuse_memfd = false;           // as if the kernel had no memfd (for tests)
  bool inheritable = true;             // stays open over exec
};

// On success `descriptor` is open for reading and writing and the caller's to close.
// Error: one line with the bytes asked, the bytes there, and the limit that refused.
[[nodiscard]] portals::Status create_segment(const SegmentRequest& request, int& descriptor);

// "memfd", or "file in DIR": what create_segment made, for explanations.
[[nodiscard]] std::string describe_segment(int descriptor);

}  // namespace margay::sim
