#include "sim/base/svg.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

namespace margay::sim {

std::string svg_escaped(std::string_view text) {
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

std::string svg_begin(double width, double height, std::string_view title, std::string_view description,
                      std::string_view sheet) {
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0:.0f} {1:.0f}\" width=\"{0:.0f}\" height=\"{1:.0f}\" "
      "role=\"img\">\n<title>{2}</title>\n<desc>{3}</desc>\n<style>\n{4}{5}</style>\n"
      "<rect width=\"{0:.0f}\" height=\"{1:.0f}\" fill=\"#fff\"/>\n",
      width, height, svg_escaped(title), svg_escaped(description), kSvgSheet, sheet);
}

std::string svg_text(double x, double y, std::string_view kind, std::string_view anchor, std::string_view text,
                     std::string_view more) {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" class=\"{}\" text-anchor=\"{}\"{}>{}</text>\n", x, y, kind,
                     anchor, more, svg_escaped(text));
}

std::string svg_line(double x1, double y1, double x2, double y2, std::string_view kind, std::string_view more) {
  return fmt::format("<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" class=\"{}\"{}/>\n", x1, y1, x2, y2,
                     kind, more);
}

std::string svg_frame(double left, double top, double width, double height) {
  return fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" class=\"frame\"/>\n", left,
                     top, width, height);
}

std::string decade_text(int exponent) {
  constexpr std::array<std::string_view, 4> kUnits{"ns", "us", "ms", "s"};
  const int unit = std::clamp((exponent + 9) / 3, 0, 3);
  return fmt::format("{:g} {}", std::pow(10.0, exponent + 9 - 3 * unit), kUnits[static_cast<std::size_t>(unit)]);
}

}  // namespace margay::sim
