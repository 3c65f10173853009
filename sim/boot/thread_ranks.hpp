// Ranks that are threads: `margay run --threads N` starts processes of N ranks each. The launcher gives a process the
// environment of its first rank, N, and the PMI connections of all N.
#pragma once

#include <cstdint>

#include "portals/base/status.hpp"

namespace margay::sim {

// Returns in `out` the number of this process's ranks; 1 without `--threads`. Fails if the launcher's variable is
// malformed.
[[nodiscard]] portals::Status ranks_of_process(std::uint32_t& out);

// Reports on the job board that the rank which is this process's thread number `thread_rank` has returned from the
// program with `status`, and will make no further call. The launcher then counts the rank as ended, while the process
// runs on. Requires: ranks_of_process() is more than `thread_rank`, and more than 1.
void thread_rank_ended(std::uint32_t thread_rank, int status);

}  // namespace margay::sim
