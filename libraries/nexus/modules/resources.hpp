// The resource database: a text file with choices of modules for contexts and hosts, named by MARGAY_NEXUS_RESOURCES or
// --nexus-resources (paper 003, section 3.1). docs/nexus_modules.md has its format. A line is
//
//   WHERE: KEY VALUE ...
//
// where WHERE is *, or `context` with numbers (0-3,7), or `host` with a pattern (gpu*), or both.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "libraries/nexus/modules/choices.hpp"

namespace margay::nexus::core {

// The most bytes of a file and of a line.
inline constexpr std::size_t kResourcesMost = std::size_t{1} << 20;
inline constexpr std::size_t kResourceLineMost = 4096;

// Adds the choices of `text` for the context `context` on `host` to `choices`; a later line replaces what an earlier
// one has named. All lines are checked, also those for others. Returns an error with the line's number, "line 3: ...",
// or an empty string; `choices` is then complete.
[[nodiscard]] std::string parse_resources(std::string_view text, std::uint32_t context, std::string_view host,
                                          Choices& choices);

// The same of the file `path`. The error names the file.
[[nodiscard]] std::string read_resources(const std::string& path, std::uint32_t context, std::string_view host,
                                         Choices& choices);

// Whether `text` matches `pattern`, in which * stands for any characters and ? for one.
[[nodiscard]] bool matches_pattern(std::string_view pattern, std::string_view text);

}  // namespace margay::nexus::core
