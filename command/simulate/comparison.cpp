#include "command/simulate/comparison.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sim/base/text.hpp"
#include "virtual_machine/model/changes.hpp"

namespace margay::command {
namespace {

using portals::Status;
using virtual_machine::Change;
using virtual_machine::RunReport;
using virtual_machine::Settings;

// Columns of text.
constexpr std::size_t kTimeWidth = 10;
constexpr std::size_t kRatioWidth = 7;

Status parse_machines(std::string_view text, std::vector<std::string>& out) {
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const std::string name(text.substr(begin, end - begin));
    begin = end + 1;
    if (name.empty()) {
      return Status::error(
          fmt::format("option --compare: \"{}\": a name is empty: write machines with one comma between them",
                      sim::one_line(text)));
    }
    if (std::find(out.begin(), out.end(), name) != out.end()) {
      return Status::error(
          fmt::format("option --compare: machine {} is there twice: name each once", sim::one_line(name)));
    }
    out.push_back(name);
  }
  return {};
}

std::string ratio_text(const RunReport& report, const RunReport& base) {
  if (!has_result(report) || !has_result(base) || base.virtual_ns == 0) return "-";
  return fmt::format("{:.3f}", static_cast<double>(report.virtual_ns) / static_cast<double>(base.virtual_ns));
}

std::string cell_text(const RunReport& report) {
  return has_result(report) ? virtual_time_text(report.virtual_ns) : "failed";
}

std::string without_end_blanks(std::string line) {
  line.erase(line.find_last_not_of(' ') + 1);
  return line;
}

}  // namespace

bool has_result(const RunReport& report) {
  return report.exit_status == 0;
}

std::string virtual_time_text(std::uint64_t ns) {
  const auto time = static_cast<double>(ns);
  if (ns < 1'000) return fmt::format("{} ns", ns);
  if (ns < 1'000'000) return fmt::format("{:.4g} us", time / 1e3);
  if (ns < 1'000'000'000) return fmt::format("{:.4g} ms", time / 1e6);
  return fmt::format("{:.{}f} s", time / 1e9, ns < 1'000'000'000'000 ? 3 : 0);
}

Status Comparison::parse(std::string_view machines, const std::vector<std::string>& sweeps, const Settings& settings,
                         Comparison& out) {
  Comparison comparison;
  comparison.settings_ = settings;
  if (machines.empty()) {
    comparison.machines_ = {settings.machine};
  } else if (Status status = parse_machines(machines, comparison.machines_); !status.ok()) {
    return status;
  }
  std::size_t runs = comparison.machines_.size();
  for (const std::string& text : sweeps) {
    Sweep sweep;
    if (Status status = parse_sweep(text, sweep); !status.ok()) return status;
    for (const Sweep& other : comparison.sweeps_) {
      if (other.title() != sweep.title()) continue;
      return Status::error(fmt::format("option --sweep: {} is there twice: give all its values in one option",
                                       sim::one_line(sweep.title())));
    }
    runs *= sweep.values.size();
    if (runs > kRunsMost) {
      return Status::error(fmt::format("option --sweep: more than {} runs: use several commands", kRunsMost));
    }
    comparison.sweeps_.push_back(std::move(sweep));
  }
  out = std::move(comparison);
  return {};
}

std::size_t Comparison::tables() const {
  std::size_t count = 1;
  for (std::size_t i = 1; i < sweeps_.size(); ++i) count *= sweeps_[i].values.size();
  return count;
}

// The last sweep's value changes with each table.
std::vector<Change> Comparison::changes_of(std::size_t table, std::size_t row) const {
  std::vector<Change> changes;
  for (std::size_t i = sweeps_.size(); i-- > 1;) {
    changes.push_back(sweeps_[i].change(table % sweeps_[i].values.size()));
    table /= sweeps_[i].values.size();
  }
  if (!sweeps_.empty()) changes.push_back(sweeps_.front().change(row));
  std::reverse(changes.begin(), changes.end());
  return changes;
}

Settings Comparison::settings_of(std::size_t run) const {
  Settings settings = settings_;
  settings.machine = machines_[run % columns()];
  const std::size_t row = run / columns();
  for (Change& change : changes_of(row / rows(), row % rows())) settings.changes.push_back(std::move(change));
  return settings;
}

std::string Comparison::name_of(std::size_t run) const {
  std::string name = machines_[run % columns()];
  const std::size_t row = run / columns();
  for (const Change& change : changes_of(row / rows(), row % rows())) name += ", " + change.name + "=" + change.value;
  return name;
}

std::string Comparison::table_title(std::size_t table) const {
  std::string title;
  const std::vector<Change> changes = changes_of(table, 0);
  for (std::size_t i = 1; i < changes.size(); ++i)
    title += (title.empty() ? "" : ", ") + changes[i].name + "=" + changes[i].value;
  return title;
}

bool Comparison::sweeps(std::string_view name) const {
  return std::any_of(sweeps_.begin(), sweeps_.end(), [&](const Sweep& sweep) { return sweep.name == name; });
}

std::optional<double> Comparison::row_number(std::size_t row) const {
  return sweeps_.empty() ? std::nullopt : virtual_machine::number_of(sweeps_.front().name, row_name(row));
}

std::vector<std::string> Comparison::lines(const std::vector<RunReport>& reports) const {
  std::size_t first_width = row_title().size();
  for (std::size_t row = 0; row < rows(); ++row) first_width = std::max(first_width, row_name(row).size());
  const auto column_width = [&](std::size_t column) { return std::max(kTimeWidth, machines_[column].size()); };
  // With several machines the first one is the base.
  const auto has_ratio = [&](std::size_t column) { return columns() == 1 ? rows() > 1 : column > 0; };

  std::vector<std::string> lines;
  for (std::size_t table = 0; table < tables(); ++table) {
    if (table > 0) lines.emplace_back();
    if (const std::string title = table_title(table); !title.empty()) lines.push_back(title);
    std::string head = fmt::format("{:<{}}", row_title(), first_width);
    for (std::size_t column = 0; column < columns(); ++column) {
      head += fmt::format("  {:>{}}", machines_[column], column_width(column));
      if (has_ratio(column)) head += fmt::format(" {:>{}}", "ratio", kRatioWidth);
    }
    lines.push_back(without_end_blanks(head));
    for (std::size_t row = 0; row < rows(); ++row) {
      std::string line = fmt::format("{:<{}}", row_name(row), first_width);
      for (std::size_t column = 0; column < columns(); ++column) {
        const RunReport& report = reports[run_of(table, row, column)];
        const RunReport& base = reports[columns() == 1 ? run_of(table, 0, 0) : run_of(table, row, 0)];
        line += fmt::format("  {:>{}}", cell_text(report), column_width(column));
        if (has_ratio(column)) line += fmt::format(" {:>{}}", ratio_text(report, base), kRatioWidth);
      }
      lines.push_back(without_end_blanks(line));
    }
  }
  return lines;
}

}  // namespace margay::command
