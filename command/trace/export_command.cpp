#include "command/trace/trace_command.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "command/trace/common.hpp"
#include "command/trace/export/exports.hpp"
#include "command/trace/export/timeline.hpp"
#include "command/trace/export_output.hpp"
#include "command/trace/message_choice.hpp"
#include "command/trace/story/collectives.hpp"
#include "sim/base/text.hpp"

namespace margay::command {

namespace {

using portals::Status;

struct ExportOptions {
  std::string folder;
  std::string format;
  std::string output;
  std::string table = "messages";
  MessageChoice choice;
  double flops_per_second = 1e9;
  // Options that some formats do not use; kept to detect that one was given without effect.
  CLI::Option* table_option = nullptr;
  CLI::Option* flops_option = nullptr;
  std::vector<CLI::Option*> choice_options;
};

// The highest value of --flops: far above any processor's rate, and the work of a day at this rate is still exact
// enough in a double.
constexpr double kFlopsMost = 1e18;

// The input of all formats.
struct ExportJob {
  const ExportOptions& options;
  const ExportSource& source;
  std::vector<MessageStory> stories;
};

enum class Shape { text, binary, folder };
// One row of the table of formats. A format writes to a stream or to a folder.
struct Format {
  std::string_view name;
  Shape shape;
  void (*to_stream)(const ExportJob& job, std::ostream& out);
  void (*to_folder)(const ExportJob& job, const std::string& folder) = nullptr;
};

// The chart of the chosen messages. Fails if it is too large, because a truncated chart could mislead.
Chart small_chart(const ExportJob& job) {
  Chart chart = chart_of(job.source, job.stories);
  if (chart.arrows > kChartArrowsMost) {
    fail_trace(Status::error(
        fmt::format("trace: {}: {} a chart of {}, and one of more than {} is not readable: choose fewer with "
                    "--from, --to, --tag, --slowest, --dropped, --unexpected, --never-received, and --count N",
                    job.options.folder, sim::counted(job.stories.size(), "message makes", "messages make"),
                    sim::counted(chart.arrows, "arrow"), kChartArrowsMost)));
  }
  return chart;
}

void put_table(const ExportJob& job, std::ostream& out) {
  if (job.options.table == "events") return write_events_csv(job.source, out);
  if (job.options.table == "calls") return write_calls_csv(job.source, out);
  write_messages_csv(job.source, job.stories, out);
}

// The numbers of omitted messages go to standard error, since the output is a folder.
void put_replay(const ExportJob& job, const std::string& folder) {
  Replay replay;
  if (Status status = replay_of(job.source, job.stories, job.options.flops_per_second, replay); !status.ok()) {
    fail_trace(status);
  }
  if (Status status = write_smpi_ti(replay, folder); !status.ok()) fail_trace(status);
  if (replay.left_out_messages + replay.left_out_accesses + replay.left_out_calls != 0) {
    fmt::print(stderr,
               "margay trace: left out of {}: {} (one-sided, the library's own, cancelled, not received, or with an "
               "end that is not in the trace); {} of windows; {} through a node's memory for which the trace does "
               "not record who read what\n",
               sim::for_terminal(job.options.output), sim::counted(replay.left_out_messages, "message"),
               sim::counted(replay.left_out_accesses, "access", "accesses"),
               sim::counted(replay.left_out_calls, "collective call"));
  }
}

void put_otf2(const ExportJob& job, const std::string& folder) {
  if (Status status = write_otf2(job.source, job.stories, folder); !status.ok()) fail_trace(status);
}

// A new format is one row here and one writer.
constexpr std::array kFormats = {
    Format{"chrome", Shape::text,
           [](const ExportJob& job, std::ostream& out) { write_chrome(job.source, job.stories, out); }},
    Format{"perfetto", Shape::binary,
           [](const ExportJob& job, std::ostream& out) { write_perfetto(job.source, job.stories, out); }},
    Format{"csv", Shape::text, put_table},
    Format{"json", Shape::text, [](const ExportJob& job, std::ostream& out) { write_json(job.source.trace, out); }},
    Format{"mermaid", Shape::text,
           [](const ExportJob& job, std::ostream& out) { write_mermaid(small_chart(job), out); }},
    Format{"msc", Shape::text, [](const ExportJob& job, std::ostream& out) { write_msc(small_chart(job), out); }},
    Format{"pcapng", Shape::binary, [](const ExportJob& job, std::ostream& out) { write_pcapng(job.source, out); }},
    Format{"smpi-ti", Shape::folder, nullptr, put_replay},
    Format{"otf2", Shape::folder, nullptr, put_otf2},
};

std::string format_names(std::string_view separator) {
  std::string names;
  for (const Format& format : kFormats)
    names += (names.empty() ? "" : std::string(separator)) + std::string(format.name);
  return names;
}

// Fails with a list of the formats.
const Format& format_of(const ExportOptions& options) {
  for (const Format& format : kFormats) {
    if (format.name == options.format) return format;
  }
  fail_trace(Status::error(
      fmt::format("trace: --format {}: unknown format; formats are {}", options.format, format_names(", "))));
}

// Error: an option would have no effect on this format.
Status check_used(const ExportOptions& options, const Format& format) {
  const bool is_csv = format.name == "csv";
  const auto unused = [&](const CLI::Option* option, std::string_view use) {
    const std::string table = is_csv && options.table != "messages" ? " --table " + options.table : "";
    return Status::error(fmt::format("trace: {} has no effect with --format {}{}: it is for {}", option->get_name(),
                                     format.name, table, use));
  };
  if (!is_csv && options.table_option->count() > 0) return unused(options.table_option, "csv");
  if (format.name != "smpi-ti" && options.flops_option->count() > 0) return unused(options.flops_option, "smpi-ti");
  // These formats write events without grouping them by message, so options that choose messages would be ignored
  // silently.
  const bool is_of_events = format.name == "pcapng" || format.name == "json" || (is_csv && options.table != "messages");
  if (!is_of_events) return {};
  for (const CLI::Option* option : options.choice_options) {
    if (option->count() > 0) return unused(option, "formats and tables of messages");
  }
  return {};
}

// Checks that need no trace. They precede the reading of the trace, which may take long.
void check_line(const ExportOptions& options, const Format& format) {
  const std::array<std::string_view, 3> tables = {"events", "messages", "calls"};
  if (std::find(tables.begin(), tables.end(), options.table) == tables.end()) {
    fail_trace(Status::error(
        fmt::format("trace: --table {}: unknown table; tables are events, messages and calls", options.table)));
  }
  if (Status status = check_used(options, format); !status.ok()) fail_trace(status);
  const bool to_stdout = options.output.empty() || options.output == "-";
  if (format.shape == Shape::folder && to_stdout) {
    fail_trace(Status::error(fmt::format("trace: --format {} writes a folder of files: name it with -o", format.name)));
  }
  if (format.shape == Shape::binary && to_stdout && isatty(STDOUT_FILENO) == 1) {
    fail_trace(Status::error(fmt::format(
        "trace: --format {} is binary, and standard output is a terminal: name a file with -o", format.name)));
  }
}

void write_stream(const ExportJob& job, const Format& format) {
  ExportOutput output;
  if (Status status = output.open(job.options.output); !status.ok()) fail_trace(status);
  format.to_stream(job, output.stream());
  if (Status status = output.close(); !status.ok()) fail_trace(status);
}

void write_folder(const ExportJob& job, const Format& format) {
  ExportFolder output;
  if (Status status = output.open(job.options.output); !status.ok()) fail_trace(status);
  format.to_folder(job, output.written());
  if (Status status = output.close(); !status.ok()) fail_trace(status);
}

// Options are checked before the trace is read, and the output is opened after it.
void export_trace(const ExportOptions& options, const CallSite& call_site) {
  const Format& format = format_of(options);
  check_line(options, format);
  Trace trace;
  load_trace(options.folder, trace);
  warn_unsealed(trace);
  check_choice(options.choice, trace);
  const TraceNames names(trace, wire_text);
  const Messages messages(trace);
  const Collectives collectives(trace, names);
  const EventText event_text(trace, names, call_site, &collectives);
  const ExportSource source{trace, names, messages, event_text};
  ExportJob job{options, source, {}};
  MessageChoice choice = options.choice;
  // A replay needs the messages of collective calls.
  choice.all |= format.shape == Shape::folder;
  job.stories = choose(choice, trace, names, messages);
  // The list is cut after choose(), so that --count applies to the order of --slowest.
  if (job.stories.size() > choice.count.value_or(job.stories.size())) job.stories.resize(*choice.count);
  if (format.shape == Shape::folder) {
    write_folder(job, format);
  } else {
    write_stream(job, format);
  }
}

}  // namespace

void add_trace_export(CLI::App& trace, const CallSite& call_site) {
  auto options = std::make_shared<ExportOptions>();
  CLI::App* command = trace.add_subcommand("export", "write the trace in the format of another tool");
  command->add_option("folder", options->folder, "the folder of --trace")->required();
  command->add_option("--format", options->format, format_names(", "))->required();
  command->add_option("-o,--output", options->output, "the file or folder to write (default: standard output)");
  options->table_option = command->add_option("--table", options->table, "csv: events, messages or calls");
  options->choice_options = add_message_choice(*command, options->choice);
  options->flops_option =
      command
          ->add_option("--flops", options->flops_per_second,
                       "smpi-ti: floating-point operations per second of computation")
          ->check([](const std::string& word) {
            const double number = std::strtod(word.c_str(), nullptr);
            return number > 0 && number <= kFlopsMost
                       ? std::string()
                       : fmt::format("the value is a number above 0 and at most {}, as in --flops 1e9", kFlopsMost);
          });
  command->callback([options, call_site] { export_trace(*options, call_site); });
}

}  // namespace margay::command
