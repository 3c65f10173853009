// The collective calls of the program, one for each rank that made the call, with the ranks' calls of one group joined.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "command/trace/names/names.hpp"
#include "command/trace/story/collectives.hpp"
#include "command/trace/story/messages.hpp"

namespace margay::command {

// The indices of a trace from which calls are made.
struct CollectiveInput {
  const Trace& trace;
  const TraceNames& names;
  const Messages& messages;
  const Collectives& collectives;
  // Requires: `at` is an entry of the trace.
  [[nodiscard]] const Trace::Entry& entry(std::size_t at) const { return trace.entries[at]; }
};

// A collective call of a rank, with one or several parts, such as the two of MPI_Finalize.
struct CollectiveCall {
  // Index in Collectives::parts() of its first part.
  std::size_t first = 0;
  // The collective_end of its last part, as an entry of the trace; CollectivePart::kNone: a part did not end.
  std::size_t end = CollectivePart::kNone;
  // "MPI_Bcast"; "persistent bcast" or "nonblocking bcast" for an operation that began inside another call.
  std::string name;
  // The algorithms of all parts, each once.
  std::vector<std::string_view> algorithms = {};
  // The largest amount of a part.
  std::uint64_t bytes = 0;
  // A number that the calls of all ranks share that belong together.
  std::size_t group = 0;
  // The rank is a member, but another rank of its own group is the root, so this rank has nothing to do.
  bool has_no_part = false;
};

// The index in collective_calls() of each part of Collectives::parts().
[[nodiscard]] std::vector<std::size_t> collective_call_of_parts(const CollectiveInput& input);
// All calls, in the order of their first parts. Cost: a pass over the trace, and one over the parts.
[[nodiscard]] std::vector<CollectiveCall> collective_calls(const CollectiveInput& input);

}  // namespace margay::command
