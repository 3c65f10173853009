// The page's tables of messages, their hops, the entries that passed them over, and the heap of unexpected ones.
#pragma once

#include <unordered_map>
#include <vector>

#include "command/trace/page/calls_table.hpp"

namespace margay::command {

// Rows of the table of messages.
struct PageMessages {
  std::vector<MessageStory> stories;                                      // by row
  std::unordered_map<MessageIdentity, std::int32_t, MessageHash> row_of;  // of whole messages
  std::unordered_map<std::size_t, std::int32_t> row_of_search;            // by a search_miss: what took the receive
};

PageMessages add_messages(const PageInput& input, const PageCalls& calls, PageData& data);

}  // namespace margay::command
