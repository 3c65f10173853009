// Order keys: numbers that grow along the chain, with gaps, so that the order of two entries is one comparison.
// Internal to portals. When a gap is used up, the smallest neighbourhood that is sparse enough is spread out again
// (Bender and others, "Two simplified algorithms for maintaining order in a list", 2002); that is rare, because a new
// entry is put just after its predecessor and leaves the large gap where the next one will come.
#pragma once

#include <cstdint>

namespace margay::portals {

inline constexpr unsigned kOrderBits = 62;
inline constexpr std::uint64_t kOrderEnd = std::uint64_t{1} << kOrderBits;  // keys are above 0 and below this
inline constexpr std::uint64_t kOrderStep = std::uint64_t{1} << 20;
static_assert(kOrderStep < kOrderEnd / 4);  // the first entry has steps on both sides

// A key between two neighbours (0 and kOrderEnd stand for none), or 0 when there is none left. `few`: the chain is so
// short that the beginning may be halved instead of stepped back from.
[[nodiscard]] constexpr std::uint64_t order_between(std::uint64_t before, std::uint64_t after, bool few) {
  const std::uint64_t gap = after - before;
  if (gap < 2) return 0;
  if (before == 0 && after == kOrderEnd) return kOrderEnd / 2;
  if (before == 0) return few || gap <= 2 * kOrderStep ? after / 2 : after - kOrderStep;
  return gap > 2 * kOrderStep ? before + kOrderStep : before + gap / 2;
}

}  // namespace margay::portals
