// The page's tables of messages, of their hops, and of the match-list entries that passed a message over.
#pragma once

#include <unordered_map>
#include <vector>

#include "command/trace/page/calls_table.hpp"

namespace margay::command {

// An index of the rows of the table of messages, for the other tables.
struct PageMessages {
  // By row.
  std::vector<MessageStory> stories;
  // The row of each message, by its root. The other headers of a message (acknowledgment, get, reply) are not keys.
  std::unordered_map<MessageIdentity, std::int32_t, MessageHash> row_of;
  // By index of a search_miss entry, after which the receive was in the match list: the row of the message that the
  // receive took later.
  std::unordered_map<std::size_t, std::int32_t> row_of_search;
};

// Adds the tables. Cost: builds the story of every message once.
PageMessages add_messages(const PageInput& input, const PageCalls& calls, PageData& data);

}  // namespace margay::command
