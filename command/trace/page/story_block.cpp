#include "command/trace/page/story_block.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace margay::command {

namespace {

bool is_digit(char letter) {
  return letter >= '0' && letter <= '9';
}
bool is_hexadecimal(char letter) {
  return is_digit(letter) || (letter >= 'a' && letter <= 'f');
}

// The length of the value at the beginning of `text`, which begins with a digit: "17", "0x1f".
std::size_t value_length(std::string_view text) {
  const bool is_hex = text.size() > 2 && text[0] == '0' && text[1] == 'x' && is_hexadecimal(text[2]);
  const std::size_t from = is_hex ? 2 : 0;
  const auto* const end = std::find_if_not(text.begin() + from, text.end(), is_hex ? is_hexadecimal : is_digit);
  return static_cast<std::size_t>(end - text.begin());
}

}  // namespace

void StoryBlock::Slot::add(std::string_view value, std::size_t earlier) {
  if (earlier == 0) first_ = value;
  // While all values are equal, one copy stands for all.
  if (values_.empty()) {
    if (value == first_) return;
    values_ = first_;
    for (std::size_t i = 1; i < earlier; ++i) values_.append(1, ' ').append(first_);
  }
  values_.append(1, ' ').append(value);
}

// Numbers follow the order of first use, so the lines need no index.
std::size_t StoryBlock::Numbers::of(const std::string& text) {
  const auto [found, is_new] = numbers_.try_emplace(text, numbers_.size());
  if (is_new) lines_.append(found->second == 0 ? "" : "\n").append(text);
  return found->second;
}

// A story's shape is the list of its lines' forms.
void StoryBlock::add(std::string_view story) {
  shape_.clear();
  while (true) {
    const std::size_t end = story.find('\n');
    add_line(story.substr(0, end));
    if (end == std::string_view::npos) break;
    story.remove_prefix(end + 1);
  }
  fmt::format_to(std::back_inserter(stories_), "{}{}", stories_.empty() ? "" : " ", shape_numbers_.of(shape_));
}

// Splits a line into its form and values; a padded value at the beginning is treated separately, because its width
// changes the form.
void StoryBlock::add_line(std::string_view line) {
  form_.clear();
  values_.clear();
  const auto take = [&](std::size_t length) {
    values_.push_back(line.substr(0, length));
    line.remove_prefix(length);
  };
  const std::size_t blanks = std::min(line.find_first_not_of(' '), line.size());
  const bool is_padded = blanks > 0 && blanks < line.size() && is_digit(line[blanks]) &&
                         blanks + value_length(line.substr(blanks)) == kPaddedWidth;
  if (is_padded) {
    line.remove_prefix(blanks);
    form_ += kPadded;
    take(kPaddedWidth - blanks);
  }
  while (!line.empty()) {
    const auto* const value = std::find_if(line.begin(), line.end(), is_digit);
    form_.append(line.begin(), value);
    line.remove_prefix(static_cast<std::size_t>(value - line.begin()));
    if (line.empty()) break;
    form_ += kNumber;
    take(value_length(line));
  }
  const std::size_t number = form_numbers_.of(form_);
  fmt::format_to(std::back_inserter(shape_), "{}{}", shape_.empty() ? "" : " ", number);
  if (number == forms_.size()) forms_.emplace_back();
  Form& form = forms_[number];
  form.slots.resize(values_.size());
  for (std::size_t i = 0; i < values_.size(); ++i) form.slots[i].add(values_[i], form.uses);
  ++form.uses;
}

// Values of one slot are together, so that similar numbers are adjacent for the compressor.
std::string StoryBlock::text() const {
  std::string text = form_numbers_.lines();
  for (const std::string* part : {&shape_numbers_.lines(), &stories_}) (text += kSeparator) += *part;
  char before = kSeparator;
  for (const Form& form : forms_) {
    for (const Slot& slot : form.slots) (text += before) += slot.text(), before = '\n';
  }
  return text;
}

}  // namespace margay::command
