// The page's table of collective calls: a row for each rank's part, with a group number for each call.
#pragma once

#include "command/trace/page/calls_table.hpp"

namespace margay::command {

// The row of each part in input.collectives.parts(). The parts of one blocking call of a rank share a row, such as the
// two of MPI_Finalize.
[[nodiscard]] std::vector<std::int32_t> collective_rows(const PageInput& input);

// Adds the table to `data`.
void add_collectives(const PageInput& input, const PageCalls& calls, PageData& data);

}  // namespace margay::command
