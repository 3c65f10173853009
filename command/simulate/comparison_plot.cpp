#include "command/simulate/comparison_plot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "sim/base/svg.hpp"

namespace margay::command {
namespace {

using virtual_machine::RunReport;

// Pixels, of a panel without its axes, of the space around it, and of the picture's head.
constexpr double kPlotWidth = 360;
constexpr double kPlotHeight = 240;
constexpr double kPlotLeft = 76;  // for the axis of times
constexpr double kPlotRight = 24;
constexpr double kPlotTop = 28;     // for the panel's title
constexpr double kPlotBottom = 46;  // for the axis of values, and its name
constexpr double kPictureTop = 64;  // for the title and the names of machines
constexpr double kPictureMargin = 16;
constexpr std::size_t kPanelsInRow = 3;
// Of a machine's name in the head, beside its letters, and of each letter.
constexpr double kNameGap = 34;
constexpr double kLetterWidth = 6.5;
// A panel has no more marks on its axis of values.
constexpr std::size_t kMarksMost = 9;
constexpr double kTimeMarks = 5;
// The ratio of times above which their axis is logarithmic.
constexpr double kLogarithmicFrom = 10;

constexpr std::string_view kComparisonSheet = R"(.panel { font-size: 12px; font-weight: bold }
.curve { fill: none; stroke-width: 1.8 } .dot { stroke: #fff; stroke-width: 1 }
)";

constexpr std::array<std::string_view, 8> kCurveColours = {"#1f6fb4", "#d1571f", "#2a8a3e", "#8b4fb0",
                                                           "#b0852a", "#c23b6c", "#3b9aa8", "#666666"};

std::string_view colour_of(std::size_t machine) {
  return kCurveColours[machine % kCurveColours.size()];
}

// The axis of times, in nanoseconds.
class TimeAxis {
 public:
  explicit TimeAxis(const std::vector<RunReport>& reports) {
    double least = std::numeric_limits<double>::infinity();
    for (const RunReport& report : reports) {
      if (!has_result(report)) continue;
      least = std::min(least, static_cast<double>(report.virtual_ns));
      high_ = std::max(high_, static_cast<double>(report.virtual_ns));
    }
    is_logarithmic_ = least > 0 && high_ / least > kLogarithmicFrom;
    if (is_logarithmic_) {
      low_ = std::floor(std::log10(least));
      high_ = std::max(std::ceil(std::log10(high_)), low_ + 1);
      return;
    }
    high_ = std::max(high_, 1.0);
    // The least of 1, 2, 5, 10, ... by which few marks reach the longest time.
    step_ = std::pow(10, std::floor(std::log10(high_ / kTimeMarks)));
    for (const double factor : {2.0, 2.5, 2.0}) {
      if (step_ * kTimeMarks >= high_) break;
      step_ *= factor;
    }
    high_ = std::ceil(high_ / step_) * step_;
  }

  // From 0 at the bottom to 1 at the top.
  [[nodiscard]] double place(double ns) const {
    return ((is_logarithmic_ ? std::log10(ns) : ns) - low_) / (high_ - low_);
  }

  struct Mark {
    double place;
    std::string text;
  };
  [[nodiscard]] std::vector<Mark> marks() const {
    std::vector<Mark> marks;
    if (is_logarithmic_) {
      constexpr int kNsExponent = -9;
      for (int exponent = static_cast<int>(low_); exponent <= static_cast<int>(high_); ++exponent)
        marks.push_back({place(std::pow(10, exponent)), sim::decade_text(exponent + kNsExponent)});
      return marks;
    }
    for (int i = 0; step_ * i <= high_ * 1.0001; ++i)  // sums of steps are not exact
      marks.push_back({place(step_ * i), virtual_time_text(static_cast<std::uint64_t>(std::llround(step_ * i)))});
    return marks;
  }

 private:
  bool is_logarithmic_ = false;
  double low_ = 0;
  double high_ = 0;
  double step_ = 1;
};

// The places of the rows, from 0 to 1.
std::vector<double> places_of_rows(const Comparison& comparison) {
  std::vector<double> numbers;
  for (std::size_t row = 0; row < comparison.rows(); ++row) {
    const std::optional<double> number = comparison.row_number(row);
    if (number && *number > 0) numbers.push_back(std::log2(*number));
  }
  // Texts, or one value: at equal distances, with half of one on both sides.
  const auto count = static_cast<double>(comparison.rows());
  const bool are_numbers = numbers.size() == comparison.rows();
  const auto [least, most] = std::minmax_element(numbers.begin(), numbers.end());
  std::vector<double> places;
  for (std::size_t row = 0; row < comparison.rows(); ++row) {
    const bool is_on_axis = are_numbers && *most > *least;
    places.push_back(is_on_axis ? (numbers[row] - *least) / (*most - *least)
                                : (static_cast<double>(row) + 0.5) / count);
  }
  return places;
}

class ComparisonPanel {
 public:
  ComparisonPanel(const Comparison& comparison, const std::vector<RunReport>& reports, const TimeAxis& times,
                  std::size_t table, double left, double top)
      : comparison_(comparison),
        reports_(reports),
        times_(times),
        places_(places_of_rows(comparison)),
        table_(table),
        left_(left + kPlotLeft),
        top_(top + kPlotTop) {}

  [[nodiscard]] std::string draw() const {
    std::string out = "<g>\n" + sim::svg_text(left_, top_ - 10, "panel", "start", comparison_.table_title(table_));
    out += sim::svg_frame(left_, top_, kPlotWidth, kPlotHeight);
    for (const TimeAxis::Mark& mark : times_.marks()) {
      const double y = top_ + kPlotHeight * (1 - mark.place);
      out += sim::svg_line(left_, y, left_ + kPlotWidth, y, "grid");
      out += sim::svg_text(left_ - 6, y + 3.5, "axis", "end", mark.text);
    }
    const std::size_t every = (comparison_.rows() + kMarksMost - 1) / kMarksMost;
    for (std::size_t row = 0; row < comparison_.rows(); row += every) {
      out += sim::svg_line(x_of(row), top_, x_of(row), top_ + kPlotHeight, "grid");
      out += sim::svg_text(x_of(row), top_ + kPlotHeight + 15, "axis", "middle", comparison_.row_name(row));
    }
    out +=
        sim::svg_text(left_ + kPlotWidth / 2, top_ + kPlotHeight + 32, "subtitle", "middle", comparison_.row_title());
    for (std::size_t column = 0; column < comparison_.columns(); ++column) out += draw_curve(column);
    return out + "</g>\n";
  }

 private:
  [[nodiscard]] double x_of(std::size_t row) const { return left_ + kPlotWidth * places_[row]; }

  [[nodiscard]] std::string draw_curve(std::size_t column) const {
    std::string path;
    std::string dots;
    bool is_gap = true;
    for (std::size_t row = 0; row < comparison_.rows(); ++row) {
      const std::size_t run = comparison_.run_of(table_, row, column);
      const RunReport& report = reports_[run];
      if (!has_result(report)) {
        is_gap = true;
        continue;
      }
      const double y = top_ + kPlotHeight * (1 - times_.place(static_cast<double>(report.virtual_ns)));
      path += fmt::format("{}{:.1f} {:.1f}", is_gap ? " M" : " L", x_of(row), y);
      is_gap = false;
      dots += fmt::format(
          "<circle class=\"dot\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3.5\" data-machine=\"{}\" style=\"fill: "
          "{}\"><title>{}: "
          "{}</title></circle>\n",
          x_of(row), y, sim::svg_escaped(comparison_.machine(column)), colour_of(column),
          sim::svg_escaped(comparison_.name_of(run)), virtual_time_text(report.virtual_ns));
    }
    if (path.empty()) return "";
    return fmt::format("<path class=\"curve\" stroke=\"{}\" d=\"{}\"/>\n", colour_of(column), path.substr(1)) + dots;
  }

  const Comparison& comparison_;
  const std::vector<RunReport>& reports_;
  const TimeAxis& times_;
  const std::vector<double> places_;
  const std::size_t table_;
  const double left_, top_;
};

}  // namespace

std::string plot_comparison(const Comparison& comparison, const std::vector<RunReport>& reports,
                            std::string_view title) {
  const std::size_t in_row = std::min(comparison.tables(), kPanelsInRow);
  const std::size_t rows = (comparison.tables() + kPanelsInRow - 1) / kPanelsInRow;
  constexpr double kPanelWide = kPlotLeft + kPlotWidth + kPlotRight;
  constexpr double kPanelHigh = kPlotTop + kPlotHeight + kPlotBottom;
  std::string picture = sim::svg_begin(2 * kPictureMargin + static_cast<double>(in_row) * kPanelWide,
                                       kPictureTop + static_cast<double>(rows) * kPanelHigh, title,
                                       "Virtual times of simulated runs", kComparisonSheet);
  picture += sim::svg_text(kPictureMargin, 28, "title", "start", title);
  double x = kPictureMargin;
  for (std::size_t column = 0; column < comparison.columns(); ++column) {
    const std::string& name = comparison.machine(column);
    picture += fmt::format("<path class=\"curve\" stroke=\"{0}\" d=\"M{1:.1f} 46 h14\"/>\n", colour_of(column), x);
    picture += sim::svg_text(x + 18, 50, "subtitle", "start", name);
    x += kNameGap + kLetterWidth * static_cast<double>(name.size());
  }
  const TimeAxis times(reports);
  for (std::size_t table = 0; table < comparison.tables(); ++table) {
    const double left = kPictureMargin + static_cast<double>(table % kPanelsInRow) * kPanelWide;
    const double top = kPictureTop + static_cast<double>(table / kPanelsInRow) * kPanelHigh;
    picture += ComparisonPanel(comparison, reports, times, table, left, top).draw();
  }
  return picture + "</svg>\n";
}

}  // namespace margay::command
