// `margay info` and `margay doctor`: the choices of margay on this machine with their reasons, and checks of the
// machine.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "sim/wire/shm/body_ways.hpp"

namespace margay::command {

// The lines of `margay info` for a job of `ranks` ranks on this host.
[[nodiscard]] std::vector<std::string> describe_choices(unsigned ranks);
// Whether so many ranks on this host outnumber its processors.
[[nodiscard]] bool is_crowded(unsigned ranks);
// "64 KiB", "40 bytes"
[[nodiscard]] std::string bytes_text(std::uint64_t bytes);

// How long bodies travel fastest between two processes of this machine, measured as each receiver measures it.

struct LongBodyTimes {
  std::uint64_t bytes = 0;  // of the body that was sent
  double ring_us = 0;       // through the byte ring, with a short answer; 0: not measured
  double reading_us = 0;    // from memory to memory
  sim::BodyPreference chosen = sim::BodyPreference::unknown;
};

// A body of each size class, between this process and a child. Takes a fraction of a second.
[[nodiscard]] std::array<LongBodyTimes, sim::kBodyClasses> calibrate_long_bodies();
[[nodiscard]] std::vector<std::string> describe_calibration(
    const std::array<LongBodyTimes, sim::kBodyClasses>& measured);

// `margay info --collectives`: the rates of this machine, what follows from them for a group, and the picture of it.

// `margay info --collectives`: of so many ranks on so many nodes; by other rates than a run's, or empty (MARGAY_RATES);
// drawn into a file ("-": standard output), or empty: as text.
struct CollectivesQuestion {
  unsigned ranks = 2;
  unsigned nodes = 1;
  std::string rates;
  std::string plot;
};

// The exit status. Measures where nothing was measured on this machine, and keeps it: the first use.
[[nodiscard]] int info_collectives(const CollectivesQuestion& question);

// `margay doctor`: checks this machine for what makes jobs slow or fail, and prints the mend.

enum class Finding { kOk, kWarn, kFail };

struct Diagnosis {
  Finding finding = Finding::kOk;
  std::string what;
  std::string mend;  // empty when all is well
};

[[nodiscard]] std::vector<Diagnosis> diagnose();

// The thresholds of point-to-point messages that are constants, each with its reason.

// Lines of `margay info --protocols`: threshold, value, reason or measurement.
[[nodiscard]] std::vector<std::string> describe_thresholds();

}  // namespace margay::command
