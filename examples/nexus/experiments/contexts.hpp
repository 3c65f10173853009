// The common part of the experiments' programs, which use MPI and Nexus together.
#pragma once

#include <margay/polling.h>
#include <mpi.h>
#include <margay/nexus.hpp>

#include <cstddef>
#include <cstdio>
#include <vector>

// Starts and ends both libraries. MPI provides the clock, the barriers and the counts of polls.
class Libraries {
 public:
  Libraries(int& argc, char**& argv) {
    MPI_Init(&argc, &argv);
    margay::nexus::init(argc, argv);
  }
  ~Libraries() {
    margay::nexus::finish();
    MPI_Finalize();
  }
  Libraries(const Libraries&) = delete;
  Libraries& operator=(const Libraries&) = delete;
};

// The arguments of a request with a body of this length; none for 0 bytes.
inline margay::nexus::Buffer body_of(std::size_t bytes) {
  margay::nexus::Buffer buffer;
  if (bytes != 0) buffer.put(std::vector<std::byte>(bytes));
  return buffer;
}

// The polls of this rank's slow wire so far, and those that found messages.
struct SlowPolls {
  unsigned long long polls = 0, hits = 0;
};
inline SlowPolls slow_polls() {
  SlowPolls counts;
  MPIX_Margay_poll_counts("tcp", &counts.polls, &counts.hits, nullptr, nullptr);
  return counts;
}
