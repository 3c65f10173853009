// Finding the program that a rank is to run, and saying what is wrong with it before any rank runs.
#pragma once

#include <string>

#include "portals/base/status.hpp"

namespace margay::command {

inline constexpr int kStatusCannotRun = 126;
inline constexpr int kStatusNotFound = 127;

// As a shell does: a name with '/' is a path (from `working_directory` if that is not empty), any other is looked up in
// `search_path` (PATH). On success `path` can be handed to execve. On error `exit_status` is 126 or 127.
[[nodiscard]] portals::Status find_program(const std::string& name, const std::string& working_directory,
                                           const char* search_path, std::string& path, int& exit_status);

}  // namespace margay::command
