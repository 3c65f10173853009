#include "sim/cli/trace_command.hpp"

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>
#include <utility>

#include "portals/verdict.hpp"
#include "sim/trace/audit.hpp"
#include "sim/trace/filter.hpp"
#include "sim/trace/reader.hpp"
#include "sim/trace/text.hpp"
#include "sim/wire/wire.hpp"

namespace margay::sim {

namespace {

using portals::Status;

constexpr int kBadTrace = 1;
constexpr int kViolations = 2;

// What the command line says; alive as long as the application's callbacks.
struct PrintOptions {
  std::string folder;
  std::vector<std::uint32_t> ranks;
  std::vector<std::string> kinds;
  std::string message;
  std::optional<double> from_us;
  std::optional<double> to_us;
  std::uint64_t head = 0;
  std::uint64_t tail = 0;
  bool absolute = false;
};

[[noreturn]] void fail(const Status& status) {
  fmt::print(stderr, "margay {}\n", status.sentence());
  throw CLI::RuntimeError(kBadTrace);
}

// One line to standard output. What cannot be written (a full file system) is found by finish_output().
void put_line(std::string line) {
  line += '\n';
  static_cast<void>(std::fwrite(line.data(), 1, line.size(), stdout));
}

void finish_output() {
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
    fail(Status::error("trace: standard output could not be written; is its file system full?"));
  }
}

void load(const std::string& folder, Trace& trace) {
  if (Status status = read_trace(folder, trace); !status.ok()) fail(status);
}

std::string_view wire_text(std::uint8_t wire) {
  return wire < kWireCount ? name(static_cast<WireId>(wire)) : "unknown wire";
}

// Requires: a time that check_times() let pass.
std::uint64_t since(std::uint64_t origin_ns, double microseconds) {
  constexpr double kLimitUs = 1e15;  // thirty years: beyond it a double loses nanoseconds and the sum could wrap
  return origin_ns + static_cast<std::uint64_t>(std::llround(std::min(microseconds, kLimitUs) * 1000.0));
}

Status check_times(const PrintOptions& options) {
  for (const auto& [name, time_us] : {std::pair("--from", options.from_us), std::pair("--to", options.to_us)}) {
    if (!time_us || (std::isfinite(*time_us) && *time_us >= 0)) continue;
    return Status::error(fmt::format("{} {}: it takes microseconds after the first event, 0 or more, as in {} 12.5",
                                     name, *time_us, name));
  }
  if (options.from_us && options.to_us && *options.from_us > *options.to_us) {
    return Status::error(fmt::format("--from {} lies after --to {}: nothing is between them; exchange the two",
                                     *options.from_us, *options.to_us));
  }
  return {};
}

TraceFilter make_filter(const PrintOptions& options, const Trace& trace, std::uint64_t origin_ns) {
  if (Status status = check_ranks(trace, options.ranks); !status.ok()) {
    fail(Status::error(fmt::format("trace: --rank: {} ({})", status.sentence(), options.folder)));
  }
  TraceFilter filter;
  filter.ranks = options.ranks;
  for (const std::string& word : options.kinds) {
    const std::optional<TraceKind> kind = trace_kind(word);
    if (!kind) {
      std::string known;
      for (std::uint16_t i = 1; i < kTraceKindCount; ++i) known += " " + std::string(name(static_cast<TraceKind>(i)));
      fail(Status::error(fmt::format("trace: --kind {}: there is no such event; there are{}", word, known)));
    }
    filter.kinds.push_back(*kind);
  }
  if (!options.message.empty()) {
    filter.message.emplace();
    if (Status status = parse_message(options.message, *filter.message); !status.ok()) {
      fail(Status::error("trace: --message: " + status.sentence()));
    }
  }
  if (options.from_us) filter.from_ns = since(origin_ns, *options.from_us);
  if (options.to_us) filter.to_ns = since(origin_ns, *options.to_us);
  filter.head = options.head;
  filter.tail = options.tail;
  return filter;
}

void print_files(const Trace& trace) {
  for (const TraceFile& file : trace.files) {
    put_line(fmt::format("# rank {} of {}, node {}, process {}: {} events{}{}{}", file.rank, file.size, file.node,
                         file.process_id, file.written,
                         file.lost != 0 ? fmt::format(", the first {} lost (overwritten)", file.lost) : "",
                         file.damaged != 0 ? fmt::format(", {} damaged", file.damaged) : "",
                         file.closed ? "" : ", not closed (still running, or killed)"));
  }
}

void print_trace(const PrintOptions& options) {
  if (Status status = check_times(options); !status.ok()) fail(Status::error("trace: " + status.sentence()));
  Trace trace;
  load(options.folder, trace);
  const std::uint64_t first_ns = trace.entries.empty() ? 0 : trace.entries.front().event.time;
  const std::vector<std::size_t> picked = pick(trace, make_filter(options, trace, first_ns));
  print_files(trace);
  put_line(text_heading());
  for (const std::size_t i : picked) {
    put_line(text_line(trace, trace.entries[i], options.absolute ? 0 : first_ns, wire_text));
  }
  finish_output();
}

void check_trace(const std::string& folder) {
  Trace trace;
  load(folder, trace);
  const Audit result = audit(trace);
  put_line(fmt::format("{:>8} {:>8} {:>10} {:>10} {:>10} {:>10} {:>10}", "from", "to", "sent", "delivered", "dropped",
                       "on the way", "unknown"));
  for (const auto& [pair, counts] : result.pairs) {
    put_line(fmt::format("{:>8} {:>8} {:>10} {:>10} {:>10} {:>10} {:>10}", pair.first, pair.second, counts.sent,
                         counts.delivered, counts.dropped, counts.on_the_way, counts.unknown));
  }
  for (const auto& [reason, count] : result.drops) {
    const bool known = reason < portals::kDropReasonCount;
    put_line(fmt::format("dropped, {}: {}", known ? name(static_cast<portals::DropReason>(reason)) : "unknown reason",
                         count));
  }
  for (const std::string& note : result.notes) put_line(fmt::format("note: {}", note));
  for (const std::string& sentence : result.violations) put_line(fmt::format("WRONG: {}", sentence));
  if (result.violation_count > result.violations.size()) {
    put_line(fmt::format("WRONG: ... and {} more", result.violation_count - result.violations.size()));
  }
  if (result.violation_count == 0) {
    put_line(result.notes.empty() ? "the accounts are right: sent = delivered + dropped for every pair"
                                  : "nothing wrong was found, as far as the notes allow");
  }
  finish_output();
  if (result.violation_count != 0) throw CLI::RuntimeError(kViolations);
}

void add_print(CLI::App& trace) {
  auto options = std::make_shared<PrintOptions>();
  CLI::App* print = trace.add_subcommand("print", "print the events of all ranks by time, one line each");
  print->add_option("folder", options->folder, "what --trace named")->required();
  print->add_option("--rank", options->ranks, "only what these ranks recorded")
      ->delimiter(',')
      ->allow_extra_args(false);
  print->add_option("--kind", options->kinds, "only these events, as in kernel_send,kernel_arrive")
      ->delimiter(',')
      ->allow_extra_args(false);
  print->add_option("--message", options->message, "only one message and its answers: SOURCE:DESTINATION:SEQUENCE");
  print->add_option("--from", options->from_us, "from so many microseconds after the first event");
  print->add_option("--to", options->to_us, "until so many microseconds after the first event");
  print->add_option("--head", options->head, "at most so many lines");
  print->add_option("--tail", options->tail, "only the last so many lines");
  print->add_flag("--absolute", options->absolute, "times since the clock's own beginning, not since the first event");
  print->callback([options] { print_trace(*options); });
}

void add_check(CLI::App& trace) {
  auto folder = std::make_shared<std::string>();
  CLI::App* check = trace.add_subcommand("check", "hold the accounts of a trace: what was sent, arrived, was dropped");
  check->add_option("folder", *folder, "what --trace named")->required();
  check->callback([folder] { check_trace(*folder); });
}

}  // namespace

void add_trace_command(CLI::App& app) {
  CLI::App* trace = app.add_subcommand("trace", "read the traces that `margay run --trace DIR` recorded");
  trace->require_subcommand(1);
  add_print(*trace);
  add_check(*trace);
}

}  // namespace margay::sim
