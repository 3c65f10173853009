// The identity of a process among all jobs: its job's identity and its place there. A process of another job is a guest:
// this job has given it one of its own empty places, by which all processes of this job address it (docs/dynamic.md).
#pragma once

#include <compare>
#include <cstdint>

namespace margay::sim {

// Ordered; the lower of two endpoints is the same one in both jobs.
struct Endpoint {
  // Job::job_id.
  std::uint64_t job = 0;
  // Job::rank.
  std::uint32_t place = 0;
  friend auto operator<=>(const Endpoint&, const Endpoint&) = default;
};

}  // namespace margay::sim
