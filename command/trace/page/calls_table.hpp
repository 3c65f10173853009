// The page's tables of MPI calls and of the waits in them.
#pragma once

#include <cstdint>
#include <vector>

#include "command/trace/page/page_input.hpp"

namespace margay::command {

// Where a rank waited: as times of the page.
struct PageWait {
  double begin = 0;
  double end = 0;
};

struct PageCalls {
  std::vector<std::int32_t> rows;            // by entry of the trace: the row of an mpi_enter; else kNoRow
  std::vector<std::vector<PageWait>> waits;  // by file, in order
  // The row of the call that was under way when entry `at` was recorded.
  [[nodiscard]] std::int32_t row_around(const PageInput& input, std::size_t at) const;
  // For how long the rank of `file` waited between two times. 0 where one of them is not known.
  [[nodiscard]] double waited(std::uint32_t file, double from, double to) const;
};

PageCalls add_calls(const PageInput& input, PageData& data);

}  // namespace margay::command
