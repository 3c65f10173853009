// The beginning of the experiments' programs: MPI and Nexus in one program, and a startpoint to each context.
#pragma once

#include <margay/nexus.hpp>
#include <margay/polling.h>
#include <mpi.h>

#include <cstddef>
#include <cstdio>
#include <span>
#include <vector>

// Starts both libraries, and ends them. MPI exchanges the first startpoints, and times the measurements.
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

// The startpoints of all contexts' endpoints, by context. Collective.
inline std::vector<margay::nexus::Startpoint> exchange(const margay::nexus::Endpoint& own) {
  margay::nexus::Buffer mine;
  mine.put(margay::nexus::Startpoint(own));
  const int contexts = margay::nexus::contexts();
  const int bytes = static_cast<int>(mine.bytes().size());
  std::vector<int> lengths(contexts), places(contexts);
  MPI_Allgather(&bytes, 1, MPI_INT, lengths.data(), 1, MPI_INT, MPI_COMM_WORLD);
  for (int i = 1; i < contexts; ++i) places[i] = places[i - 1] + lengths[i - 1];
  std::vector<std::byte> all(static_cast<std::size_t>(places.back() + lengths.back()));
  MPI_Allgatherv(mine.bytes().data(), bytes, MPI_BYTE, all.data(), lengths.data(), places.data(), MPI_BYTE,
                 MPI_COMM_WORLD);
  std::vector<margay::nexus::Startpoint> startpoints;
  for (int i = 0; i < contexts; ++i) {
    margay::nexus::Buffer its = margay::nexus::Buffer::view(
        std::span(all).subspan(static_cast<std::size_t>(places[i]), static_cast<std::size_t>(lengths[i])));
    startpoints.push_back(its.get<margay::nexus::Startpoint>());
  }
  return startpoints;
}

// The arguments of a request with a body of this length; none for 0 bytes.
inline margay::nexus::Buffer body_of(std::size_t bytes) {
  margay::nexus::Buffer buffer;
  if (bytes != 0) buffer.put(std::vector<std::byte>(bytes));
  return buffer;
}

// The polls of this rank's slow wire so far, and those that found something.
struct SlowPolls {
  unsigned long long polls = 0, hits = 0;
};
inline SlowPolls slow_polls() {
  SlowPolls counts;
  MPIX_Margay_poll_counts("tcp", &counts.polls, &counts.hits, nullptr, nullptr);
  return counts;
}
