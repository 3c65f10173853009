#include "command/trace/trace_command.hpp"

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <string>
#include <string_view>

#include "command/trace/common.hpp"
#include "command/trace/export/exports.hpp"
#include "command/trace/export/timeline.hpp"
#include "command/trace/message_choice.hpp"
#include "command/trace/story/collectives.hpp"
#include "command/trace/story/event_text.hpp"
#include "sim/base/text.hpp"

namespace margay::command {

namespace {

constexpr std::size_t kNoStep = MessageStory::kNone;

struct MessagesOptions {
  std::string folder;
  MessageChoice choice;
  bool csv = false;
};

struct Row {
  // Time of the message's first step, in microseconds since the trace's first event.
  std::string begin;
  // The message's duration in microseconds.
  std::string took;
  MessageIdentity identity;
  std::string_view protocol;
  std::string_view fate;
  std::uint64_t bytes = 0;
  std::string what;
};

// Length and datatype come from the send_begin, which has the program's; if it is lost, from an event of the kernel.
Row row_of(const Trace& trace, const EventText& event_text, const Messages& messages, const MessageStory& story) {
  Row row;
  row.identity = story.identity;
  row.begin = microseconds_text(trace.entries[first_step(story)].event.time - trace.entries.front().event.time);
  row.took = microseconds_text(duration_ns(trace, story));
  row.protocol = story.begin == kNoStep ? "" : name(trace.entries[story.begin].event.protocol);
  if (row.protocol == "none") row.protocol = "";
  row.fate = fate(messages, story);
  const Trace::Entry& described = best_described(trace, story);
  row.bytes = described.event.bytes;
  row.what = event_text.message(described);
  return row;
}

// The indices, and the formatter of events, are built once for all rows.
void list_messages(const MessagesOptions& options) {
  Trace trace;
  load_trace(options.folder, trace);
  warn_unsealed(trace);
  check_choice(options.choice, trace);
  const TraceNames names(trace, wire_text);
  const Messages messages(trace);
  const Collectives collectives(trace, names);
  const EventText event_text(trace, names, {}, &collectives);
  if (options.csv) {
    put_line("begin_us,took_us,source,destination,sequence,protocol,how,bytes,what");
  } else {
    put_line(fmt::format("{:>14} {:>12}  {:<12} {:>12}  {:<18} {:<20} {}", "begin (us)", "took (us)", "message",
                         "bytes", "protocol", "how", "what"));
  }
  std::vector<MessageStory> chosen = choose(options.choice, trace, names, messages);
  // The omitted messages are counted, so that a limited list is not taken for a complete one.
  const std::size_t left_out = chosen.size() - std::min(options.choice.count.value_or(chosen.size()), chosen.size());
  chosen.resize(chosen.size() - left_out);
  if (chosen.empty() && !options.csv) put_line(none_chosen(options.choice, trace, names, messages, collectives));
  for (const MessageStory& story : chosen) {
    const Row row = row_of(trace, event_text, messages, story);
    const auto& [source, destination, sequence] = row.identity;
    if (options.csv) {
      put_line(fmt::format("{},{},{},{},{},{},{},{},{}", row.begin, row.took, source, destination,
                           sim::number_text(sequence), row.protocol, csv_field(row.fate), row.bytes,
                           csv_field(row.what)));
    } else {
      put_line(fmt::format("{:>14} {:>12}  {:<12} {:>12}  {:<18} {:<20} {}", row.begin, row.took,
                           fmt::format("{}:{}:{}", source, destination, sim::number_text(sequence)), row.bytes,
                           row.protocol, row.fate, row.what));
    }
  }
  if (left_out > 0 && !options.csv) put_line(sim::counted(left_out, "more message matches", "more messages match"));
  finish_output();
}

}  // namespace

void add_trace_messages(CLI::App& trace) {
  auto options = std::make_shared<MessagesOptions>();
  CLI::App* messages =
      trace.add_subcommand("messages", "print a line for each message: begin, duration, protocol, outcome");
  messages->add_option("folder", options->folder, "the folder of --trace")->required();
  add_message_choice(*messages, options->choice);
  messages->add_flag("--csv", options->csv, "print comma-separated values");
  messages->callback([options] { list_messages(*options); });
}

}  // namespace margay::command
