// Parsing of words that users type: numbers, and the nearest spelling of a mistyped word.
#pragma once

#include <charconv>
#include <string_view>
#include <vector>

namespace margay::sim {

// The candidate with the fewest edits (insert, delete, replace, swap neighbours), provided that they are at most a
// third of the word's letters, or one; otherwise an empty view. Words longer than 64 letters have no neighbours.
[[nodiscard]] std::string_view nearest_spelling(std::string_view word, const std::vector<std::string_view>& candidates);

// Parses a whole text as one decimal number: no sign for unsigned types, no white space, no remainder, no overflow.
template <typename Integer>
[[nodiscard]] bool parse_number(std::string_view text, Integer& out) {
  Integer value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || text.empty()) return false;
  out = value;
  return true;
}

}  // namespace margay::sim
