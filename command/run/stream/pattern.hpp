// Patterns of file names and of what stands before each line, as Hydra has them.
#pragma once

#include <cstdint>
#include <string>

namespace margay::command {

// %r: rank, %h: host, %g: process group and %p: proxy (one host has one of each: 0), %t: seconds since 1970, %%: a %.
// The letters are the command line's to check.
[[nodiscard]] std::string fill_pattern(const std::string& pattern, std::uint32_t rank);

}  // namespace margay::command
