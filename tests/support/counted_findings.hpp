// The findings of a rank in a unit test: they are counted here, outside of any job.
#pragma once

#include <cstdint>

#include "sim/base/clock.hpp"
#include "sim/boot/findings.hpp"
#include "sim/boot/job.hpp"
#include "sim/trace/recorder.hpp"

namespace margay::testing {

struct CountedFindings {
  sim::Job job;
  sim::Recorder recorder{sim::real_clock()};
  std::uint32_t count = 0;
  sim::Findings findings{job, count, recorder};
};

}  // namespace margay::testing
