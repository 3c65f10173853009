// The fields of a communication library's match bits, by the name that the library gave them (host::NamedBits).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace margay::command {

// A field of a message, such as the class of a letter.
struct BitField {
  std::string key;
  // A number in decimal, or a word.
  std::string value;
  bool is_number = false;
};

// The meaning of a library's match bits.
struct NamedMessage {
  // "a letter of class Y with context_id 1, tag 7"; empty: unknown bits.
  std::string text;
  // In the order of the name; without fields that criteria ignore.
  std::vector<BitField> fields;
  // The value of a field; empty: there is none.
  [[nodiscard]] std::string_view field(std::string_view key) const;
};

// Replaces the fields in `name`, in which {number} stands for the bits of `described`. `ignored`: the bits that
// criteria ignore, of which a whole field is "any"; 0 for a message. Text in other braces stays, because the name comes
// from a file.
[[nodiscard]] NamedMessage fill_in(std::string_view name, std::uint64_t bits, std::uint64_t described,
                                   std::uint64_t ignored = 0);

}  // namespace margay::command
