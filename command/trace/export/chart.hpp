// A chart of a few messages: what happens on each rank's line, and the arrows between them. Mermaid and Mscgen draw it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "command/trace/export/timeline.hpp"

namespace margay::command {

struct ChartStep {
  bool is_arrow = false;   // otherwise a note on the line of `from`
  bool is_lost = false;    // an arrow: it was sent, and nothing of its arrival is in the trace
  bool is_answer = false;  // an acknowledgment, a reply, a synchronous answer: drawn with a broken line
  std::uint32_t from = 0;  // ranks
  std::uint32_t to = 0;
  std::string time_us;  // since the trace's first event
  std::string text;
};
struct Chart {
  std::vector<std::uint32_t> ranks;  // that have a line, lowest first
  std::vector<ChartStep> steps;      // by time; an arrow stands where it was sent
  std::size_t arrows = 0;
};

// A chart with more is no longer read by anybody.
inline constexpr std::size_t kChartArrowsMost = 300;

[[nodiscard]] Chart chart_of(const ExportSource& source, const std::vector<MessageStory>& stories);

}  // namespace margay::command
