// How long bodies travel fastest between two processes of this machine, measured as each receiver measures it.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "sim/wire/shm/body_ways.hpp"

namespace margay::command {

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

}  // namespace margay::command
