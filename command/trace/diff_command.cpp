#include "command/trace/trace_command.hpp"

#include <CLI/CLI.hpp>
#include <memory>
#include <ostream>
#include <string>
#include <utility>

#include "command/line/line_mistakes.hpp"
#include "command/trace/common.hpp"
#include "command/trace/diff/difference.hpp"
#include "command/trace/export_output.hpp"

namespace margay::command {

namespace {

using portals::Status;

// The most rows of a section that are printed.
constexpr std::size_t kRowsMost = 20;

struct DiffOptions {
  std::string a;
  std::string b;
  // "": none; "-": standard output, in place of the table.
  std::string json;
  std::size_t count = kRowsMost;
};

// One trace is in memory at a time.
RunSums read_sums(const std::string& folder) {
  Trace trace;
  load_trace(folder, trace);
  warn_unsealed(trace);
  return sums_of(folder, trace);
}

void write_json(const std::string& path, const Difference& difference) {
  ExportOutput output;
  if (Status status = output.open(path); !status.ok()) fail_trace(status);
  output.stream() << difference_json(difference) << '\n';
  if (Status status = output.close(); !status.ok()) fail_trace(status);
}

void diff_traces(const DiffOptions& options) {
  RunSums a = read_sums(options.a);
  const Difference difference = compare(std::move(a), read_sums(options.b));
  if (!options.json.empty()) write_json(options.json, difference);
  if (options.json != "-") {
    for (std::string& line : difference_lines(difference, options.count)) put_line(std::move(line));
    finish_output();
  }
  if (!difference.has_equal_counts) throw CLI::RuntimeError(kTraceDiffers);
}

}  // namespace

void add_trace_diff(CLI::App& trace) {
  auto options = std::make_shared<DiffOptions>();
  CLI::App* diff = trace.add_subcommand("diff", "compare two traces: totals, calls, pairs, ranks, critical paths");
  diff->add_option("a", options->a, "the folder of --trace of one run")->required();
  diff->add_option("b", options->b, "the folder of --trace of another run")->required();
  diff->add_option("--json", options->json,
                   "write all numbers as JSON into this file as well; -: to standard output, instead of the table");
  diff->add_option("--count", options->count, "print at most this many rows of each section (default 20)")
      ->check(whole_number(1));
  diff->callback([options] { diff_traces(*options); });
}

}  // namespace margay::command
