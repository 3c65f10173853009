// The folder and files of a trace: one folder per run, one file per rank, readable by their owner only.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "portals/base/status.hpp"

namespace margay::sim {

// "rank_00042.trace".
[[nodiscard]] std::string trace_file_name(std::uint32_t rank);

// Creates `folder` (mode 0700) unless it exists, and in it the file of `rank` (mode 0600), which must not exist.
// Allocates all `bytes` of the file, which are zero, and maps them, shared. On success `path` is the file's path,
// `memory` is the mapping, and the descriptor is closed. After a failure only the folder may remain. Fails as
// Recorder::open() does.
[[nodiscard]] portals::Status map_new_trace_file(const std::string& folder, std::uint32_t rank, std::uint64_t bytes,
                                                 std::string& path, void*& memory);

// The identity of the running operating system: equal for all processes that share this host's clocks, and different
// after a reboot. Zeros if the operating system does not report it.
[[nodiscard]] std::array<std::uint8_t, 16> host_identity();

}  // namespace margay::sim
