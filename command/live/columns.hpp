// What is told of ranks, in columns. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "command/live/job_look.hpp"

namespace margay::command {

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

}  // namespace margay::command
