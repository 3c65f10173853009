// Tests of comparisons: the runs that they consist of, and their tables.
#include "command/simulate/comparison.hpp"

#include <doctest/doctest.h>

#include <set>
#include <string>
#include <vector>

namespace margay::command {
namespace {

using virtual_machine::Change;
using virtual_machine::RunReport;
using virtual_machine::Settings;
using Lines = std::vector<std::string>;

Comparison comparison_of(std::string_view machines, const std::vector<std::string>& sweeps) {
  Settings settings;
  settings.machine = "ideal";
  settings.changes = {{"seed", "3"}};
  Comparison comparison;
  const portals::Status status = Comparison::parse(machines, sweeps, settings, comparison);
  REQUIRE_MESSAGE(status.ok(), status.sentence());
  return comparison;
}

// Reports of runs that end, of a millisecond times the number of the run.
std::vector<RunReport> reports_of(const Comparison& comparison) {
  std::vector<RunReport> reports(comparison.runs());
  for (std::size_t run = 0; run < reports.size(); ++run) {
    reports[run].exit_status = 0;
    reports[run].virtual_ns = 1'000'000 * (run + 1);
  }
  return reports;
}

}  // namespace

TEST_CASE("a comparison has a run for each machine and each combination of values, once") {
  const Comparison comparison =
      comparison_of("paragon,sp2", {"short_limit=1k,2k,4k", "ranks=2,4", "coprocessor=true,false"});
  CHECK_EQ(comparison.columns(), 2);
  CHECK_EQ(comparison.rows(), 3);
  CHECK_EQ(comparison.tables(), 4);
  REQUIRE_EQ(comparison.runs(), 24);
  std::set<std::string> names;
  for (std::size_t run = 0; run < comparison.runs(); ++run) {
    names.insert(comparison.name_of(run));
    const Settings settings = comparison.settings_of(run);
    REQUIRE_EQ(settings.changes.size(), 4);
    CHECK_EQ(settings.changes[0], Change{"seed", "3"});
    CHECK_EQ(settings.changes[1].name, "short_limit");
  }
  CHECK_EQ(names.size(), 24);
  const std::size_t run = comparison.run_of(2, 1, 1);
  CHECK_EQ(comparison.name_of(run), "sp2, short_limit=2k, ranks=4, coprocessor=true");
  CHECK_EQ(comparison.settings_of(run).machine, "sp2");
  CHECK_EQ(comparison.table_title(2), "ranks=4, coprocessor=true");
}

TEST_CASE("a table compares machines in each row with the first machine") {
  const Comparison comparison = comparison_of("paragon,asci-red", {"short_limit=1k..4k"});
  std::vector<RunReport> reports = reports_of(comparison);
  reports[3].exit_status = 9;
  CHECK_EQ(comparison.lines(reports), Lines{
                                          "short_limit     paragon    asci-red   ratio",
                                          "1k                 1 ms        2 ms   2.000",
                                          "2k                 3 ms      failed       -",
                                          "4k                 5 ms        6 ms   1.200",
                                      });
}

TEST_CASE("a table of one machine compares its rows with the first row") {
  const Comparison comparison = comparison_of("", {"ranks=2,4"});
  CHECK_EQ(comparison.lines(reports_of(comparison)), Lines{
                                                         "ranks       ideal   ratio",
                                                         "2            1 ms   1.000",
                                                         "4            2 ms   2.000",
                                                     });
}

TEST_CASE("machines without a sweep are one row; further sweeps are further tables") {
  const Comparison machines = comparison_of("paragon,sp2", {});
  CHECK_EQ(machines.lines(reports_of(machines)),
           Lines{"     paragon         sp2   ratio", "        1 ms        2 ms   2.000"});
  const Comparison tables = comparison_of("paragon", {"ranks=2,4", "collective=allreduce=tree,bucket"});
  const Lines lines = tables.lines(reports_of(tables));
  REQUIRE_EQ(lines.size(), 9);
  CHECK_EQ(lines[0], "collective=allreduce=tree");
  CHECK_EQ(lines[4], "");
  CHECK_EQ(lines[5], "collective=allreduce=bucket");
}

TEST_CASE("the ratio to a time of 0, or to a run that failed, is omitted") {
  const Comparison comparison = comparison_of("ideal,paragon", {});
  std::vector<RunReport> reports = reports_of(comparison);
  reports[0].virtual_ns = 0;
  CHECK(comparison.lines(reports)[1].ends_with(" -"));
  reports[0].virtual_ns = 5;
  reports[0].exit_status = RunReport::kNoStatus;
  CHECK(comparison.lines(reports)[1].ends_with(" -"));
}

TEST_CASE("an invalid comparison is an error that names the option") {
  const struct {
    const char* machines;
    std::vector<std::string> sweeps;
    const char* part;
  } cases[] = {
      {"paragon,,sp2", {}, "--compare"},
      {",", {}, "--compare"},
      {"paragon,paragon", {}, "--compare"},
      {"paragon", {"ranks"}, "--sweep"},
      {"paragon", {"ranks=1", "ranks=2"}, "--sweep"},
      {"paragon", {"ranks=1..60000", "seed=1..60000", "short_limit=1..60000", "hop_ns=1..60000"}, "runs"},
  };
  for (const auto& one : cases) {
    CAPTURE(one.machines);
    Comparison comparison;
    const portals::Status status = Comparison::parse(one.machines, one.sweeps, Settings(), comparison);
    REQUIRE_FALSE(status.ok());
    CHECK_MESSAGE(status.sentence().find(one.part) != std::string::npos, status.sentence());
  }
}

TEST_CASE("virtual times have four digits and a unit") {
  const struct {
    std::uint64_t ns;
    const char* text;
  } cases[] = {{0, "0 ns"},
               {999, "999 ns"},
               {1'000, "1 us"},
               {12'345'678, "12.35 ms"},
               {999'960'000, "1000 ms"},
               {3'600'000'000'000, "3600 s"},
               {1'234'567'890, "1.235 s"}};
  for (const auto& one : cases) CHECK_EQ(virtual_time_text(one.ns), one.text);
}

}  // namespace margay::command
