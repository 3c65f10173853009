#include "sim/kernel/company.hpp"

namespace margay::sim {

// Of two the one with the higher number goes: else both might, and meet again.
void Company::part(const Clock& clock) {
  if (!found_ || other_ > ranks_.mine()) return;
  const std::uint64_t now = clock.now_ns();
  if (parted_ns_ != 0 && now - parted_ns_ < kPartAtMostEachNs) return;
  parted_ns_ = now;
  for (const std::uint32_t processor : scheduler_.allowed()) {
    if (processor == processor_ || ranks_.other_on(processor) != RankProcessors::kNobody) continue;
    scheduler_.move_to(processor);
    return look();
  }
}

}  // namespace margay::sim
