// main() of the sorts that are written with threads, beside mpi_check.hpp.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "common.hpp"

namespace example {

// NAME [THREADS [INTEGERS [TURNS]]]. `sort(input, threads)` returns the buckets in order.
template <class Sort>
int run_sort_in_threads(int argc, char** argv, const char* program, Sort&& sort) {
  const auto threads = static_cast<int>(argument(argc, argv, 1, 2));
  const std::size_t integers = argument(argc, argv, 2, 1000000);
  const std::size_t turns = argument(argc, argv, 3, 1);
  std::vector<int> input;
  for (std::size_t i = 0; i < integers; ++i) input.push_back(random_integer(i));

  double best = 1e9;
  bool right = true;
  for (std::size_t turn = 0; turn < turns; ++turn) {
    const Clock clock;
    const std::vector<std::vector<int>> buckets = sort(input, threads);
    best = std::min(best, clock.seconds());
    Summary output;
    for (const std::vector<int>& bucket : buckets) output = combined(output, summary_of(bucket));
    right = right && is_sorted_input(summary_of(input), output);
  }
  return report(program, threads, integers, best, right);
}

}  // namespace example
