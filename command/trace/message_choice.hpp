// The selection of messages by the options of a command line.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "command/trace/names/names.hpp"
#include "command/trace/story/collectives.hpp"
#include "command/trace/story/fate.hpp"
#include "command/trace/story/messages.hpp"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace margay::command {

// The options. A selected message meets all that are set.
struct MessageChoice {
  // from, to: ranks of the world. tag: the program's tag.
  std::optional<std::uint32_t> from;
  std::optional<std::uint32_t> to;
  std::optional<std::uint32_t> tag;
  // Sort by duration.
  bool slowest = false;
  // dropped: only messages that were dropped. unexpected: only messages that arrived before their receive was posted.
  // never_received: only messages that no receive took.
  bool dropped = false;
  bool unexpected = false;
  bool never_received = false;
  // Messages that are hidden by default. collective: show the data messages of collective calls, and no others. all:
  // show every message, also the library's own.
  bool collective = false;
  bool all = false;
  // A limit on the selected messages, which the caller applies; choose() ignores it.
  std::optional<std::size_t> count;
};

// Adds --from, --to, --tag, --slowest, ..., --count to a command, and returns the options. `choice` must outlive the
// command.
std::vector<CLI::Option*> add_message_choice(CLI::App& command, MessageChoice& choice);
// Ends the command with an error if --from or --to is not a rank of the run.
void check_choice(const MessageChoice& choice, const Trace& trace);
// The selected messages by time, or with `slowest` by descending duration. With `never_received`, prints to standard
// error the ranks for which the trace does not show which messages they received. Cost: builds the story of every
// message.
[[nodiscard]] std::vector<MessageStory> choose(const MessageChoice& choice, const Trace& trace, const TraceNames& names,
                                               const Messages& messages);
// A sentence without a full stop for an empty selection: the options that would select something, or why nothing can be
// selected.
[[nodiscard]] std::string none_chosen(const MessageChoice& choice, const Trace& trace, const TraceNames& names,
                                      const Messages& messages, const Collectives& collectives);

}  // namespace margay::command
