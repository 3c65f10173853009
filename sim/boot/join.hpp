// Joining the job: under margay's own launcher, under a foreign one, or alone.
#pragma once

#include <cstdint>

#include "portals/base/status.hpp"
#include "sim/boot/board.hpp"
#include "sim/boot/job.hpp"

namespace margay::sim {

// Joining a job of a foreign PMI-1.1 launcher: who shares a node, the node's shared memory, the job's identity and
// secret.

// Fills node_of_rank, node_count, job_id, secret, appnum, program_ranks, universe_size, the node segment and who has
// it. Collective over the job. Requires: rank, size and pmi are set.
//
// 1. Rank 0 puts the job's identity and secret; the lowest rank of each node makes the segment and puts where it is:
//    process, descriptor, and a random cookie that stands behind the segment's last byte.
// 2. Barrier. The others of the node open it through /proc and compare the cookie, so that a number of another PID
//    namespace cannot lead them astray; each puts which process it is, or that it did not work.
// 3. Barrier. A node on which it did not work for all is taken apart: each of its ranks becomes a node of its own.
[[nodiscard]] Status join_through_pmi(Job& job, SegmentSizesOf segment_sizes);

// A rank's place in its job is one process's, once: channels, counters and what is unexpected there are never another
// program's. A second one (`sh -c './a; ./b'`, two at once, a child forked before MPI_Init) is refused, and
// ends the job: the first may be at work, and a shell between may hide the second one's status.

// Under `margay run`: by the board. Error: somebody has the place, or had it.
[[nodiscard]] portals::Status take_place_on_board(const Board& board, std::uint32_t rank);

// Under a foreign launcher: by a lock on the PMI connection, which all processes in the rank's place share. The kernel
// gives it back as the process ends, so it tells those that are there at once; of one before this one the launcher's
// keys tell (sim/boot/join). Error: another process holds it.
[[nodiscard]] portals::Status take_place_on_connection(int descriptor);

// The refusal; `holder` 0: not known.
[[nodiscard]] portals::Status place_is_taken(std::int32_t holder);

// Reads the environment and joins the job: margay's own launcher, else PMI-1.1, else rank 0 of 1.
// `segment_sizes` is used under a foreign launcher only, where the lowest rank of a node makes the segment; null, or a
// segment that cannot be shared: each rank is its own node and TCP carries everything. Collective over the job under
// PMI. Error: a foreign launcher that margay cannot talk to, a descriptor that is not there, no memory (bytes and limit
// named). A second process in the rank's place (sim/boot/join) ends the job, and does not return.
Status join(Job& out, SegmentSizesOf segment_sizes = nullptr);

// Recognises launchers that margay cannot talk to, so that N processes do not each believe to be rank 0 of 1.

// Looks a variable up; null when it is not set. `std::getenv` fits.
using Environment = const char* (*)(const char* name);

// Error, naming the launcher and the way out, when the environment shows a parallel start by one that margay does not
// speak to. Requires: neither `margay run` nor a PMI-1.1 descriptor is in the environment.
[[nodiscard]] portals::Status refuse_foreign_launcher(Environment environment);

}  // namespace margay::sim
