// The page's table of collective calls: a row for each rank's part, grouped by call.
#pragma once

#include "command/trace/page/calls_table.hpp"

namespace margay::command {

// The row of each of input.collectives.parts(): those of one blocking call of a rank, as the two of MPI_Finalize, are
// one.
[[nodiscard]] std::vector<std::int32_t> collective_rows(const PageInput& input);

void add_collectives(const PageInput& input, const PageCalls& calls, PageData& data);

}  // namespace margay::command
