// The messages that a replay gives to collective calls in memory of a node, which have none: ranks of the replayed
// machine may be on several nodes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "collectives/cost/facts.hpp"
#include "command/simulate/replay_model.hpp"
#include "command/trace/names/names.hpp"
#include "command/trace/read/reader.hpp"

namespace margay::command {

// One collective call of these ranks, which are in the order of the communicator.
struct ReplayedCall {
  std::vector<std::uint32_t> members;
  collectives::Operation operation = collectives::Operation::barrier;
  // Index in `members`.
  std::uint32_t root = 0;
  // Of one rank's data, as in a collective_begin.
  std::uint64_t bytes = 0;
};

// Adds the call's messages to the plan, and a task for each member, in the order of the members: a binomial tree to the
// root, away from it, or both, as the operation needs; all-to-all sends each block straight to its receiver.
void add_call(const ReplayedCall& call, ReplayPlan& plan);

// All such calls of a trace.
class SharedCalls {
 public:
  // Adds the tasks of all calls to the plan, which must outlive this object. A call that a member has not ended is left
  // out. `trace` and `names` are used during construction only.
  SharedCalls(const Trace& trace, const TraceNames& names, ReplayPlan& plan);

  // Begins or ends the rank's task of the call that it begins or ends at entry `at`, a collective_begin or a
  // collective_end; no effect if the call has messages of its own.
  void put(std::uint32_t rank, std::size_t at);
  // The number of calls; that of each of its ranks counts.
  [[nodiscard]] std::uint64_t calls() const { return actions_.size() / 2; }

 private:
  ReplayPlan& plan_;
  // By entry.
  std::unordered_map<std::size_t, ReplayAction> actions_;
};

}  // namespace margay::command
