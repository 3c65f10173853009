// The commands `margay info` and `margay doctor`: margay's choices on this machine with their reasons, and checks of
// the machine.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "sim/wire/shm/body_methods.hpp"

namespace margay::command {

// The lines of `margay info` for a job of `ranks` ranks on this host.
[[nodiscard]] std::vector<std::string> describe_choices(unsigned ranks);
// The cost of a poll of each wire, measured now (some milliseconds), and how each wire is polled.
[[nodiscard]] std::vector<std::string> describe_polling();
// Whether this many ranks outnumber the processors of this host.
[[nodiscard]] bool is_crowded(unsigned ranks);
// A length in the largest unit that divides it: "64 KiB", "40 bytes".
[[nodiscard]] std::string bytes_text(std::uint64_t bytes);

// Times of long bodies between two processes of this machine, measured in the same way as by each receiver of a job.

// The times of one size class.
struct LongBodyTimes {
  // Length of the measured body.
  std::uint64_t bytes = 0;
  // Through the byte ring, with a short answer; 0: not measured.
  double ring_us = 0;
  // From memory to memory; 0: not measured.
  double reading_us = 0;
  // The method that a receiver chose. unknown: it received too few bodies by each method to choose. This is always so
  // above 2 MiB, where it does not try the ring.
  sim::BodyPreference chosen = sim::BodyPreference::unknown;
};

// Measures bodies of one size of each class between this process and a child. Takes a fraction of a second.
[[nodiscard]] std::array<LongBodyTimes, sim::kBodyClasses> calibrate_long_bodies();
// The lines of `margay info --protocols` about these times.
[[nodiscard]] std::vector<std::string> describe_calibration(
    const std::array<LongBodyTimes, sim::kBodyClasses>& measured);

// The rates of this machine, and the costs of a group's collectives that follow from them.

// The options of `margay info --collectives`. `rates`: the rates to use; empty: those that a run would use
// (MARGAY_RATES). `plot`: a file for the plot ("-": standard output); empty: print text.
struct CollectivesQuestion {
  unsigned ranks = 2;
  unsigned nodes = 1;
  std::string rates;
  std::string plot;
};

// Runs the command. Returns the exit status. Measures this machine first if no rates are stored, and stores them.
[[nodiscard]] int info_collectives(const CollectivesQuestion& question);

// Checks of `margay doctor` for causes of slow or failing jobs, with cures.

enum class Finding { ok, warn, fail };

struct Diagnosis {
  Finding finding = Finding::ok;
  std::string what;
  // The cure; empty if there is no problem.
  std::string mend;
};

// Runs all checks, in the order of their output. Some create a segment or a process.
[[nodiscard]] std::vector<Diagnosis> diagnose();

// The constant thresholds of point-to-point messages.

// The lines of `margay info --protocols`: threshold, value, and reason or measurement.
[[nodiscard]] std::vector<std::string> describe_thresholds();

}  // namespace margay::command
