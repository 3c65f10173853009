// Joining the job: under margay's own launcher, under a foreign one, or alone.
#pragma once

#include "sim/boot/job.hpp"

namespace margay::sim {

// Reads the environment and joins the job: margay's own launcher, else PMI-1.1, else rank 0 of 1.
// `segment_sizes` is used under a foreign launcher only, where the lowest rank of a node makes the segment; null, or a
// segment that cannot be shared: each rank is its own node and TCP carries everything. Collective over the job under
// PMI. Error: a foreign launcher that margay cannot talk to, a descriptor that is not there, no memory (bytes and limit
// named). A second process in the rank's place (sim/boot/place) ends the job, and does not return.
Status join(Job& out, SegmentSizesOf segment_sizes = nullptr);

}  // namespace margay::sim
