// The conversion of a clock's ticks to nanoseconds, by two anchors (pairs of ticks and nanoseconds).
#pragma once

#include <cstdint>

#include "sim/base/clock.hpp"

namespace margay::sim {

// A linear scale through two anchors. Immutable.
class TickScale {
 public:
  // Makes the line through both anchors. Clocks whose ticks are nanoseconds need no line. If the anchors are not in
  // ascending order (a damaged file, or a rank that died at once), a tick counts as one nanosecond from the first
  // anchor on.
  TickScale(ClockKind kind, ClockAnchor first, ClockAnchor last);
  // Converts ticks to nanoseconds. Saturates at both ends of 64 bits.
  [[nodiscard]] std::uint64_t to_ns(std::uint64_t ticks) const;
  // The line's length. Of several lines of one counter, the longest line is the most exact.
  [[nodiscard]] std::uint64_t span_ns() const { return span_ns_; }

 private:
  // Ticks are nanoseconds already.
  bool identity_;
  // The origin of the line; its slope is span_ns_ / span_ticks_.
  ClockAnchor first_;
  std::uint64_t span_ticks_ = 1;
  std::uint64_t span_ns_ = 0;
};

}  // namespace margay::sim
