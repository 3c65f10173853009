// What the commands under `margay trace` share.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "command/trace/read/reader.hpp"
#include "portals/base/status.hpp"

namespace margay::command {

// Their exit statuses.
inline constexpr int kBadTrace = 1;
inline constexpr int kTraceViolations = 2;

// Prints the sentence and ends the command with kBadTrace.
[[noreturn]] void fail_trace(const portals::Status& status);
// Reads a folder, or fails. Names that its files had no room for are told.
void load_trace(const std::string& folder, Trace& trace);
// Says once, where there are such, of which ranks' files damage cannot be seen.
void tell_unsealed(const Trace& trace);
// One line to standard output. What cannot be written (a full file system) is found by finish_output().
void put_line(std::string line);
void finish_output();
[[nodiscard]] std::string_view wire_text(std::uint8_t wire);

}  // namespace margay::command
