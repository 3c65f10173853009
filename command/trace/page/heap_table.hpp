// The page's tables of heaps, and of the messages in heaps, each with the times at which it entered and left the heap.
#pragma once

#include <functional>
#include <map>

#include "command/trace/page/messages_table.hpp"

namespace margay::command {

// Adds both tables. `takers`: by index of a kernel_match, the row of the entry that took its message. `heap_of`: the
// heap of such a row. Both are used during the call only. Cost: one pass over the stories and one over the trace.
void add_heap(const PageInput& input, const PageMessages& messages, const std::map<std::size_t, std::size_t>& takers,
              const std::function<std::uint32_t(std::size_t)>& heap_of, PageData& data);

}  // namespace margay::command
