// Text for people: foreign text made safe for a terminal, and counts with their nouns.
#pragma once

#include <concepts>
#include <string>
#include <string_view>

namespace margay::sim {

// `text` with a '?' for each byte that is not UTF-8, and for each character that would control a terminal. These are
// controls other than line ends and tabs, and characters that change the direction of writing. Text from a program, a
// file or a peer passes through this function before it is printed.
[[nodiscard]] std::string for_terminal(std::string_view text);
// As for_terminal(), with a '?' for line ends and tabs too: for a name inside a sentence.
[[nodiscard]] std::string one_line(std::string_view text);

// The noun of a count: "message" for 1, "messages" for 2. `many`: a plural other than `one` with an s.
[[nodiscard]] inline std::string noun(std::integral auto count, std::string_view one, std::string_view many = "") {
  if (count == 1) return std::string(one);
  return many.empty() ? std::string(one) + 's' : std::string(many);
}

// The count with its noun: "1 message", "2 messages".
[[nodiscard]] inline std::string counted(std::integral auto count, std::string_view one, std::string_view many = "") {
  return std::to_string(count) + ' ' + noun(count, one, many);
}

}  // namespace margay::sim
