// The folder and files of a trace: one folder per run, one file per rank, readable by their owner only.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "portals/base/status.hpp"

namespace margay::sim {

// "rank_00042.trace".
[[nodiscard]] std::string trace_file_name(std::uint32_t rank);

// Makes `folder` (0700) unless it exists, and in it the file of `rank` (0600, must not exist); allocates `bytes` in
// full, and maps them zeroed and shared. On success `path` is the file's and `memory` the mapping; the descriptor is
// closed. A failure leaves nothing behind but the folder. Fails as Recorder::open() does.
[[nodiscard]] portals::Status map_new_trace_file(const std::string& folder, std::uint32_t rank, std::uint64_t bytes,
                                                 std::string& path, void*& memory);

// A number that is equal for all processes with this host's clocks, and differs after a reboot; zeros where the
// operating system does not report it.
[[nodiscard]] std::array<std::uint8_t, 16> host_identity();

}  // namespace margay::sim
