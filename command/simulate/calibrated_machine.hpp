// The machine `loopback` with the rates of this computer.
#pragma once

#include <string_view>
#include <vector>

#include "collectives/cost/rates.hpp"
#include "portals/base/status.hpp"
#include "virtual_machine/model/settings.hpp"

namespace margay::command {

// The preset that a calibration changes.
inline constexpr std::string_view kCalibratedMachine = "loopback";

// The fields of `loopback` for which virtual_machine::rates_of() gives these rates, to a nanosecond: start-up, busy
// part and byte of messages inside a node and between nodes.
[[nodiscard]] std::vector<virtual_machine::Change> fields_for(const collectives::Rates& rates);

// Sets `out` to the fields for the rates that `margay calibrate` has stored for this computer, or that MARGAY_RATES
// gives. It is empty if there are none. Error: MARGAY_RATES is invalid.
[[nodiscard]] portals::Status read_calibration(std::vector<virtual_machine::Change>& out);

}  // namespace margay::command
