// What a process waits for, in words: for the report of a stall.
#pragma once

#include <string>

#include "mpi_adi/device/parts.hpp"

namespace margay::mpi_adi {

// Appends at most `limit_lines` lines: sends under way, receives, unexpected messages, and how many more there are.
void describe(const DeviceParts& parts, std::string& out, std::size_t limit_lines);

}  // namespace margay::mpi_adi
