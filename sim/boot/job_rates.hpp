// The rates by which a job's collectives choose their algorithms, found once, by the process that starts the job, for
// all ranks. A job never measures them, because a measurement takes seconds, and two jobs that each measured would
// choose by different rates.
#pragma once

#include <string>
#include <vector>

#include "sim/boot/job.hpp"
#include "sim/boot/measured_rates.hpp"
#include "sim/boot/options.hpp"

namespace margay::sim {

// The rates, with their origin.
struct JobRates {
  // Empty: none.
  std::string text;
  // Whether the user gave them (MARGAY_RATES); then they must be valid.
  bool given = false;
  // The file that they come from; empty: none.
  std::string file;
  // That file's content.
  MeasuredRates measured;
  // A message for each file that exists and is not used.
  std::vector<std::string> passed_over;
};

// The user's rates: a text, or the content of a file when the value contains a "/". Otherwise those of the user's file
// for this machine, or the installation's. Fails when the user's value is too long, or names a file that cannot be
// used.
[[nodiscard]] portals::Status find_job_rates(const Options& options, JobRates& out);

// Finds the rates and stores them in the job, for a rank without margay's launcher: rank 0 under another launcher, or a
// process alone. Prints the files that are passed over to stderr.
[[nodiscard]] portals::Status take_rates(Job& job);

}  // namespace margay::sim
