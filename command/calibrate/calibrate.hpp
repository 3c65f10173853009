// The command `margay calibrate`: measures the costs of collectives on this machine in a few seconds, and stores them
// in a file.
#pragma once

#include <string>
#include <vector>

#include "portals/base/status.hpp"
#include "sim/boot/measured_rates.hpp"

namespace margay::command {

// Runs jobs of a few ranks one after the other, usually for a few seconds; starts no further round of them after 15 s.
// `remarks`: a sentence for each shape that could not be measured, whose rates are the usual ones. `disturbed`: a
// sentence if other programs used the processors, because then the results do not describe the machine; empty
// otherwise, and with MARGAY_CALIBRATE=anyway. Fails, with the cure in the message, if no rank can be measured.
[[nodiscard]] portals::Status measure_machine(sim::MeasuredRates& out, std::vector<std::string>& remarks,
                                              std::string& disturbed);

// The path of libexec/margay/measure for the command at `command`, beside its folder; empty: it does not exist.
[[nodiscard]] std::string measuring_program(std::string command);

// The options, which determine the file for the rates: the installation's with `installed`, otherwise `file`, or the
// user's if `file` is empty. With `print` the rates are printed and not stored.
struct CalibrateOrder {
  std::string file;
  bool installed = false;
  bool print = false;
};

// Runs the command. Returns the exit status.
[[nodiscard]] int calibrate(const CalibrateOrder& order);

}  // namespace margay::command
