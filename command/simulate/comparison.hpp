// A comparison of simulated runs (`margay simulate --compare`, `--sweep`): its runs, and their virtual times as tables.
// Pure.
//
// A table has a column for each machine and a row for each value of the first sweep. Each combination of the values of
// the other sweeps has a table of its own. Runs are numbered by table, then row, then column.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "command/simulate/sweep.hpp"
#include "portals/base/status.hpp"
#include "virtual_machine/model/run_report.hpp"
#include "virtual_machine/model/settings.hpp"

namespace margay::command {

// The most runs of a comparison.
inline constexpr std::size_t kRunsMost = 10'000;

class Comparison {
 public:
  // `machines` and `sweeps`: the options' values; without machines, the settings' own is the only one. Error: names the
  // option and the cure. Names of machines, and the values of sweeps, are checked by the start of each run.
  [[nodiscard]] static portals::Status parse(std::string_view machines, const std::vector<std::string>& sweeps,
                                             const virtual_machine::Settings& settings, Comparison& out);

  [[nodiscard]] std::size_t columns() const { return machines_.size(); }
  [[nodiscard]] std::size_t rows() const { return sweeps_.empty() ? 1 : sweeps_.front().values.size(); }
  [[nodiscard]] std::size_t tables() const;
  [[nodiscard]] std::size_t runs() const { return tables() * rows() * columns(); }
  [[nodiscard]] std::size_t run_of(std::size_t table, std::size_t row, std::size_t column) const {
    return (table * rows() + row) * columns() + column;
  }

  // A run's settings: those of the command line, with its machine, and its values as further changes.
  [[nodiscard]] virtual_machine::Settings settings_of(std::size_t run) const;
  // A run in words: "paragon, short_limit=1k".
  [[nodiscard]] std::string name_of(std::size_t run) const;

  [[nodiscard]] const std::string& machine(std::size_t column) const { return machines_[column]; }
  // The values of the other sweeps, "ranks=4, seed=1"; empty: there are none.
  [[nodiscard]] std::string table_title(std::size_t table) const;
  // What the rows are ("short_limit"), and one row's value; empty without a sweep.
  [[nodiscard]] std::string row_title() const { return sweeps_.empty() ? "" : sweeps_.front().title(); }
  [[nodiscard]] std::string row_name(std::size_t row) const {
    return sweeps_.empty() ? "" : sweeps_.front().values[row];
  }
  [[nodiscard]] bool sweeps(std::string_view name) const;
  // A row's value as a number in the units of its field; nothing: it is none.
  [[nodiscard]] std::optional<double> row_number(std::size_t row) const;

  // The tables as lines. `reports`: one for each run. Ratios are to the first machine's time of the same row; with one
  // machine, to the first row's.
  [[nodiscard]] std::vector<std::string> lines(const std::vector<virtual_machine::RunReport>& reports) const;

 private:
  [[nodiscard]] std::vector<virtual_machine::Change> changes_of(std::size_t table, std::size_t row) const;

  virtual_machine::Settings settings_;
  // Not empty.
  std::vector<std::string> machines_;
  std::vector<Sweep> sweeps_;
};

// Whether a run has ended with exit status 0, so that its time counts.
[[nodiscard]] bool has_result(const virtual_machine::RunReport& report);

// A virtual time with four digits: "12.35 ms".
[[nodiscard]] std::string virtual_time_text(std::uint64_t ns);

}  // namespace margay::command
