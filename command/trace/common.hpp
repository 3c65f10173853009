// Shared parts of the commands under `margay trace`.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "command/trace/read/reader.hpp"
#include "portals/base/status.hpp"

namespace margay::command {

// Exit statuses: a trace that cannot be read or a wrong option; violations found by the check; two traces that differ.
inline constexpr int kBadTrace = 1;
inline constexpr int kTraceViolations = 2;
inline constexpr int kTraceDiffers = 2;

// Prints the error and ends the command with kBadTrace, by throwing CLI::RuntimeError.
[[noreturn]] void fail_trace(const portals::Status& status);
// Reads a folder, or fails. Warns about lost definitions.
void load_trace(const std::string& folder, Trace& trace);
// Warns once about files without a checksum, in which damage cannot be detected.
void warn_unsealed(const Trace& trace);
// Prints one line to standard output. A failed write (a full file system) is detected by finish_output().
void put_line(std::string line);
// Flushes standard output, and ends the command with kBadTrace if any write to it has failed. To be called after the
// last line.
void finish_output();
// The wire's name; "unknown wire" for an invalid number.
[[nodiscard]] std::string_view wire_text(std::uint8_t wire);

}  // namespace margay::command
