// The tables of `margay top`: ranks and jobs in columns, short numbers, lines that fit. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "command/live/job_snapshot.hpp"

namespace margay::command {

// Numbers and times in few characters, and lines of limited length.

// At most 4 digits and a unit of a power of 1000: "950", "12.3k", "1.2G".
[[nodiscard]] std::string short_number(double number);
// Seconds, minutes or hours: "0.4", "12", "3m20", "5h07".
[[nodiscard]] std::string short_time(double seconds);

// The same with the unit: "0.4 s", "3m20s", "5h07m".
[[nodiscard]] std::string run_time_text(double seconds);

// Breaks a text at spaces, where possible, into lines of at most `room` characters; all but the first are indented.
[[nodiscard]] std::vector<std::string> wrapped(const std::string& text, std::size_t room);

// The sort order of ranks: descending, except by rank.
enum class SortKey : std::uint8_t { rank, since, processor, calls, messages, bytes, posted, unexpected, heap };

// A sort order's names.
struct SortName {
  SortKey key;
  // The key on the screen.
  char letter;
  std::string_view name;
  // The name with the letter in brackets.
  std::string_view help;
};
[[nodiscard]] std::span<const SortName> sort_names();

// The heading, and one line for each rank, sorted. Columns are omitted, the least important first, until a line fits
// into `room` characters. The columns that identify a rank's state stay, and so does the column by which the ranks are
// sorted.
[[nodiscard]] std::vector<std::string> rank_lines(const std::vector<RankSnapshot>& ranks, SortKey key,
                                                  std::size_t room);

// Jobs.

// A width into which every line fits.
inline constexpr std::size_t kAnyWidth = 1U << 20U;
// A job's headline, the launcher's report of a stall, the heading, and one line for each rank, for lines of `room`
// characters; only the headline may be longer. `head_at` gets the index of the heading.
[[nodiscard]] std::vector<std::string> table_of(const JobSnapshot& job, SortKey key, std::size_t room,
                                                std::size_t& head_at);

}  // namespace margay::command
