// Error messages for a command line that CLI11 refused: each names the command, the word and the cure.
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

inline constexpr int kStatusBadCommandLine = 2;  // of every command

// The check of an option that takes a whole number from `least` to `most`.
[[nodiscard]] CLI::Validator whole_number(std::uint64_t least,
                                          std::uint64_t most = std::numeric_limits<std::uint64_t>::max());
// The check of an option that takes microseconds: a number that is not negative, nor infinite.
[[nodiscard]] CLI::Validator microseconds();

// What is wrong with a line that `app` has refused: "margay trace story: ...".
[[nodiscard]] std::string describe_mistake(const CLI::App& app, const CLI::ParseError& mistake);

}  // namespace margay::command
