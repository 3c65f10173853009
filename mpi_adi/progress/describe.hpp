// What a process waits for, in words: for the report of a stall.
#pragma once

#include <cstdint>
#include <string>

#include "mpi_adi/device/parts.hpp"

namespace margay::mpi_adi {

// Appends at most `limit_lines` lines: sends under way, receives, unexpected messages, and how many more there are.
void describe(const DeviceParts& parts, std::string& out, std::size_t limit_lines);

// What the process waits for first, in numbers, for the job board.
struct FirstWait {
  int peer = -1;  // process; -1: any, or none in particular
  int tag = -1;   // -1: any
  std::uint32_t context = 0;
  std::uint64_t posted_receives = 0;
  std::uint64_t unexpected_messages = 0;
  // Sends, receives and tasks that are not over; or probes, when a call waits in one.
  std::uint32_t requests = 0;
  std::uint32_t tasks = 0;   // calls that do not block and are not over; messages alone end them
  std::string communicator;  // of the first one; empty: none is under way
  // Unexpected messages that differ from the first receive or probe in source, tag or communicator alone: a few, in
  // words.
  std::string near_misses;
};
[[nodiscard]] FirstWait first_wait(const DeviceParts& parts);

}  // namespace margay::mpi_adi
