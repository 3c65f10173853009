#include "collectives/select/describe.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "collectives/select/cost_curves.hpp"
#include "sim/base/svg.hpp"

namespace margay::collectives {

namespace {

// Pixels.
constexpr double kPanelWidth = 400;
constexpr double kPanelHeight = 290;
constexpr double kFrameLeft = 56;    // of a panel, for the axis of times
constexpr double kFrameRight = 68;   // for the names of curves
constexpr double kFrameTop = 46;     // for its name, and the lengths at which the choice changes
constexpr double kFrameBottom = 30;  // for the axis of lengths
constexpr double kHead = 78;         // of the picture, for its titles
constexpr double kMargin = 16;
constexpr double kLineHeight = 12;
constexpr std::size_t kColumns = 3;

constexpr std::string_view kSheet = R"(.operation { font-size: 13px; font-weight: bold }
.curve { fill: none; stroke-width: 1.3; stroke-opacity: .8 } .chosen { fill: none; stroke-width: 4.2; stroke-linecap: round }
.crossover { stroke: #333; stroke-width: 1; stroke-dasharray: 1 3 }
)";

// Bounded below, as 0 has no logarithm.
double decade_of(double seconds) {
  return std::log10(std::max(seconds, 1e-12));
}

// The decades of the time axis, equal for all panels, so that they can be compared.
struct Decades {
  int low = std::numeric_limits<int>::max();
  int high = std::numeric_limits<int>::min();
};

Decades decades_of(const std::vector<OperationCosts>& all) {
  Decades decades;
  for (const OperationCosts& operation : all) {
    for (const CostCurve& curve : operation.curves) {
      for (const std::vector<CostPoint>& run : curve.runs) {
        for (const CostPoint& point : run) {
          if (!std::isfinite(point.seconds)) continue;
          const double exponent = decade_of(point.seconds);
          decades.low = std::min(decades.low, static_cast<int>(std::floor(exponent)));
          decades.high = std::max(decades.high, static_cast<int>(std::ceil(exponent)));
        }
      }
    }
  }
  // No finite cost: any decade will do.
  if (decades.low > decades.high) return {-7, -6};
  decades.high = std::max(decades.high, decades.low + 1);
  return decades;
}

// A name beside the end of a curve.
struct Label {
  Algorithm algorithm;
  double x, y, end;
};

class Panel {
 public:
  Panel(const OperationCosts& costs, const Decades& decades, double left, double top)
      : costs_(costs), decades_(decades), left_(left + kFrameLeft), top_(top + kFrameTop) {}

  [[nodiscard]] std::string draw() {
    const bool lengths = costs_.operation != Operation::barrier;
    out_ = fmt::format("<g class=\"panel\" data-operation=\"{}\">\n", name(costs_.operation));
    out_ += sim::svg_text(left_, top_ - 28, "operation", "start", name(costs_.operation));
    draw_times();
    if (lengths) {
      draw_lengths();
      for (const CostCurve& curve : costs_.curves) draw_curve(curve);
      draw_crossovers();
      draw_labels();
    } else {
      draw_points();
    }
    return out_ + "</g>\n";
  }

 private:
  static constexpr double kWidth = kPanelWidth - kFrameLeft - kFrameRight;
  static constexpr double kHeight = kPanelHeight - kFrameTop - kFrameBottom;

  // Both axes are logarithmic.
  [[nodiscard]] double x_of(double bytes) const {
    return left_ + kWidth * std::log2(std::max(bytes, 1.0)) / std::log2(static_cast<double>(kLongestShown));
  }
  [[nodiscard]] double y_of(double seconds) const {
    const double decades = decades_.high - decades_.low;
    // A cost that is not finite lies at the frame's edge.
    return std::isfinite(seconds) ? top_ + kHeight * (decades_.high - decade_of(seconds)) / decades : top_;
  }

  void draw_times() {
    out_ += sim::svg_frame(left_, top_, kWidth, kHeight);
    for (int exponent = decades_.low; exponent <= decades_.high; ++exponent) {
      const double y = y_of(std::pow(10.0, exponent));
      out_ += sim::svg_line(left_, y, left_ + kWidth, y, "grid");
      out_ += sim::svg_text(left_ - 6, y + 3.5, "axis", "end", sim::decade_text(exponent));
    }
  }

  void draw_lengths() {
    constexpr std::uint64_t kTicks[] = {1, 32, 1024, 32 << 10, 1 << 20, kLongestShown};
    for (const std::uint64_t bytes : kTicks) {
      const double x = x_of(static_cast<double>(bytes));
      out_ += sim::svg_line(x, top_, x, top_ + kHeight, "grid");
      out_ += sim::svg_text(x, top_ + kHeight + 15, "axis", "middle", length_text(bytes));
    }
  }

  // The SVG path of a run, between two lengths.
  [[nodiscard]] std::string method_of(const std::vector<CostPoint>& run, std::uint64_t first,
                                      std::uint64_t last) const {
    std::string way;
    for (const CostPoint& point : run) {
      if (point.bytes < first || point.bytes > last) continue;
      way += fmt::format("{}{:.1f} {:.1f}", way.empty() ? "M" : " L", x_of(static_cast<double>(point.bytes)),
                         y_of(point.seconds));
    }
    return way;
  }

  void add_path(std::string_view kind, Algorithm algorithm, const std::string& way) {
    if (way.empty()) return;
    const AlgorithmStyle& style = style_of(algorithm);
    const std::string dashes =
        kind == "chosen" || style.dashes.empty() ? "" : fmt::format(" stroke-dasharray=\"{}\"", style.dashes);
    // A single length is a dot.
    out_ += fmt::format("<path class=\"{}\" data-algorithm=\"{}\" stroke=\"{}\"{} d=\"{}{}\"/>\n", kind,
                        name(algorithm), style.colour, dashes, way, way.find('L') == std::string::npos ? " h0.1" : "");
  }

  void draw_curve(const CostCurve& curve) {
    for (const std::vector<CostPoint>& run : curve.runs) {
      add_path("curve", curve.algorithm, method_of(run, 0, kLongestShown));
      for (const ChosenRange& range : costs_.chosen) {
        if (range.algorithm == curve.algorithm) {
          add_path("chosen", curve.algorithm, method_of(run, range.first, range.last));
        }
      }
    }
    const CostPoint& end = curve.runs.back().back();
    const double y = y_of(end.seconds);
    // If the curve ends inside the frame, its name stands below the end: costs rise, so the fewest curves are there.
    const double down = end.bytes == kLongestShown ? 0 : kLineHeight;
    labels_.push_back({curve.algorithm, x_of(static_cast<double>(end.bytes)), y + down, y});
  }

  void draw_crossovers() {
    double row = 0;  // two rows in turn, so that neighbours do not overlap
    for (std::size_t at = 1; at < costs_.chosen.size(); ++at) {
      const std::uint64_t bytes = costs_.chosen[at].first;
      const double x = x_of(static_cast<double>(bytes));
      out_ +=
          sim::svg_line(x, top_ - 4 - row, x, top_ + kHeight, "crossover", fmt::format(" data-bytes=\"{}\"", bytes));
      out_ += sim::svg_text(x, top_ - 6 - row, "name", "middle", length_text(costs_.chosen[at - 1].last));
      row = row == 0 ? kLineHeight : 0;
    }
  }

  // Moves names at the same end apart, from top to bottom; moves them back up where they would leave the frame.
  void draw_labels() {
    std::sort(labels_.begin(), labels_.end(),
              [](const Label& a, const Label& b) { return a.x != b.x ? a.x < b.x : a.y < b.y; });
    for (std::size_t first = 0; first < labels_.size();) {
      std::size_t last = first + 1;
      while (last < labels_.size() && labels_[last].x - labels_[first].x < 1) ++last;
      for (std::size_t at = first + 1; at < last; ++at) {
        labels_[at].y = std::max(labels_[at].y, labels_[at - 1].y + kLineHeight);
      }
      double lowest = top_ + kHeight - 2;
      for (std::size_t at = last; at-- > first; lowest -= kLineHeight) labels_[at].y = std::min(labels_[at].y, lowest);
      first = last;
    }
    for (const Label& label : labels_) {
      const AlgorithmStyle& style = style_of(label.algorithm);
      out_ += fmt::format("<path class=\"curve\" stroke=\"{}\" d=\"M{:.1f} {:.1f} L{:.1f} {:.1f}\"/>\n", style.colour,
                          label.x, label.end, label.x + 6, label.y);
      out_ += sim::svg_text(label.x + 8, label.y + 3.5, "name", "start", name(label.algorithm),
                            fmt::format(" style=\"fill: {}\"", style.colour));
    }
  }

  // A barrier has no lengths: draws a point for each algorithm.
  void draw_points() {
    double x = left_ + kWidth / static_cast<double>(2 * costs_.curves.size());
    for (const CostCurve& curve : costs_.curves) {
      const double seconds = curve.runs.front().front().seconds;
      const bool chosen = costs_.chosen.front().algorithm == curve.algorithm;
      const std::string_view colour = style_of(curve.algorithm).colour;
      out_ += fmt::format(
          "<circle class=\"{}\" data-algorithm=\"{}\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{}\" stroke=\"{}\" style=\"fill: "
          "{}\"/>\n",
          chosen ? "chosen" : "curve", name(curve.algorithm), x, y_of(seconds), chosen ? 4 : 4.5, colour,
          chosen ? colour : "#fff");
      out_ += sim::svg_text(x, y_of(seconds) - 10, "name", "middle", name(curve.algorithm),
                            fmt::format(" style=\"fill: {}\"", colour));
      out_ += sim::svg_text(x, y_of(seconds) + 17, "name", "middle", seconds_text(seconds));
      x += kWidth / static_cast<double>(costs_.curves.size());
    }
  }

  const OperationCosts& costs_;
  Decades decades_;
  double left_, top_;
  std::vector<Label> labels_;
  std::string out_;
};

}  // namespace

std::string plot_costs(const Facts& facts, std::string_view title, std::string_view subtitle) {
  std::vector<OperationCosts> all;
  for (const Operation operation : operations_with_choice()) all.push_back(costs_of(operation, facts));
  const Decades decades = decades_of(all);
  const std::size_t rows = (all.size() + kColumns - 1) / kColumns;
  const double width = 2 * kMargin + kColumns * kPanelWidth;
  const double height = kHead + static_cast<double>(rows) * kPanelHeight + kMargin;
  std::string picture = sim::svg_begin(width, height, title, subtitle, kSheet);
  picture += sim::svg_text(kMargin, 28, "title", "start", title);
  picture += sim::svg_text(kMargin, 47, "subtitle", "start", subtitle);
  picture += sim::svg_text(
      kMargin, 63, "subtitle", "start",
      "Time of a call against the bytes of one rank, both logarithmic. Thick: the chosen algorithm. Dotted line: "
      "the last length before the choice changes.");
  for (std::size_t at = 0; at < all.size(); ++at) {
    const double left = kMargin + static_cast<double>(at % kColumns) * kPanelWidth;
    const double top = kHead + static_cast<double>(at / kColumns) * kPanelHeight;
    picture += Panel(all[at], decades, left, top).draw();
  }
  return picture + "</svg>\n";
}

}  // namespace margay::collectives
