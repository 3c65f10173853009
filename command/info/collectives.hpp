// `margay info --collectives`: the rates of this machine, what follows from them for a group, and the picture of it.
#pragma once

#include <string>

namespace margay::command {

// `margay info --collectives`: of so many ranks on so many nodes; by other rates than a run's, or empty (MARGAY_RATES);
// drawn into a file ("-": standard output), or empty: as text.
struct CollectivesQuestion {
  unsigned ranks = 2;
  unsigned nodes = 1;
  std::string rates;
  std::string plot;
};

// The exit status. Measures where nothing was measured on this machine, and keeps it: the first use.
[[nodiscard]] int info_collectives(const CollectivesQuestion& question);

}  // namespace margay::command
