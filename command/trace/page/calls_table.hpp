// The page's tables of MPI calls and of the waits in them.
#pragma once

#include <cstdint>
#include <vector>

#include "command/trace/page/page_input.hpp"

namespace margay::command {

// A wait of a rank, in the page's times: nanoseconds since the first event.
struct PageWait {
  double begin = 0;
  // Infinite: the rank still waited when the recording ended.
  double end = 0;
};

// An index of the tables' rows, for the other tables.
struct PageCalls {
  // By entry of the trace: the row of an mpi_enter, otherwise kNoRow.
  std::vector<std::int32_t> rows;
  // By file, in the order of time.
  std::vector<std::vector<PageWait>> waits;
  // The row of the call in progress when entry `at` was recorded; kNoRow: none, or several threads make it uncertain.
  [[nodiscard]] std::int32_t row_around(const PageInput& input, std::size_t at) const;
  // Nanoseconds that the rank of `file` waited between two times; 0 if one of them is not known.
  [[nodiscard]] double waited(std::uint32_t file, double from, double to) const;
};

// Adds both tables. To be called before the other tables are added.
PageCalls add_calls(const PageInput& input, PageData& data);

}  // namespace margay::command
