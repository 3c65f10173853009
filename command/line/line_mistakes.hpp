// Error messages for command lines that CLI11 rejected: each names the command, the token and the cure.
#pragma once

#include <cstdint>
#include <limits>
#include <string>

namespace CLI {
class App;
class ParseError;
class Validator;
}  // namespace CLI

namespace margay::command {

// Exit status of every command after a wrong command line.
inline constexpr int kStatusBadCommandLine = 2;

// A validator of options that take a whole number from `least` to `most`.
[[nodiscard]] CLI::Validator whole_number(std::uint64_t least,
                                          std::uint64_t most = std::numeric_limits<std::uint64_t>::max());
// A validator of options that take microseconds: a finite number of at least 0.
[[nodiscard]] CLI::Validator microseconds();

// The error in a line that `app` rejected with `mistake`: "margay trace story: ...".
[[nodiscard]] std::string describe_mistake(const CLI::App& app, const CLI::ParseError& mistake);

}  // namespace margay::command
