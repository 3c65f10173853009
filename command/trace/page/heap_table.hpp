// The page's tables of heaps, and of what lies in them: from when until when each message did.
#pragma once

#include <functional>
#include <map>

#include "command/trace/page/messages_table.hpp"

namespace margay::command {

// `takers`: by the index of a kernel_match the row of the entry that took its message; `heap_of`: the heap of that row.
void add_heap(const PageInput& input, const PageMessages& messages, const std::map<std::size_t, std::size_t>& takers,
              const std::function<std::uint32_t(std::size_t)>& heap_of, PageData& data);

}  // namespace margay::command
