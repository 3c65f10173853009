// The function by which a process joins its job: under margay's own launcher, under another one, or alone.
#pragma once

#include <cstdint>
#include <optional>

#include "portals/base/status.hpp"
#include "sim/boot/board.hpp"
#include "sim/boot/job.hpp"

namespace margay::sim {

// Reads the environment and joins the job: under margay's own launcher, otherwise by PMI-1.1, otherwise as rank 0 of 1.
// `segment_sizes` is used under another launcher only, where the lowest rank of a node makes the segment. If it is
// null, or the segment cannot be shared, each rank is its own node and TCP carries everything. Collective over the job
// under PMI. Fails for invalid options or variables of the environment; for a descriptor that is not open; under a
// launcher that margay does not support; for values of the launcher or of rank 0 that this version cannot use. A second
// process in the rank's place ends the job, and does not return.
// `thread_rank`: joins as the rank that is this process's thread with this number, from 0 (`margay run --threads`);
// called by that thread. Fails if it is missing in such a process. Ignored in a process of a single rank.
Status join(Job& out, SegmentSizesOf segment_sizes = nullptr, std::optional<std::uint32_t> thread_rank = std::nullopt);

// Detection of launchers that margay does not support. Without it, each of N processes would run as rank 0 of 1.

// Looks up a variable; null when it is not set. std::getenv has this form.
using Environment = const char* (*)(const char* name);

// Fails, with the launcher's name and the cure, when the environment shows a parallel start by a launcher that margay
// does not support. MARGAY_ALONE disables the test. Requires: neither `margay run` nor a PMI-1.1 descriptor is in the
// environment.
[[nodiscard]] portals::Status refuse_foreign_launcher(Environment environment);

}  // namespace margay::sim
