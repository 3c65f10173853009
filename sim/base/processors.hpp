// How many processors this process may use: its affinity mask and its control group's quota.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace margay::sim {

struct ProcessorShare {
  double processors = 1;  // may be a fraction under a quota
  std::string words;      // "2 allowed processors", with the quota when it is what limits
};
[[nodiscard]] ProcessorShare processor_share();

// Whether processes that wait yield at once: because it was asked for ("yield", and not "spin"), or because `processes`
// of them outnumber the processors.
[[nodiscard]] bool are_crowded(std::string_view asked, std::uint32_t processes, const ProcessorShare& share);

}  // namespace margay::sim
