// The identity of a process among all jobs: its job's identity, its place there, and the number of processes that had
// the place before. A process of another job is a guest: this job has given it one of its own empty places, by which
// all processes of this job address it (docs/dynamic.md).
#pragma once

#include <compare>
#include <cstdint>

#include "sim/base/limits.hpp"

namespace margay::sim {

// Ordered; the lower of two endpoints is the same one in both jobs.
struct Endpoint {
  // Job::job_id.
  std::uint64_t job = 0;
  // Job::rank in the lower 16 bits, Job::predecessors above them. A wire inside a job uses the rank alone.
  std::uint32_t place = 0;
  // NOLINTNEXTLINE(modernize-use-nullptr): clang-tidy 14 takes the literal 0 of a comparison for a pointer.
  friend auto operator<=>(const Endpoint&, const Endpoint&) = default;
};

// Endpoint::place, and the rank that it contains.
inline constexpr std::uint32_t kEndpointRanks = 1U << 16;
static_assert(kRanksMax <= kEndpointRanks);
[[nodiscard]] constexpr std::uint32_t endpoint_place(std::uint32_t rank, std::uint32_t predecessors) {
  return predecessors % kEndpointRanks * kEndpointRanks + rank;
}
[[nodiscard]] constexpr std::uint32_t rank_of_endpoint_place(std::uint32_t place) {
  return place % kEndpointRanks;
}

}  // namespace margay::sim
