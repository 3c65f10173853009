// How many processors this process may use: its affinity mask and its control group's quota.
#pragma once

#include <string>

namespace margay::sim {

struct ProcessorShare {
  double processors = 1;  // may be a fraction under a quota
  std::string words;      // "2 allowed processors", with the quota when it is what limits
};
[[nodiscard]] ProcessorShare processor_share();

}  // namespace margay::sim
