// The search for a rank's program, with errors that are reported before any rank runs.
#pragma once

#include <string>

#include "portals/base/status.hpp"

namespace margay::command {

// Exit statuses, as a shell's.
inline constexpr int kStatusCannotRun = 126;
inline constexpr int kStatusNotFound = 127;

// Finds a program as a shell does: a name with '/' is a path, any other is searched for in `search_path` (PATH).
// Relative paths, also those in PATH, are relative to `working_directory`, if that is not empty. On success `path` can
// be passed to execve in that directory. On error `exit_status` is 126 (cannot be run) or 127 (not found). For frequent
// mistakes, such as a source file in place of its program, the error names the cure.
[[nodiscard]] portals::Status find_program(const std::string& name, const std::string& working_directory,
                                           const char* search_path, std::string& path, int& exit_status);

}  // namespace margay::command
