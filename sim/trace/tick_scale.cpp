#include "sim/trace/tick_scale.hpp"

namespace margay::sim {

namespace {
__extension__ using Wide = unsigned __int128;  // ticks times nanoseconds of a day's run do not fit 64 bits
constexpr std::uint64_t kMax = ~std::uint64_t{0};
}  // namespace

TickScale::TickScale(ClockKind kind, ClockAnchor first, ClockAnchor last)
    : identity_(kind != ClockKind::tsc), first_(first) {
  if (last.ticks > first.ticks && last.time_ns > first.time_ns) {
    span_ticks_ = last.ticks - first.ticks;
    span_ns_ = last.time_ns - first.time_ns;
  }
}

std::uint64_t TickScale::to_ns(std::uint64_t ticks) const {
  if (identity_) return ticks;
  // Without a valid pair of anchors, a tick counts as a nanosecond.
  const std::uint64_t per_span = span_ns_ == 0 ? 1 : span_ns_;
  // The line also extends backwards, before the first anchor.
  const bool after = ticks >= first_.ticks;
  const Wide distance = Wide{after ? ticks - first_.ticks : first_.ticks - ticks} * per_span / span_ticks_;
  if (after) return distance > kMax - first_.time_ns ? kMax : first_.time_ns + static_cast<std::uint64_t>(distance);
  return distance > first_.time_ns ? 0 : first_.time_ns - static_cast<std::uint64_t>(distance);
}

}  // namespace margay::sim
