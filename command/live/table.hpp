// Jobs as lines of a table. Pure.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "command/live/columns.hpp"
#include "command/live/job_look.hpp"

namespace margay::command {

inline constexpr std::size_t kAnyWidth = 1U << 20U;
// A job's headline, what the launcher sees, the columns' names, and a line for each rank, for lines of `room`
// characters; the headline alone may be longer. `head_at` gets the index of the line with the columns' names.
[[nodiscard]] std::vector<std::string> table_of(const JobLook& job, SortKey key, std::size_t room,
                                                std::size_t& head_at);

}  // namespace margay::command
