// The memory that the ranks of one node share: a file without a name, zero at first, that cannot shrink while it is
// mapped.
//
// A memfd is preferred (sparse, not bounded by the size of /dev/shm, sealed against shrinking). Where it is refused, a
// file in /dev/shm is used, allocated in full so that no later access can raise SIGBUS, and unlinked at once. It may be
// smaller, because memory there is often scarce, and in a container counts as the processes' own.
#pragma once

#include <cstdint>
#include <string>

#include "portals/base/status.hpp"
#include "sim/base/resources.hpp"

namespace margay::sim {

// The parameters of create_segment().
struct SegmentRequest {
  // The fallback uses `allocated` if that is at most half of the free memory, so that others find some too.
  SegmentSizes sizes;
  // Shown in /proc/PID/maps only.
  const char* name = "margay";
  // The folder of the fallback's file.
  const char* directory = "/dev/shm";
  // Behaves as if the operating system had no memfd (for tests).
  bool refuse_memfd = false;
  // Stays open over exec.
  bool inheritable = true;
};

// Creates the memory. On success `descriptor` is open for reading and writing, and the caller's to close. The failure
// has the bytes requested, the bytes available, and the limit.
[[nodiscard]] portals::Status create_segment(const SegmentRequest& request, int& descriptor);
// The size of a created segment. Requires: the descriptor is open.
[[nodiscard]] std::uint64_t bytes_of_segment(int descriptor);
// For a segment that has only one possible size.
[[nodiscard]] constexpr SegmentSizes only_size(std::uint64_t bytes) {
  return {.sparse = bytes, .allocated = bytes, .least = bytes};
}

// The kind of a created segment, for explanations: "memfd" or "file in /dev/shm".
[[nodiscard]] std::string describe_segment(int descriptor);

}  // namespace margay::sim
