// Memory shared by the ranks of one node: a file without a name, zero at first, that cannot shrink under those who map
// it.
//
// A memfd comes first (sparse, not bounded by the size of /dev/shm, sealed against shrinking). Where it is refused, a
// file in /dev/shm, allocated in full so that no later touch can raise SIGBUS, and unlinked at once. It is smaller
// where less does: its memory is often little, and in a container counts as the processes' own.
#pragma once

#include <cstdint>
#include <string>

#include "portals/base/status.hpp"
#include "sim/base/resources.hpp"

namespace margay::sim {

struct SegmentRequest {
  SegmentSizes sizes;           // `allocated` if that is at most half of what is there, so that others find memory too
  const char* name = "margay";  // shown in /proc/PID/maps only
  const char* directory = "/dev/shm";  // of the fallback
  bool refuse_memfd = false;           // as if the kernel had no memfd (for tests)
  bool inheritable = true;             // stays open over exec
};

// On success `descriptor` is open for reading and writing and the caller's to close.
// Error: one line with the bytes asked, the bytes there, and the limit that refused.
[[nodiscard]] portals::Status create_segment(const SegmentRequest& request, int& descriptor);
// Of one that was made.
[[nodiscard]] std::uint64_t bytes_of_segment(int descriptor);
// Where the size is no choice.
[[nodiscard]] constexpr SegmentSizes only_size(std::uint64_t bytes) {
  return {.sparse = bytes, .allocated = bytes, .least = bytes};
}

// "memfd", or "file in DIR": what create_segment made, for explanations.
[[nodiscard]] std::string describe_segment(int descriptor);

}  // namespace margay::sim
