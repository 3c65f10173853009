#include "collectives/select/describe.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "collectives/select/cost_curves.hpp"

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

constexpr std::string_view kSheet = R"(<style>
text { font-family: "DejaVu Sans", "Helvetica Neue", Arial, sans-serif; font-size: 10px; fill: #222 }
.title { font-size: 17px; font-weight: bold } .subtitle { font-size: 11px; fill: #555 }
.operation { font-size: 13px; font-weight: bold } .axis { fill: #666 } .grid { stroke: #e3e3e3; stroke-width: 1 }
.frame { fill: none; stroke: #999; stroke-width: 1 }
.curve { fill: none; stroke-width: 1.3; stroke-opacity: .8 } .chosen { fill: none; stroke-width: 4.2; stroke-linecap: round }
.name { paint-order: stroke; stroke: #fff; stroke-width: 3px; stroke-linejoin: round }
.crossover { stroke: #333; stroke-width: 1; stroke-dasharray: 1 3 }
</style>
)";

// Escapes text for XML; control characters become blanks.
std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '&') {
      out += "&amp;";
    } else if (c == '<') {
      out += "&lt;";
    } else if (c == '>') {
      out += "&gt;";
    } else if (c == '"') {
      out += "&quot;";
    } else {
      out += static_cast<unsigned char>(c) < ' ' ? ' ' : c;
    }
  }
  return out;
}

std::string text_at(double x, double y, std::string_view kind, std::string_view anchor, std::string_view text,
                    std::string_view more = "") {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" class=\"{}\" text-anchor=\"{}\"{}>{}</text>\n", x, y, kind,
                     anchor, more, escaped(text));
}

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

std::string decade_text(int exponent) {
  constexpr std::array<std::string_view, 4> kUnits{"ns", "us", "ms", "s"};
  const int unit = std::clamp((exponent + 9) / 3, 0, 3);
  return fmt::format("{:g} {}", std::pow(10.0, exponent + 9 - 3 * unit), kUnits[static_cast<std::size_t>(unit)]);
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
    out_ += text_at(left_, top_ - 28, "operation", "start", name(costs_.operation));
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
    out_ += fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" class=\"frame\"/>\n", left_,
                        top_, kWidth, kHeight);
    for (int exponent = decades_.low; exponent <= decades_.high; ++exponent) {
      const double y = y_of(std::pow(10.0, exponent));
      out_ += fmt::format("<line x1=\"{0:.1f}\" y1=\"{1:.1f}\" x2=\"{2:.1f}\" y2=\"{1:.1f}\" class=\"grid\"/>\n", left_,
                          y, left_ + kWidth);
      out_ += text_at(left_ - 6, y + 3.5, "axis", "end", decade_text(exponent));
    }
  }

  void draw_lengths() {
    constexpr std::uint64_t kTicks[] = {1, 32, 1024, 32 << 10, 1 << 20, kLongestShown};
    for (const std::uint64_t bytes : kTicks) {
      const double x = x_of(static_cast<double>(bytes));
      out_ += fmt::format("<line x1=\"{0:.1f}\" y1=\"{1:.1f}\" x2=\"{0:.1f}\" y2=\"{2:.1f}\" class=\"grid\"/>\n", x,
                          top_, top_ + kHeight);
      out_ += text_at(x, top_ + kHeight + 15, "axis", "middle", length_text(bytes));
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
      out_ += fmt::format(
          "<line x1=\"{0:.1f}\" y1=\"{1:.1f}\" x2=\"{0:.1f}\" y2=\"{2:.1f}\" class=\"crossover\" "
          "data-bytes=\"{3}\"/>\n",
          x, top_ - 4 - row, top_ + kHeight, bytes);
      out_ += text_at(x, top_ - 6 - row, "name", "middle", length_text(costs_.chosen[at - 1].last));
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
      out_ += text_at(label.x + 8, label.y + 3.5, "name", "start", name(label.algorithm),
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
      out_ += text_at(x, y_of(seconds) - 10, "name", "middle", name(curve.algorithm),
                      fmt::format(" style=\"fill: {}\"", colour));
      out_ += text_at(x, y_of(seconds) + 17, "name", "middle", seconds_text(seconds));
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
  std::string picture = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0:.0f} {1:.0f}\" width=\"{0:.0f}\" height=\"{1:.0f}\" "
      "role=\"img\">\n<title>{2}</title>\n<desc>{3}</desc>\n{4}",
      width, height, escaped(title), escaped(subtitle), kSheet);
  picture += fmt::format("<rect width=\"{:.0f}\" height=\"{:.0f}\" fill=\"#fff\"/>\n", width, height);
  picture += text_at(kMargin, 28, "title", "start", title);
  picture += text_at(kMargin, 47, "subtitle", "start", subtitle);
  picture += text_at(
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
