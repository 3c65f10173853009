// `margay info --protocols`, of point-to-point messages: what protocol/select answers, wire by wire, mode by mode, on
// both sides of the short limit.
#pragma once

#include <string>
#include <vector>

#include "sim/boot/options.hpp"

namespace margay::mpi_adi {

// With the options of a run, as a rank would have them. Lines; options that no rank would take give the sentence.
[[nodiscard]] std::vector<std::string> describe_choices(const sim::Options& options);
// With those of this process's environment, whatever the number of ranks.
[[nodiscard]] std::vector<std::string> describe_choices(unsigned ranks, bool crowded);

}  // namespace margay::mpi_adi
