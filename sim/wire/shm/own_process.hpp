// Ranks that are threads of this process: they access each other's memory by memcpy instead of system calls.
#pragma once

#include <cstdint>

#include "sim/wire/shm/shm_layout.hpp"

namespace margay::sim {

// The test word of this process, for open_for_reading(). Ranks of this process that use it access each other's memory
// by memcpy. Unlike a system call, memcpy ends the process if the program has unmapped a buffer that is in use. Any
// thread.
[[nodiscard]] std::uint64_t& process_test_word();
// Whether `peer` is a rank of this process that uses process_test_word().
[[nodiscard]] bool is_this_process(const RankArea& peer);

}  // namespace margay::sim
