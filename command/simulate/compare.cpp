#include "command/simulate/compare.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string_view>

#include "command/line/line_mistakes.hpp"
#include "command/simulate/comparison.hpp"
#include "command/simulate/comparison_plot.hpp"
#include "command/simulate/comparison_runs.hpp"
#include "sim/base/text.hpp"
#include "virtual_machine/model/run_report.hpp"

namespace margay::command {
namespace {

using portals::Status;
using virtual_machine::RunReport;

constexpr int kStatusNotCompared = 1;
// The most lines that are printed of the error output of a failed run.
constexpr std::size_t kErrorLinesMost = 10;

int end_comparison(const Status& status, int exit_status) {
  std::fprintf(stderr, "margay simulate: %s\n", sim::for_terminal(status.sentence()).c_str());
  return exit_status;
}

// The first lines of a text, each two columns to the right.
std::string first_lines(std::string_view text) {
  std::string out;
  for (std::size_t line = 0; !text.empty(); ++line) {
    if (line == kErrorLinesMost) return out + "  ...\n";
    const std::size_t end = std::min(text.find('\n'), text.size());
    out += "  " + std::string(text.substr(0, end)) + "\n";
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

void print_failure(const std::string& name, const RunReport& report, const std::string& errors) {
  const std::string text = first_lines(errors.empty() ? report.error : errors);
  std::fprintf(stderr, "margay simulate: run %s failed with exit status %d\n%s", sim::for_terminal(name).c_str(),
               report.exit_status, sim::for_terminal(text).c_str());
}

// The orders of all runs, checked before any of them begins.
Status make_orders(const Comparison& comparison, const SimulateOrder& base, std::vector<SimulateOrder>& out,
                   int& exit_status) {
  for (std::size_t run = 0; run < comparison.runs(); ++run) {
    SimulateOrder order = base;
    order.settings = comparison.settings_of(run);
    order.settings.report.clear();
    order.swept = order.settings.changes.size() - base.settings.changes.size();
    if (const Status status = check_order(order, exit_status); !status.ok())
      return Status::error(fmt::format("run {}: {}", comparison.name_of(run), status.sentence()));
    out.push_back(std::move(order));
  }
  return {};
}

// Creates the file of an option, or tests that it can be written. No effect for "" and "-".
Status create_file(std::string_view option, const std::string& path) {
  if (path.empty() || path == "-") return {};
  std::FILE* const file = std::fopen(path.c_str(), "ae");
  if (file == nullptr)
    return Status::error(fmt::format("option {}: cannot write {}: {}", option, path, std::strerror(errno)));
  std::fclose(file);
  return {};
}

Status write_svg(const std::string& path, const std::string& picture) {
  if (path.empty()) return {};
  std::FILE* const file = path == "-" ? stdout : std::fopen(path.c_str(), "we");
  bool is_written = file != nullptr && std::fputs(picture.c_str(), file) >= 0;
  if (file != nullptr && file != stdout) is_written = std::fclose(file) == 0 && is_written;
  return is_written ? Status()
                    : Status::error(fmt::format("option --svg: cannot write {}: {}", path, std::strerror(errno)));
}

// `order`: one of the comparison's.
std::string title_of(const SimulateOrder& order, const Comparison& comparison) {
  const bool has_ranks = comparison.sweeps("ranks");
  const std::string& path = order.recording != nullptr ? order.recording->folder : order.command[0];
  return (order.recording != nullptr ? "replayed time of " : "virtual time of ") + path.substr(path.rfind('/') + 1) +
         (has_ranks ? "" : ", " + sim::counted(order.settings.ranks, "rank"));
}

}  // namespace

int compare(const CompareOrder& order, const SimulateOrder& base) {
  Comparison comparison;
  const Status parsed = Comparison::parse(order.machines, order.sweeps, base.settings, comparison);
  if (!parsed.ok()) return end_comparison(parsed, kStatusBadCommandLine);
  std::vector<SimulateOrder> orders;
  int exit_status = 0;
  if (const Status made = make_orders(comparison, base, orders, exit_status); !made.ok())
    return end_comparison(made, exit_status);
  // Wrong paths fail before the runs, which may take hours.
  const std::string& report = base.settings.report;
  if (const Status created = create_file("--report", report); !created.ok())
    return end_comparison(created, kStatusNotCompared);
  if (const Status created = create_file("--svg", order.svg); !created.ok())
    return end_comparison(created, kStatusNotCompared);

  std::vector<RunReport> reports;
  const ReportFailure report_failure = [&](std::size_t run, const RunReport& failed, const std::string& errors) {
    print_failure(comparison.name_of(run), failed, errors);
  };
  if (const Status ended = run_orders(orders, order.jobs, report_failure, reports); !ended.ok())
    return end_comparison(ended, kStatusNotCompared);
  const std::string title = title_of(orders.front(), comparison);
  if (order.svg != "-") {
    std::printf("%s\n", sim::for_terminal(title).c_str());
    for (const std::string& line : comparison.lines(reports)) std::printf("%s\n", sim::for_terminal(line).c_str());
  }
  if (const Status written = write_svg(order.svg, plot_comparison(comparison, reports, title)); !written.ok())
    return end_comparison(written, kStatusNotCompared);
  if (const Status written = virtual_machine::write_reports(report, reports); !written.ok())
    return end_comparison(written, kStatusNotCompared);
  const auto failed =
      std::find_if(reports.begin(), reports.end(), [](const RunReport& one) { return !has_result(one); });
  return failed == reports.end() ? 0 : failed->exit_status;
}

}  // namespace margay::command
