// Which messages of a trace a command is about, by the options of its line.
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

struct MessageChoice {
  std::optional<std::uint32_t> from;
  std::optional<std::uint32_t> to;
  std::optional<std::uint32_t> tag;
  bool slowest = false;
  bool dropped = false;
  bool unexpected = false;
  bool never_received = false;
  bool collective = false;
  bool all = false;
  std::optional<std::size_t> count;  // of those that are chosen; choose() does not look at it
};

// Adds --from, --to, --tag, --slowest, ..., --count to a command, and returns them; `choice` lives as long as it.
std::vector<CLI::Option*> add_message_choice(CLI::App& command, MessageChoice& choice);
// Ends the command with an error when --from or --to is not a rank of the run.
void check_choice(const MessageChoice& choice, const Trace& trace);
// By time, or with `slowest` the longest first. With `never_received` standard error tells of which ranks it is not
// known.
[[nodiscard]] std::vector<MessageStory> choose(const MessageChoice& choice, const Trace& trace, const TraceNames& names,
                                               const Messages& messages);
// Of a choice that picked nothing: what would pick something, or why nothing can: "no message of the program is of that
// kind: ...", without a full stop.
[[nodiscard]] std::string none_chosen(const MessageChoice& choice, const Trace& trace, const TraceNames& names,
                                      const Messages& messages, const Collectives& collectives);

}  // namespace margay::command
