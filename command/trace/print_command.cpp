#include "command/trace/trace_command.hpp"

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <utility>

#include "command/line/line_mistakes.hpp"
#include "command/trace/common.hpp"
#include "command/trace/names/end_words.hpp"
#include "command/trace/names/text.hpp"
#include "command/trace/read/filter.hpp"
#include "command/trace/story/collectives.hpp"
#include "command/trace/story/messages.hpp"
#include "sim/base/text.hpp"
#include "sim/boot/board.hpp"

namespace margay::command {

namespace {

using portals::Status;

// The options, which live as long as the application's callbacks.
struct PrintOptions {
  std::string folder;
  std::vector<std::uint32_t> ranks;
  std::vector<std::string> kinds;
  std::vector<std::string> not_kinds;
  std::vector<unsigned> portals;
  std::vector<std::string> calls;
  std::string message;
  std::string around;
  // Microseconds after the first event of the trace; without a value there is no bound.
  std::optional<double> since_us;
  std::optional<double> until_us;
  std::uint64_t head = 0;
  std::uint64_t tail = 0;
  bool absolute = false;
  bool all = false;
  bool raw = false;
};

// The time of an option in nanoseconds. Requires: a value that microseconds() accepted.
std::uint64_t since(std::uint64_t origin_ns, double microseconds) {
  // Thirty years; beyond it a double loses nanoseconds, and the sum could overflow.
  constexpr double kLimitUs = 1e15;
  return origin_ns + static_cast<std::uint64_t>(std::llround(std::min(microseconds, kLimitUs) * 1000.0));
}

Status check_times(const PrintOptions& options) {
  if (options.since_us && options.until_us && *options.since_us > *options.until_us) {
    return Status::error(fmt::format("--since {} lies after --until {}: nothing is between them; exchange the two",
                                     *options.since_us, *options.until_us));
  }
  return {};
}

// An unknown kind is an error that lists all: their names are not guessable.
std::vector<sim::TraceKind> kinds_of(const std::vector<std::string>& kind_names, std::string_view option) {
  std::vector<sim::TraceKind> kinds;
  for (const std::string& word : kind_names) {
    const std::optional<sim::TraceKind> kind = sim::trace_kind(word);
    if (!kind) {
      std::string known;
      for (std::uint16_t i = 1; i < sim::kTraceKindCount; ++i)
        known += " " + std::string(name(static_cast<sim::TraceKind>(i)));
      fail_trace(Status::error(fmt::format("trace: {} {}: unknown event; events are{}", option, word, known)));
    }
    kinds.push_back(*kind);
  }
  return kinds;
}

// The option's name is part of the error, because two options take a message.
MessageIdentity message_of(const std::string& text, std::string_view option) {
  MessageIdentity message;
  if (Status status = parse_message(text, message); !status.ok()) {
    fail_trace(Status::error(fmt::format("trace: {}: {}", option, status.sentence())));
  }
  return message;
}

// Whether the event is hidden by default: sleeping and waking, the coprocessor's activity, the library's own messages.
// They are frequent and seldom of interest.
bool is_quiet(const Trace::Entry& entry, const TraceNames& names) {
  switch (entry.event.kind) {
    case sim::TraceKind::sleep:
    case sim::TraceKind::wake:
    case sim::TraceKind::coprocessor_begin:
    case sim::TraceKind::coprocessor_end:
    case sim::TraceKind::shared_write:
    case sim::TraceKind::shared_read:
    case sim::TraceKind::poll_interval_changed:
      return true;
    default:
      return entry.event.portal != portals::kNoPortal && names.is_internal(entry.file, entry.event.portal);
  }
}

[[noreturn]] void fail_without_event(std::string_view option, const std::string& message) {
  fail_trace(
      Status::error(fmt::format("trace: {} {}: unknown message; the trace has no event of it", option, message)));
}

// An absent message is an error: an empty table would suggest that the message has no events of these kinds.
void check_message(const Trace& trace, const MessageIdentity& message, const std::string& text) {
  TraceFilter only;
  only.message = message;
  if (pick(trace, only).empty()) fail_without_event("--message", text);
}

// A name that no call has is a mistake: reported as an error, not as an empty table.
void check_call(const Trace& trace, const std::string& call) {
  const bool known = std::any_of(trace.files.begin(), trace.files.end(), [&](const TraceFile& file) {
    return std::find(file.names.begin(), file.names.end(), call) != file.names.end();
  });
  if (!known) {
    fail_trace(Status::error(fmt::format("trace: --call {}: unknown function; use a name such as MPI_Send", call)));
  }
}

// Restricts the times to those from a message's first step to its last, on all ranks.
void set_around(const Trace& trace, const Messages& messages, const std::string& text, TraceFilter& filter) {
  const MessageIdentity message = message_of(text, "--around");
  const MessageStory story = messages.story(messages.root_of(message));
  if (story.steps.empty()) fail_without_event("--around", text);
  filter.from_ns = trace.entries[story.steps.front()].event.time;
  filter.to_ns = trace.entries[story.steps.back()].event.time;
}

// Ranks are checked against the trace, not against the size of the job: a file may be missing.
TraceFilter make_filter(const PrintOptions& options, const Trace& trace, std::uint64_t origin_ns) {
  if (Status status = check_ranks(trace, options.ranks); !status.ok()) {
    fail_trace(Status::error(fmt::format("trace: --rank: {} ({})", status.sentence(), options.folder)));
  }
  TraceFilter filter;
  filter.ranks = options.ranks;
  filter.kinds = kinds_of(options.kinds, "--kind");
  filter.not_kinds = kinds_of(options.not_kinds, "--not-kind");
  filter.portals.assign(options.portals.begin(), options.portals.end());
  if (!options.message.empty()) filter.message = message_of(options.message, "--message");
  if (options.since_us) filter.from_ns = since(origin_ns, *options.since_us);
  if (options.until_us) filter.to_ns = since(origin_ns, *options.until_us);
  filter.head = options.head;
  filter.tail = options.tail;
  return filter;
}

// Whether hidden events are to be omitted: not if an option selects events explicitly.
bool hides(const PrintOptions& options) {
  return !options.all && options.kinds.empty() && options.portals.empty() && options.message.empty();
}

// An event outside of calls belongs to none.
bool is_in_call(const Trace& trace, const Messages& messages, std::size_t at, const std::vector<std::string>& calls) {
  const std::size_t enter = messages.call_around(at);
  if (enter == MessageStory::kNone) return false;
  const Trace::Entry& entry = trace.entries[enter];
  return std::find(calls.begin(), calls.end(), call_name(trace.files[entry.file], entry.event.a)) != calls.end();
}

// Prints one comment line (#) for each file, so that the output can be filtered by line.
void print_files(const Trace& trace) {
  for (const TraceFile& file : trace.files) {
    const std::string end = end_text(file);
    put_line(fmt::format("# rank {} of {}, node {}, process {}: {}{}{}", file.rank, file.size, file.node,
                         file.process_id, sim::counted(file.written, "event"),
                         file.lost == 0       ? ""
                         : file.left_out != 0 ? fmt::format(", the first {} not kept (--trace-last)", file.lost)
                                              : fmt::format(", the first {} lost (overwritten)", file.lost),
                         !end.empty()  ? ", " + end
                         : file.closed ? ""
                                       : ", not closed (still running, or killed)"));
  }
  if (const std::string text = unsealed_text(trace.files); !text.empty()) put_line("# " + text);
}

// Hidden events are announced, or readers would miss them without notice.
void put_hidden(const Trace& trace, const TraceNames& names) {
  const auto hidden = std::count_if(trace.entries.begin(), trace.entries.end(),
                                    [&](const Trace::Entry& entry) { return is_quiet(entry, names); });
  if (hidden == 0) return;
  put_line(fmt::format("# {} of sleeping, waking and the library's own messages {} not shown (--all)",
                       sim::counted(hidden, "event"), hidden == 1 ? "is" : "are"));
}

// Warns about ranks with several threads: call_around() returns the call of the thread that was seen last.
void put_threads(const Trace& trace, const Messages& messages) {
  for (std::uint32_t file = 0; file < trace.files.size(); ++file) {
    if (!messages.has_threads(file)) continue;
    put_line(fmt::format(
        "# rank {} calls MPI in several threads: an event may be assigned to the call of another thread, and be "
        "shown or left out for that",
        trace.files[file].rank));
  }
}

// Mistakes in options are reported before any line is printed.
void print_trace(const PrintOptions& options, const CallSite& call_site) {
  if (Status status = check_times(options); !status.ok()) fail_trace(Status::error("trace: " + status.sentence()));
  Trace trace;
  load_trace(options.folder, trace);
  const std::uint64_t first_ns = trace.entries.empty() ? 0 : trace.entries.front().event.time;
  const TraceNames names(trace, wire_text);
  const Messages messages(trace);
  TraceFilter filter = make_filter(options, trace, first_ns);
  if (!options.around.empty()) set_around(trace, messages, options.around, filter);
  const bool hide = hides(options);
  // pick() applies this test last, because it is the most expensive: it looks up a portal's definition or the call
  // around the event.
  filter.keep = [&](std::size_t at) {
    if (hide && is_quiet(trace.entries[at], names)) return false;
    return options.calls.empty() || is_in_call(trace, messages, at, options.calls);
  };
  const std::vector<std::size_t> picked = pick(trace, filter);
  if (filter.message) check_message(trace, *filter.message, options.message);
  for (const std::string& call : options.calls) check_call(trace, call);
  print_files(trace);
  if (hide) put_hidden(trace, names);
  if (!options.calls.empty()) put_threads(trace, messages);
  const std::uint64_t origin_ns = options.absolute ? 0 : first_ns;
  if (options.raw) {
    put_line(text_heading());
    for (const std::size_t i : picked) {
      const auto& [event, file] = trace.entries[i];
      // The match bits of a kernel_pass are an entry's criterion. Bits that the entry ignores are arbitrary, so they do
      // not form an envelope.
      const bool has_envelope = event.match_bits != 0 && event.kind != sim::TraceKind::kernel_pass;
      const std::string bits = has_envelope ? names.split(file, event.portal, event.match_bits) : "";
      put_line(text_line(trace, trace.entries[i], origin_ns, wire_text) + (bits.empty() ? "" : " (" + bits + ")"));
    }
  } else {
    const Collectives collectives(trace, names);
    const EventText event_text(trace, names, call_site, &collectives);
    put_line(fmt::format("{:>14} {:>5}  {:<14}  {}", "microseconds", "rank", "message", "what it does"));
    for (const std::size_t i : picked) {
      const Trace::Entry& entry = trace.entries[i];
      const sim::TraceEvent* const arrival =
          entry.event.kind == sim::TraceKind::kernel_pass ? messages.arrival(identity(entry.event)) : nullptr;
      put_line(fmt::format("{:>14} {:>5}  {:<14}  {}", time_text(entry.event.time, origin_ns),
                           trace.files[entry.file].rank, message_text(entry.event), event_text.of(entry, arrival)));
    }
  }
  finish_output();
}

}  // namespace

void add_trace_print(CLI::App& trace, const CallSite& call_site) {
  auto options = std::make_shared<PrintOptions>();
  CLI::App* print = trace.add_subcommand("print", "print the events of all ranks by time, one line each");
  print->add_option("folder", options->folder, "the folder of --trace")->required();
  print->add_option("--rank", options->ranks, "only events that these ranks recorded")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(whole_number(0, sim::kRanksMax - 1));
  print
      ->add_option("--kind", options->kinds,
                   "only these kinds of events, as in kernel_send,kernel_arrive; all kinds are listed below")
      ->delimiter(',')
      ->allow_extra_args(false);
  print->add_option("--not-kind", options->not_kinds, "all but these kinds of events")
      ->delimiter(',')
      ->allow_extra_args(false);
  print->add_option("--portal", options->portals, "only events at these portals")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(whole_number(0, portals::kPortalCount - 1));
  print->add_option("--call", options->calls, "only events inside these calls, as in MPI_Send,MPI_Recv")
      ->delimiter(',')
      ->allow_extra_args(false);
  CLI::Option* const around = print->add_option(
      "--around", options->around, "only events between a message's first step and its last, on all ranks");
  print->add_option("--message", options->message,
                    "only one message and its answers: SOURCE:DESTINATION:SEQUENCE, or '0>1 #17'");
  around->excludes(print->add_option("--since", options->since_us, "from this many microseconds after the first event")
                       ->check(microseconds()));
  around->excludes(print->add_option("--until", options->until_us, "until this many microseconds after the first event")
                       ->check(microseconds()));
  // --from and --to are ranks in the other commands, and would silently be taken for times here.
  for (const auto& [old, now] : {std::pair("--from", "--since"), std::pair("--to", "--until")}) {
    print
        ->add_option_function<std::string>(
            old,
            [old = old, now = now](const std::string& word) {
              fail_trace(Status::error(fmt::format(
                  "trace: print {0} {1}: {0} is a rank in story, messages and export; write {2} for a time in "
                  "microseconds, --rank for a rank",
                  old, word, now)));
            })
        ->group("");
  }
  print->add_option("--head", options->head, "only this many lines, from the first on")->check(whole_number(1));
  print->add_option("--last,--tail", options->tail, "only the last lines, this many")->check(whole_number(1));
  print->add_flag("--all", options->all, "also sleeping, waking and the library's own messages");
  print->add_flag("--raw", options->raw, "the numbers of each event instead of its meaning");
  print->add_flag("--absolute", options->absolute, "times since the clock's own beginning, not since the first event");
  std::string kinds = "Kinds of events, as --kind and --not-kind name them:";
  for (std::uint16_t kind = 1; kind < sim::kTraceKindCount; ++kind) {
    kinds += fmt::format("{}{}", kind == 1 ? " " : ", ", name(static_cast<sim::TraceKind>(kind)));
  }
  print->footer(kinds);
  print->callback([options, call_site] { print_trace(*options, call_site); });
}

}  // namespace margay::command
