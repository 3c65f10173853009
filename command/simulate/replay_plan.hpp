// The plan of a replay, made from the trace of a run: each rank's computations, and the messages that it sends and
// awaits.
//
// The trace has the order of a rank's steps, but not the requests for which its calls wait. A message is awaited at the
// first place where the trace shows that the rank needs it:
//   - a message to a receive: when the receive is complete, or a probe has found it;
//   - a message of a collective call: as soon as it has arrived and the rank takes part in the call;
//   - other headers (gets, replies, acknowledgments, windows): when they have arrived.
// Calls that return at once (MPI_Isend) await nothing, and MPI_Send, MPI_Bsend, MPI_Ssend and MPI_Rsend await no
// messages of receives. A later call awaits them.
#pragma once

#include <cstdint>
#include <string>

#include "command/simulate/replay_model.hpp"
#include "command/trace/read/reader.hpp"
#include "portals/base/status.hpp"

namespace margay::command {

struct RecordedRun {
  ReplayPlan plan;
  // Its computations are in virtual time.
  bool is_virtual = false;
  // From its first event to its last one.
  std::uint64_t elapsed_ns = 0;
  // Calls of a rank whose recorded run exchanged data by memory of a node, without messages. Collective calls are
  // replayed by replay_shared; accesses of windows take no time.
  std::uint64_t shared_calls = 0;
  std::uint64_t direct_accesses = 0;
};

// Makes the plan; an event's number is its index in `trace.entries`. Error: a rank's file is absent or has lost events,
// there are no calls of MPI or calls of several threads, or the sending of a message is not recorded. The message names
// the cure. `folder`: for messages.
[[nodiscard]] portals::Status make_replay_plan(const Trace& trace, const std::string& folder, RecordedRun& out);

}  // namespace margay::command
