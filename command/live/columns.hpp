// Tables of `margay top`: ranks and jobs in columns, short numbers, lines that fit. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "command/live/job_look.hpp"

namespace margay::command {

// Numbers and times of few characters, and lines that fit. Pure.

// 4 digits at most and a factor of 1000: "950", "12.3k", "1.2G".
[[nodiscard]] std::string short_number(double number);
// "0.4", "12", "3m20", "5h07".
[[nodiscard]] std::string short_time(double seconds);

// The same with its unit: "0.4 s", "3m20s", "5h07m".
[[nodiscard]] std::string time_in_words(double seconds);

// Lines of at most `room` characters, broken at spaces where there are some; all but the first are indented.
[[nodiscard]] std::vector<std::string> wrapped(const std::string& text, std::size_t room);

// What ranks are sorted by; but for the first one the largest stands first.
enum class SortKey : std::uint8_t { kRank, kSince, kProcessor, kCalls, kMessages, kBytes, kPosted, kUnexpected, kHeap };

struct SortWord {
  SortKey key;
  char letter;  // on the screen
  std::string_view word;
  std::string_view help;  // the word with the letter in brackets
};
[[nodiscard]] std::span<const SortWord> sort_words();

// The columns' names, and a line for each rank, sorted. Columns go, the least important ones first, until `room`
// characters do for a line; what says where a rank is, and what is sorted by, stays.
[[nodiscard]] std::vector<std::string> rank_lines(const std::vector<RankLook>& ranks, SortKey key, std::size_t room);

// Jobs as lines of a table. Pure.

inline constexpr std::size_t kAnyWidth = 1U << 20U;
// A job's headline, what the launcher sees, the columns' names, and a line for each rank, for lines of `room`
// characters; the headline alone may be longer. `head_at` gets the index of the line with the columns' names.
[[nodiscard]] std::vector<std::string> table_of(const JobLook& job, SortKey key, std::size_t room,
                                                std::size_t& head_at);

}  // namespace margay::command
