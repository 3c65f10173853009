// Joining the job: under margay's own launcher, under a foreign one, or alone.
#pragma once

#include <cstdint>

#include "portals/base/status.hpp"
#include "sim/boot/board.hpp"
#include "sim/boot/job.hpp"

namespace margay::sim {

// Reads the environment and joins the job: margay's own launcher, else PMI-1.1, else rank 0 of 1.
// `segment_sizes` is used under a foreign launcher only, where the lowest rank of a node makes the segment; null, or a
// segment that cannot be shared: each rank is its own node and TCP carries everything. Collective over the job under
// PMI. Error: a foreign launcher that margay cannot talk to, a descriptor that is not there, no memory (bytes and limit
// named). A second process in the rank's place ends the job, and does not return.
Status join(Job& out, SegmentSizesOf segment_sizes = nullptr);

// Recognises launchers that margay cannot talk to; otherwise each of N processes would run as rank 0 of 1.

// Looks a variable up; null when it is not set. `std::getenv` fits.
using Environment = const char* (*)(const char* name);

// Error, naming the launcher and the way out, when the environment shows a parallel start by one that margay does not
// speak to. Requires: neither `margay run` nor a PMI-1.1 descriptor is in the environment.
[[nodiscard]] portals::Status refuse_foreign_launcher(Environment environment);

}  // namespace margay::sim
