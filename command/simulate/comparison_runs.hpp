// The runs of a comparison: each is a child process that `margay simulate --report` would be.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "command/simulate/program_start.hpp"
#include "virtual_machine/model/run_report.hpp"

namespace margay::command {

// Called at the end of a run with exit status other than 0. `errors`: what the run has written to standard error.
using ReportFailure =
    std::function<void(std::size_t run, const virtual_machine::RunReport& report, const std::string& errors)>;

// Runs the programs of all orders, which have been checked, up to `jobs` at a time, and returns their reports. A run
// that ends without a report has one with an error. The programs read no input, and their output is discarded.
// Requires: the process has no other children. Error: the system cannot start processes.
[[nodiscard]] portals::Status run_orders(const std::vector<SimulateOrder>& orders, std::size_t jobs,
                                         const ReportFailure& report_failure,
                                         std::vector<virtual_machine::RunReport>& out);

}  // namespace margay::command
