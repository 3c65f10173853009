// The commands other than `run`.
#pragma once

#include <cstdint>
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

// `margay stacks`: of a job by its name or launcher, or of a process; empty: of the one job that runs.
struct StacksOrder {
  std::string job;
  std::int64_t rank = -1;  // of one rank only
  bool all = false;        // the library's frames and threads too
};

// What the layers above sim do for these commands; they give the exit status.
struct LayersAbove {
  std::vector<DescribeChoices> choices;
  std::vector<std::string> (*windows)();  // what `margay info` says of them
  int (*info_collectives)(const CollectivesQuestion& question);
  int (*calibrate)(const CalibrateOrder& order);
  int (*stacks)(const StacksOrder& order);
  CallSite call_site;     // for `margay trace`
  std::string_view page;  // of `margay trace view`; empty: built without
};

// Parses the whole line and runs its command; the exit status.
[[nodiscard]] int run_cli(int argc, char** argv, const LayersAbove& layers_above);

}  // namespace margay::sim
