// The explicit programs of paper 004, section 7, without RMI: by_hand_mpi.cpp for nodes that are processes,
// by_hand_threads.cpp for nodes that are threads. ping_pong.cpp and fences.cpp are built with each of the two, and
// measure them in turns with RMI.
#pragma once

#include <span>

namespace by_hand {

// Pings from node 0, which node 1 answers by one pong. Called on these two nodes at once; node 0 returns when it has
// the pong.
struct PingPong {
  const char* name;
  void (*play)(int pings);
};
// The first one is the paper's.
[[nodiscard]] std::span<const PingPong> ping_pongs();

// A barrier, or a sum over all nodes. Called on all nodes at once.
struct Barrier {
  const char* name;
  void (*pass)();
};
[[nodiscard]] std::span<const Barrier> barriers();

// Whether all nodes are threads of one process, so that the fences for threads can be measured too.
[[nodiscard]] bool is_by_threads();

// main(): margay::rmi::run(), with MPI if the explicit programs use it.
int run(int argc, char** argv, int (*program)(int, char**));

}  // namespace by_hand
