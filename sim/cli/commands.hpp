// The commands other than `run`.
#pragma once

#include <string>
#include <vector>

#include "sim/trace/story/words.hpp"

namespace margay::sim {

// What a layer above sim chooses, as lines for `margay info --protocols`. For a job of `ranks` ranks of which each has
// a processor, or not (`crowded`).
using DescribeChoices = std::vector<std::string> (*)(unsigned ranks, bool crowded);

// `margay info --collectives`: of so many ranks on so many nodes; by other rates than a run's, or empty (MARGAY_RATES);
// drawn into a file ("-": standard output), or empty: as text.
struct CollectivesQuestion {
  unsigned ranks = 2;
  unsigned nodes = 1;
  std::string rates;
  std::string plot;
};

// `margay calibrate`: into a file, the installation's, or, both empty, the user's; `print`: into none.
struct CalibrateOrder {
  std::string file;
  bool installed = false;
  bool print = false;
};

// What the layers above sim do for these commands; both give the exit status.
struct LayersAbove {
  std::vector<DescribeChoices> choices;
  std::vector<std::string> (*windows)();  // what `margay info` says of them
  int (*info_collectives)(const CollectivesQuestion& question);
  int (*calibrate)(const CalibrateOrder& order);
  CallSite call_site;     // for `margay trace`
  std::string_view page;  // of `margay trace view`; empty: built without
};

// Parses the whole line and runs its command; the exit status.
[[nodiscard]] int run_cli(int argc, char** argv, const LayersAbove& layers_above);

}  // namespace margay::sim
