// Tests of the elements of SVG pictures.
#include "sim/base/svg.hpp"

#include <doctest/doctest.h>

namespace margay::sim {

TEST_CASE("text is escaped for XML in elements and in the picture's title") {
  CHECK_EQ(svg_escaped("a<b>&\"c\"\n\x01z"), "a&lt;b&gt;&amp;&quot;c&quot;  z");
  CHECK_EQ(svg_text(1, 2.25, "axis", "end", "<"),
           "<text x=\"1.0\" y=\"2.2\" class=\"axis\" text-anchor=\"end\">&lt;</text>\n");
  const std::string begin = svg_begin(100, 50, "<t>", "<d>", ".mine { fill: red }\n");
  CHECK(begin.find("<title>&lt;t&gt;</title>") != std::string::npos);
  CHECK(begin.find("<desc>&lt;d&gt;</desc>") != std::string::npos);
  CHECK(begin.find(".mine { fill: red }") != std::string::npos);
  CHECK(begin.find("viewBox=\"0 0 100 50\"") != std::string::npos);
}

TEST_CASE("decades of seconds have the unit that makes them 1, 10 or 100") {
  CHECK_EQ(decade_text(-9), "1 ns");
  CHECK_EQ(decade_text(-4), "100 us");
  CHECK_EQ(decade_text(-3), "1 ms");
  CHECK_EQ(decade_text(2), "100 s");
  CHECK_EQ(decade_text(-12), "0.001 ns");
}

}  // namespace margay::sim
