#include "sim/base/text.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace margay::sim {
namespace {

struct Character {
  std::uint32_t code = 0;
  // 0: no well-formed character begins there.
  std::size_t bytes = 0;
};

// The first character of `text` by the table of well-formed UTF-8 (Unicode 15, table 3-7).
Character first_character(std::string_view text) {
  const auto byte = [&](std::size_t at) { return static_cast<std::uint8_t>(text[at]); };
  const std::uint8_t lead = byte(0);
  if (lead < 0x80) return {lead, 1};
  const std::size_t bytes = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  // Overlong forms of smaller codes are not well-formed.
  constexpr std::uint32_t kLeast[] = {0x80, 0x800, 0x10000};
  if (lead < 0xc0 || lead > 0xf4 || bytes > text.size()) return {};
  std::uint32_t code = lead & (0x7fU >> bytes);
  for (std::size_t at = 1; at < bytes; ++at) {
    if ((byte(at) & 0xc0) != 0x80) return {};
    code = code << 6U | (byte(at) & 0x3fU);
  }
  // Surrogates are not characters; UTF-8 of them is not well-formed.
  const bool surrogate = code >= 0xd800 && code <= 0xdfff;
  return code < kLeast[bytes - 2] || code > 0x10ffff || surrogate ? Character() : Character{code, bytes};
}

// Whether a character is visible, and changes neither the terminal nor the direction of the text.
bool is_visible(std::uint32_t code) {
  if (code == '\n' || code == '\t') return true;
  const bool control = code < ' ' || (code >= 0x7f && code < 0xa0);
  const bool turns = code == 0x200e || code == 0x200f || (code >= 0x2028 && code <= 0x202e) ||  // marks, embeddings
                     (code >= 0x2066 && code <= 0x2069);                                        // isolates
  return !control && !turns;
}

}  // namespace

std::string for_terminal(std::string_view text) {
  std::string seen;
  while (!text.empty()) {
    const Character first = first_character(text);
    // After a malformed byte the next one may begin a valid character.
    const std::size_t bytes = first.bytes == 0 ? 1 : first.bytes;
    if (first.bytes != 0 && is_visible(first.code)) {
      seen += text.substr(0, bytes);
    } else {
      seen += '?';
    }
    text.remove_prefix(bytes);
  }
  return seen;
}

std::string one_line(std::string_view text) {
  std::string seen = for_terminal(text);
  std::replace_if(
      seen.begin(), seen.end(), [](char c) { return c == '\n' || c == '\t'; }, '?');
  return seen;
}

}  // namespace margay::sim
