// Joining a job of a foreign PMI-1.1 launcher: who shares a node, the node's shared memory, the job's identity and
// secret.
#pragma once

#include "sim/boot/job.hpp"

namespace margay::sim {

// Fills node_of_rank, node_count, job_id, secret, appnum, program_ranks, universe_size, the node segment and who has
// it. Collective over the job. Requires: rank, size and pmi are set.
//
// 1. Rank 0 puts the job's identity and secret; the lowest rank of each node makes the segment and puts where it is:
//    process, descriptor, and a random cookie that stands behind the segment's last byte.
// 2. Barrier. The others of the node open it through /proc and compare the cookie, so that a number of another PID
//    namespace cannot lead them astray; each puts which process it is, or that it did not work.
// 3. Barrier. A node on which it did not work for all is taken apart: each of its ranks becomes a node of its own.
[[nodiscard]] Status join_through_pmi(Job& job, SegmentSizesOf segment_sizes);

}  // namespace margay::sim
