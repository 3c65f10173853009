// The trace of a replay: the events of the recorded run, with the times of the replay.
#pragma once

#include <string>

#include "command/simulate/replay_model.hpp"
#include "command/trace/read/reader.hpp"
#include "portals/base/status.hpp"
#include "virtual_machine/model/link_loads.hpp"
#include "virtual_machine/model/network_model.hpp"

namespace margay::command {

// Writes the files of all ranks, and the loads of the networks, into `folder`, which is made if it is absent. A rank's
// events are in the order of the replay: those about a message follow its arrival. `trace`: the recorded run, whose
// entries are the plan's events. Error: a file exists already, or cannot be written.
[[nodiscard]] portals::Status write_replay_trace(const Trace& trace, const ReplayPlan& plan, const ReplayResult& result,
                                                 const virtual_machine::NetworkModel& model,
                                                 const virtual_machine::LinkLoads& loads, const std::string& folder);

}  // namespace margay::command
