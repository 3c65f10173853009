// The rates of collectives that a job chooses by: found by who starts it, once, for all of its ranks. A job never
// measures: of two jobs one would choose by other rates than the other, and a first one would take seconds more.
#pragma once

#include <string>
#include <vector>

#include "sim/boot/job.hpp"
#include "sim/boot/measured_rates.hpp"
#include "sim/boot/options.hpp"

namespace margay::sim {

struct JobRates {
  std::string text;                      // empty: none
  bool given = false;                    // by the user, MARGAY_RATES: it has to be right
  std::string file;                      // that they come from; empty: from none
  MeasuredRates measured;                // what it says
  std::vector<std::string> passed_over;  // a sentence for each file that was there and is not used
};

// What the user gave: a text, or what a file has where a word with "/" names one. Else the user's file of this machine,
// else the installation's. Error: the user's own word is too long, or names a file that cannot be used.
[[nodiscard]] portals::Status find_job_rates(const Options& options, JobRates& out);

// The same into the job, for a rank that nobody else tells: rank 0 of a launcher that is not margay's, a process alone.
// What is passed over it tells on the standard error.
[[nodiscard]] portals::Status take_rates(Job& job);

}  // namespace margay::sim
