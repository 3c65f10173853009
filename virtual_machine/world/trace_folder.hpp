// The world's part in the trace of a run: the size of the ranks' rings, and the file of the network.
#pragma once

#include <cstdint>
#include <string>

#include "virtual_machine/model/link_loads.hpp"
#include "virtual_machine/model/network_model.hpp"

namespace margay::virtual_machine {

// The events of each rank's ring, unless the user chooses another number: as in a real run, or fewer if there are many
// ranks.
[[nodiscard]] std::uint64_t trace_events_for(std::uint32_t ranks);

// Writes network.json into the folder of a trace, if a rank has created the folder. Reports an error on standard error:
// the trace remains useful without this file.
void write_network_file(const std::string& folder, const NetworkModel& model, const LinkLoads& loads);

}  // namespace margay::virtual_machine
