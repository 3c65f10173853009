// Tests of the picture of a comparison.
#include "command/simulate/comparison_plot.hpp"

#include <doctest/doctest.h>

#include <cstdlib>
#include <regex>
#include <string>
#include <vector>

namespace margay::command {
namespace {

using virtual_machine::RunReport;
using virtual_machine::Settings;

Comparison plotted(std::string_view machines, const std::vector<std::string>& sweeps) {
  Comparison comparison;
  REQUIRE(Comparison::parse(machines, sweeps, Settings(), comparison).ok());
  return comparison;
}

std::vector<RunReport> plotted_reports(const Comparison& comparison, std::uint64_t factor) {
  std::vector<RunReport> reports(comparison.runs());
  std::uint64_t ns = 1'000'000;
  for (RunReport& report : reports) {
    report.exit_status = 0;
    report.virtual_ns = ns;
    ns *= factor;
  }
  return reports;
}

std::size_t plotted_count(const std::string& text, std::string_view part) {
  std::size_t count = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; at += part.size()) ++count;
  return count;
}

struct Point {
  double x, y;
};

std::vector<Point> dots_of(const std::string& picture) {
  const std::regex dot("cx=\"([0-9.]+)\" cy=\"([0-9.]+)\"");
  std::vector<Point> points;
  for (auto it = std::sregex_iterator(picture.begin(), picture.end(), dot); it != std::sregex_iterator(); ++it)
    points.push_back({std::atof((*it)[1].str().c_str()), std::atof((*it)[2].str().c_str())});
  return points;
}

}  // namespace

TEST_CASE("a picture has a dot for each run that ended, inside the picture, and its names escaped") {
  const Comparison comparison = plotted("paragon,./a&b.toml", {"short_limit=1k..8k", "coprocessor=true,false"});
  std::vector<RunReport> reports = plotted_reports(comparison, 1);
  reports[3].exit_status = 1;
  const std::string picture = plot_comparison(comparison, reports, "a <title>");
  CHECK(picture.ends_with("</svg>\n"));
  CHECK(picture.find("a &lt;title&gt;") != std::string::npos);
  CHECK(picture.find("a&b") == std::string::npos);
  CHECK_EQ(plotted_count(picture, "data-machine=\"paragon\""), 8);
  CHECK_EQ(plotted_count(picture, "data-machine=\"./a&amp;b.toml\""), 7);
  CHECK(picture.find(">coprocessor=false</text>") != std::string::npos);
  CHECK_EQ(plotted_count(picture, ">short_limit</text>"), 2);
  std::smatch size;
  REQUIRE(std::regex_search(picture, size, std::regex("viewBox=\"0 0 ([0-9]+) ([0-9]+)\"")));
  for (const Point& point : dots_of(picture)) {
    CHECK(point.x > 0);
    CHECK(point.x < std::atof(size[1].str().c_str()));
    CHECK(point.y > 0);
    CHECK(point.y < std::atof(size[2].str().c_str()));
  }
}

TEST_CASE("values that are numbers stand at their logarithms, others at equal distances") {
  const Comparison numbers = plotted("paragon", {"short_limit=1k,2k,8k"});
  std::vector<Point> points = dots_of(plot_comparison(numbers, plotted_reports(numbers, 1), ""));
  REQUIRE_EQ(points.size(), 3);
  CHECK(points[2].x - points[1].x == doctest::Approx(2 * (points[1].x - points[0].x)).epsilon(0.01));
  const Comparison words = plotted("paragon", {"collective=allreduce=tree,bucket,auto"});
  points = dots_of(plot_comparison(words, plotted_reports(words, 1), ""));
  REQUIRE_EQ(points.size(), 3);
  CHECK(points[2].x - points[1].x == doctest::Approx(points[1].x - points[0].x).epsilon(0.01));
}

TEST_CASE("the axis of times is logarithmic for times of different magnitudes, and begins at 0 for others") {
  const Comparison comparison = plotted("paragon", {"ranks=2,4,8"});
  // 1, 4, 16 ms: equal distances.
  std::vector<Point> points = dots_of(plot_comparison(comparison, plotted_reports(comparison, 4), ""));
  CHECK(points[0].y - points[1].y == doctest::Approx(points[1].y - points[2].y).epsilon(0.01));
  // 1, 2, 4 ms: the second distance is twice the first.
  points = dots_of(plot_comparison(comparison, plotted_reports(comparison, 2), ""));
  CHECK(points[1].y - points[2].y == doctest::Approx(2 * (points[0].y - points[1].y)).epsilon(0.01));
  CHECK(plot_comparison(comparison, plotted_reports(comparison, 2), "").find(">0 ns</text>") != std::string::npos);
}

TEST_CASE("a run without a result is a gap in its curve; a picture without results has axes only") {
  const Comparison comparison = plotted("paragon", {"ranks=2,4,8,16"});
  std::vector<RunReport> reports = plotted_reports(comparison, 2);
  reports[1].exit_status = 1;
  CHECK_EQ(plotted_count(plot_comparison(comparison, reports, ""), " M"), 1);
  for (RunReport& report : reports) report.exit_status = 1;
  const std::string picture = plot_comparison(comparison, reports, "");
  CHECK(dots_of(picture).empty());
  CHECK(picture.find("nan") == std::string::npos);
  CHECK(picture.find("inf") == std::string::npos);
  // A time of 0 has no logarithm.
  reports = plotted_reports(comparison, 100);
  reports[0].virtual_ns = 0;
  CHECK(plot_comparison(comparison, reports, "").find("inf") == std::string::npos);
}

}  // namespace margay::command
