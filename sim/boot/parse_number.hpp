// A whole text as one decimal number: no sign for unsigned types, no white space, no rest, no overflow.
#pragma once

#include <charconv>
#include <string_view>

namespace margay::sim {

template <typename Integer>
[[nodiscard]] bool parse_number(std::string_view text, Integer& out) {
  Integer value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || text.empty()) return false;
  out = value;
  return true;
}

}  // namespace margay::sim
