// Jobs as lines of a table. Pure.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/cli/live/job_look.hpp"

namespace margay::sim {

// What ranks are sorted by; but for the first one the largest stands first.
enum class SortKey : std::uint8_t { kRank, kSince, kProcessor, kCalls, kMessages, kBytes, kPosted, kUnexpected, kHeap };

struct SortWord {
  SortKey key;
  char letter;  // on the screen
  std::string_view word;
  std::string_view help;  // the word with the letter in brackets
};
[[nodiscard]] std::span<const SortWord> sort_words();

// 4 digits at most and a factor of 1000: "950", "12.3k", "1.2G".
[[nodiscard]] std::string short_number(double number);
// "0.4", "12", "3m20", "5h07".
[[nodiscard]] std::string short_time(double seconds);

// A job's headline, what the launcher sees, the columns' names, and a line for each rank. `head_at` gets the index of
// the line with the columns' names.
[[nodiscard]] std::vector<std::string> table_of(const JobLook& job, SortKey key, std::size_t& head_at);

}  // namespace margay::sim
