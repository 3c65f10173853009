// Where trace files lie: one folder per run, one file per rank, nobody else's eyes on them.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "portals/base/status.hpp"

namespace margay::sim {

// "rank_00042.trace".
[[nodiscard]] std::string trace_file_name(std::uint32_t rank);

// Makes `folder` (0700) unless it is there, and in it the file of `rank` (0600, must not be there), allocates `bytes`
// in full, maps them zeroed and shared. On success `path` names the file and `memory` is the mapping; the descriptor is
// closed. On error nothing is left behind but the folder. Errors: Recorder::open's.
[[nodiscard]] portals::Status map_new_trace_file(const std::string& folder, std::uint32_t rank, std::uint64_t bytes,
                                                 std::string& path, void*& memory);

// Same for all processes that see this host's clocks, different after a reboot; zeros where the kernel does not say.
[[nodiscard]] std::array<std::uint8_t, 16> host_identity();

}  // namespace margay::sim
