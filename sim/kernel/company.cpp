#include "sim/kernel/company.hpp"

namespace margay::sim {

// Only the rank with the higher number moves, because two ranks that move at once might choose the same processor.
void Company::move_away(std::uint64_t now_ns) {
  if (other_ == RankProcessors::kNoRank || other_ > ranks_.mine()) return;
  if (move_tried_ns_ != 0 && now_ns - move_tried_ns_ < kMoveIntervalNs) return;
  move_tried_ns_ = now_ns;
  for (const std::uint32_t processor : scheduler_.allowed()) {
    if (processor == processor_ || ranks_.other_on(processor) != RankProcessors::kNoRank) continue;
    scheduler_.move_to(processor);
    return update();
  }
}

}  // namespace margay::sim
