#include "command/trace/names/bit_fields.hpp"

#include <charconv>
#include <optional>
#include <utility>

namespace margay::command {

namespace {

// A field between its braces: KEY=WORD, or KEY=FIRST:COUNT with an s for a signed number, or with |WORD for each value
// from 0 on. An exclamation mark in front: the field is not a part of the text.
struct FieldForm {
  bool is_hidden = false;
  std::string_view key;
  // A constant word, if `count` is 0.
  std::string_view word;
  unsigned first = 0;
  unsigned count = 0;
  bool is_signed = false;
  // "|WORD|WORD"; empty: a number.
  std::string_view words;
};

constexpr unsigned kBits = 64;

// Takes a number from the front of `text`.
bool take_number(std::string_view& text, unsigned& out) {
  const auto [behind, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (error != std::errc()) return false;
  text.remove_prefix(static_cast<std::size_t>(behind - text.data()));
  return true;
}

bool take(std::string_view& text, char wanted) {
  if (!text.starts_with(wanted)) return false;
  text.remove_prefix(1);
  return true;
}

std::optional<FieldForm> parse(std::string_view text) {
  FieldForm form;
  form.is_hidden = take(text, '!');
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos || equals == 0) return {};
  form.key = text.substr(0, equals);
  text.remove_prefix(equals + 1);
  form.word = text;
  unsigned first = 0, count = 0;
  const bool has_bits = take_number(text, first) && take(text, ':') && take_number(text, count);
  if (!has_bits) return form.word.empty() ? std::nullopt : std::optional(form);
  if (count == 0 || first >= kBits || count > kBits - first) return {};
  form.first = first;
  form.count = count;
  form.is_signed = take(text, 's');
  form.words = text;
  if (!text.empty() && !text.starts_with('|')) return {};
  return form;
}

std::uint64_t mask_of(const FieldForm& form) {
  return (form.count == kBits ? ~std::uint64_t{0} : (std::uint64_t{1} << form.count) - 1) << form.first;
}

// The word of a value; empty: it has none.
std::string_view word_of(std::string_view words, std::uint64_t value) {
  while (take(words, '|')) {
    const std::string_view word = words.substr(0, words.find('|'));
    if (value-- == 0) return word;
    words.remove_prefix(word.size());
  }
  return {};
}

BitField value_of(const FieldForm& form, std::uint64_t bits) {
  BitField field{std::string(form.key), std::string(form.word), false};
  if (form.count == 0) return field;
  const std::uint64_t value = (bits & mask_of(form)) >> form.first;
  if (const std::string_view word = word_of(form.words, value); !word.empty()) {
    field.value = word;
    return field;
  }
  field.is_number = true;
  const bool is_negative = form.is_signed && value >> (form.count - 1) != 0;
  // The bits above the field are those of a negative number of 64 bits.
  const std::uint64_t above = form.count == kBits ? 0 : ~std::uint64_t{0} << form.count;
  field.value = is_negative ? std::to_string(static_cast<std::int64_t>(value | above)) : std::to_string(value);
  return field;
}

}  // namespace

std::string_view NamedMessage::field(std::string_view key) const {
  for (const BitField& each : fields) {
    if (each.key == key) return each.value;
  }
  return {};
}

NamedMessage fill_in(std::string_view name, std::uint64_t bits, std::uint64_t described, std::uint64_t ignored) {
  NamedMessage message;
  for (;;) {
    const std::size_t open = name.find('{');
    const std::size_t close = open == std::string_view::npos ? open : name.find('}', open);
    if (close == std::string_view::npos) break;
    message.text += name.substr(0, open);
    const std::string_view inside = name.substr(open + 1, close - open - 1);
    if (const std::optional<FieldForm> form = parse(inside)) {
      BitField field = value_of(*form, bits);
      const bool is_any = form->count != 0 && (mask_of(*form) & ~ignored) == 0;
      // Words of several values differ little, and "any" fits none of them.
      if (!form->is_hidden) message.text += is_any && field.is_number ? "any" : field.value;
      if (!is_any) message.fields.push_back(std::move(field));
    } else if (inside == "number") {
      message.text += std::to_string(bits & described);
    } else {
      message.text += name.substr(open, close - open + 1);
    }
    name.remove_prefix(close + 1);
  }
  message.text += name;
  return message;
}

}  // namespace margay::command
