// The comparison of two runs of an exploration.
#include "command/simulate/schedule_difference.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace margay::command;

namespace {

ScheduleRun run_with(int exit_status, std::vector<std::string> output, std::vector<std::string> findings = {}) {
  ScheduleRun run;
  run.exit_status = exit_status;
  run.output = std::move(output);
  run.findings = std::move(findings);
  return run;
}

}  // namespace

TEST_CASE("runs differ in exit status, findings, limit, or output") {
  const ScheduleRun first = run_with(0, {"[0] a", "[1] b"});
  ScheduleRun limited = first;
  limited.exceeded_limit = true;
  const struct {
    ScheduleRun second;
    bool differs;
  } cases[] = {{run_with(0, {"[0] a", "[1] b"}), false},
               {run_with(1, {"[0] a", "[1] b"}), true},
               {run_with(0, {"[0] a", "[1] c"}), true},
               {run_with(0, {"[0] a"}), true},
               {run_with(0, {"[0] a", "[1] b"}, {"dropped-ready-send"}), true},
               {limited, true}};
  for (const auto& [second, differs] : cases) {
    CHECK(differ(first, second) == differs);
    CHECK(describe_difference(first, second).empty() == !differs);
  }
}

TEST_CASE("the lines that only one output has") {
  const std::string text =
      describe_difference(run_with(0, {"same", "one", "two", "end"}), run_with(0, {"same", "three", "end"}));
  CHECK(text.find("- one\n") != std::string::npos);
  CHECK(text.find("- two\n") != std::string::npos);
  CHECK(text.find("+ three\n") != std::string::npos);
  CHECK(text.find("same") == std::string::npos);
  CHECK(text.find("end\n") == std::string::npos);
}

TEST_CASE("a race is the first wildcard with another source") {
  ScheduleRun first, second;
  first.decisions = {{{0, 1, 1}, {1, 2}}, {{0, 2, 2}, {2}}, {{3, 1, 0}, {0}}};
  CHECK_FALSE(find_race(first, first));
  second.decisions = {{{3, 1, 0}, {0}}, {{0, 1, 1}, {1, 2}}, {{0, 2, 1}, {1}}, {{0, 3, 7}, {7}}};
  const std::optional<WildcardRace> race = find_race(first, second);
  REQUIRE(race);
  CHECK(race->first.choice == Choice{0, 2, 2});
  CHECK(race->second.choice == Choice{0, 2, 1});
}

TEST_CASE("two texts side by side") {
  CHECK(side_by_side("a\nb\n", "c\n", 4) == "a    | c\nb    |\n");
  CHECK(side_by_side("", "c", 2) == "   | c\n");
  // Broken at a space, and continued with an indent.
  CHECK(side_by_side("a long line", "", 8) == "a long   |\n    line |\n");
}
