// The memory that the ranks of one node share: a file without a name, zero at first.
//
// A memfd is preferred (sparse, not bounded by the size of /dev/shm, sealed against shrinking). Where a memfd is
// refused, a file in /dev/shm is used. It is allocated in full, so that no later access can raise SIGBUS, and unlinked
// at once. It may be smaller than the memfd, because /dev/shm is often small, and in a container its pages count as
// memory of the processes.
#pragma once

#include <cstdint>
#include <string>

#include "portals/base/status.hpp"
#include "sim/base/resources.hpp"

namespace margay::sim {

// The parameters of create_segment().
struct SegmentRequest {
  // A memfd has `sparse` bytes. The file has `allocated` if that is at most half of the free bytes in `directory`,
  // which other jobs and programs use too, and otherwise `least`.
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

// Creates the memory. On success `descriptor` is open for reading and writing, and the caller closes it. The failure
// names the bytes requested, and the limit on file sizes or the bytes available in `directory`.
[[nodiscard]] portals::Status create_segment(const SegmentRequest& request, int& descriptor);
// The size of a created segment. Requires: the descriptor is open.
[[nodiscard]] std::uint64_t bytes_of_segment(int descriptor);
// The sizes of a segment that has only one.
[[nodiscard]] constexpr SegmentSizes only_size(std::uint64_t bytes) {
  return {.sparse = bytes, .allocated = bytes, .least = bytes};
}

// The kind of a created segment, for explanations: "memfd", "file in /dev/shm", or "unknown" without /proc.
[[nodiscard]] std::string describe_segment(int descriptor);

}  // namespace margay::sim
