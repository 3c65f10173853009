// The critical path of a run: the chain of work and messages that determined its duration.
// It is traced backward from the last event: within a rank to a wait that another rank ended, then to that rank at the
// time at which it sent, and so on to a rank's beginning. If no message ended a wait in a collective call, the rank
// that entered it last did. Only a rank's first thread counts. The page computes the same path
// (viewer/src/model/critical_path.js); tests/mpi/trace_diff.py compares the two.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "command/trace/export/timeline.hpp"
#include "command/trace/story/collective_calls.hpp"

namespace margay::command {

// Times on the path, in nanoseconds. They do not overlap.
struct PathParts {
  // Outside of calls.
  std::uint64_t computing = 0;
  // In calls, without waits.
  std::uint64_t calls = 0;
  // In waits that no other rank ended.
  std::uint64_t waiting = 0;
  // From the sending of a header until its receiver saw it.
  std::uint64_t wire = 0;
  [[nodiscard]] std::uint64_t sum() const { return computing + calls + waiting + wire; }
  friend bool operator==(const PathParts&, const PathParts&) = default;
};

// A part of the path. Together the stretches have no gap.
struct PathStretch {
  // The rank that worked; for a header in flight its sender.
  std::uint32_t rank = 0;
  // Times of the trace.
  std::uint64_t from_ns = 0;
  std::uint64_t to_ns = 0;
  PathParts parts;
};

struct CriticalPath {
  // By time.
  std::vector<PathStretch> stretches;
  PathParts totals;
  std::map<std::uint32_t, PathParts> by_rank;
  // By name of the program's call: time in it on the path, with its waits.
  std::map<std::string, std::uint64_t> by_call;
  // The ranks in the order in which the path passes them; two neighbours differ.
  [[nodiscard]] std::vector<std::uint32_t> ranks() const;
};

// Computes the path; it is empty if the trace has neither calls nor messages. Cost: a sort of the arrivals, then the
// waits of the passed ranks.
[[nodiscard]] CriticalPath critical_path(const CollectiveInput& input, const Timeline& timeline);

}  // namespace margay::command
