// Counts with their nouns: "1 message", "2 messages".
#pragma once

#include <concepts>
#include <string>
#include <string_view>

namespace margay::sim {

// The noun alone. `many`: its plural where that is not `one` and an s.
[[nodiscard]] inline std::string noun(std::integral auto count, std::string_view one, std::string_view many = "") {
  if (count == 1) return std::string(one);
  return many.empty() ? std::string(one) + 's' : std::string(many);
}

[[nodiscard]] inline std::string counted(std::integral auto count, std::string_view one, std::string_view many = "") {
  return std::to_string(count) + ' ' + noun(count, one, many);
}

}  // namespace margay::sim
