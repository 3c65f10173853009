// Text for people: foreign text made safe for a terminal, and counts with their nouns.
#pragma once

#include <concepts>
#include <string>
#include <string_view>

namespace margay::sim {

// `text` with a '?' for each byte that is neither UTF-8 nor ASCII, and for each character that would act instead of
// being seen: controls but for ends of lines and tabs, and what turns the direction of writing.
[[nodiscard]] std::string for_terminal(std::string_view text);
// The same with a '?' for ends of lines and tabs as well: a name that stays in its place in a sentence.
[[nodiscard]] std::string one_line(std::string_view text);

// The noun of a count: "1 message", "2 messages". `many`: its plural where that is not `one` and an s.
[[nodiscard]] inline std::string noun(std::integral auto count, std::string_view one, std::string_view many = "") {
  if (count == 1) return std::string(one);
  return many.empty() ? std::string(one) + 's' : std::string(many);
}

[[nodiscard]] inline std::string counted(std::integral auto count, std::string_view one, std::string_view many = "") {
  return std::to_string(count) + ' ' + noun(count, one, many);
}

}  // namespace margay::sim
