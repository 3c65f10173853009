// The start of a simulated run: this process becomes the program, with the simulating libmpi.so.12 preloaded.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "command/simulate/replay.hpp"
#include "portals/base/status.hpp"
#include "virtual_machine/model/settings.hpp"

namespace margay::command {

// A run, as the command line describes it.
struct SimulateOrder {
  virtual_machine::Settings settings;
  // The values of --compute and --delay.
  std::string compute = "measured";
  std::string delay = "0ns";
  // The program and its arguments, and the program's path once it is found.
  std::vector<std::string> command;
  std::string program = {};
  // The run to replay in place of a program; nullptr: none.
  std::shared_ptr<const Recording> recording = nullptr;
  // The last changes of the settings that are values of --sweep; those before are of --set.
  std::size_t swept = 0;
};

// Checks an order, and completes it: paths become absolute, the program's is found, and the settings have the effect of
// their changes. Error: the message names the option; `exit_status` is that of the command.
[[nodiscard]] portals::Status check_order(SimulateOrder& order, int& exit_status);

// Replaces this process by the program of an order that has been checked. Creates its report first, as that of a run
// that has not ended. Returns only on an error.
[[nodiscard]] portals::Status start_program(const SimulateOrder& order, int& exit_status);

}  // namespace margay::command
