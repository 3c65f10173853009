// The page's tables of messages, of their hops, and of the entries that passed them over.
#pragma once

#include <unordered_map>
#include <vector>

#include "command/trace/page/calls_table.hpp"

namespace margay::command {

// An index of the rows of the table of messages, for the other tables.
struct PageMessages {
  // By row.
  std::vector<MessageStory> stories;
  // The row of each message. Hops have no row here.
  std::unordered_map<MessageIdentity, std::int32_t, MessageHash> row_of;
  // By entry of a search_miss: the row of the message that the receive took.
  std::unordered_map<std::size_t, std::int32_t> row_of_search;
};

// Adds the tables. Cost: builds the story of every message once.
PageMessages add_messages(const PageInput& input, const PageCalls& calls, PageData& data);

}  // namespace margay::command
