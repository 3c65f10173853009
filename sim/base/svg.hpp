// Elements of SVG pictures as text, for plots. Coordinates are pixels. Classes refer to the picture's style sheet.
#pragma once

#include <string>
#include <string_view>

namespace margay::sim {

// The style of texts, axes and frames, for a picture's sheet: title, subtitle, axis, grid, frame, name.
inline constexpr std::string_view kSvgSheet =
    R"(text { font-family: "DejaVu Sans", "Helvetica Neue", Arial, sans-serif; font-size: 10px; fill: #222 }
.title { font-size: 17px; font-weight: bold } .subtitle { font-size: 11px; fill: #555 }
.axis { fill: #666 } .grid { stroke: #e3e3e3; stroke-width: 1 } .frame { fill: none; stroke: #999; stroke-width: 1 }
.name { paint-order: stroke; stroke: #fff; stroke-width: 3px; stroke-linejoin: round }
)";

// The begin of a picture with a white background; its end is "</svg>\n". `sheet`: rules besides kSvgSheet. `title` and
// `description` are for readers that cannot see it, and need no escapes.
[[nodiscard]] std::string svg_begin(double width, double height, std::string_view title, std::string_view description,
                                    std::string_view sheet);

// Escapes text for XML; control characters become blanks.
[[nodiscard]] std::string svg_escaped(std::string_view text);

// A text, which is escaped. `anchor`: start, middle or end. `more`: further attributes, with a blank in front.
[[nodiscard]] std::string svg_text(double x, double y, std::string_view kind, std::string_view anchor,
                                   std::string_view text, std::string_view more = "");
// A line, and an empty rectangle of the class "frame".
[[nodiscard]] std::string svg_line(double x1, double y1, double x2, double y2, std::string_view kind,
                                   std::string_view more = "");
[[nodiscard]] std::string svg_frame(double left, double top, double width, double height);

// A decade of seconds, as on an axis of times: "100 us" for -4.
[[nodiscard]] std::string decade_text(int exponent);

}  // namespace margay::sim
