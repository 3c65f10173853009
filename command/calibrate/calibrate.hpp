// `margay calibrate`: what collectives cost on this machine, measured in a few seconds and kept in a file.
#pragma once

#include <string>
#include <vector>

#include "portals/base/status.hpp"
#include "sim/boot/measured_rates.hpp"

namespace margay::command {

// Starts jobs of a few ranks, one after the other. Error: none can be started, with what to do. `remarks`: a sentence
// for each shape that could not be measured, whose rates are the usual ones. `disturbed`: a sentence, if others used
// the processors meanwhile so that the figures are not the machine's; empty else, and with MARGAY_CALIBRATE=anyway.
[[nodiscard]] portals::Status measure_machine(sim::MeasuredRates& out, std::vector<std::string>& remarks,
                                              std::string& disturbed);

// libexec/margay/measure beside the folder of the command that lies at `command`; empty: it is not there.
[[nodiscard]] std::string measuring_program(std::string command);

// `margay calibrate`: into a file, the installation's, or, both empty, the user's; `print`: into none.
struct CalibrateOrder {
  std::string file;
  bool installed = false;
  bool print = false;
};

// The command; its exit status.
[[nodiscard]] int calibrate(const CalibrateOrder& order);

}  // namespace margay::command
