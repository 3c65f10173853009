// Samples of the programs beside by_hand.hpp: lines SERIES,X,MICROSECONDS from node 0.
#pragma once

#include <cstdio>
#include <margay/rmi.hpp>
#include <string>

#include "common.hpp"

namespace example {

// argument() of common.hpp, as an int.
inline int count_argument(int argc, char** argv, int position, int usual) {
  return static_cast<int>(argument(argc, argv, position, static_cast<std::size_t>(usual)));
}

// Calls work() on all nodes, which begin together, and prints the time of one of its `count` operations on node 0.
template <class Work>
void measure(const std::string& series, int x, int count, Work&& work) {
  margay::rmi::rmi_fence();
  const Clock clock;
  work();
  const double microseconds = 1e6 * clock.seconds() / count;
  if (margay::rmi::get_node_id() == 0) std::printf("%s,%d,%.4f\n", series.c_str(), x, microseconds);
}

}  // namespace example
