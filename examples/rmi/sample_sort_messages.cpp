// The paper's sample sort by explicit messages (paper 004, section 4, second listing), with MPI:
//
//   margay run -n 4 sample_sort_messages [INTEGERS [TURNS]]
//
// Lines that differ from the listing are marked "corrected". sample_sort.cpp is the same by RMI: its fence knows when
// all elements have arrived, and its requests are gathered in buffers.
#include <mpi.h>

#include <algorithm>
#include <vector>

#include "mpi_check.hpp"

namespace {

constexpr int kElement = 1, kEnd = 2;

std::vector<int> sort(std::vector<int>& input, int p) {
  std::vector<int> splitters(static_cast<std::size_t>(p));  // corrected: p samples, because each rank sends one
  std::vector<int> bucket;                                  // corrected: empty; the listing's begins with p zeros

  int id = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &id);
  int sample = example::sample_of(input, id, p);
  // Corrected: all ranks need the samples; Gather gives them to one.
  MPI_Allgather(&sample, 1, MPI_INT, splitters.data(), 1, MPI_INT, MPI_COMM_WORLD);
  std::sort(splitters.begin(), splitters.end());  // corrected: in order
  splitters.pop_back();                           // corrected: p - 1 splitters separate p buckets

  int ended = 0;
  // Receives the messages that have arrived; corrected: they include each rank's end, because a probe cannot know
  // whether all elements have arrived.
  const auto receive = [&] {
    int arrived = 0;
    MPI_Status status;
    while (MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &arrived, &status), arrived != 0) {
      int tmp = 0;
      MPI_Recv(&tmp, 1, MPI_INT, status.MPI_SOURCE, status.MPI_TAG, MPI_COMM_WORLD, &status);
      if (status.MPI_TAG == kElement)
        bucket.push_back(tmp);
      else
        ++ended;
    }
  };
  for (std::size_t i = 0; i < input.size(); i++) {
    int dest = static_cast<int>(std::upper_bound(splitters.begin(), splitters.end(), input[i]) - splitters.begin());
    MPI_Send(&input[i], 1, MPI_INT, dest, kElement, MPI_COMM_WORLD);
    receive();  // corrected: a Send may wait until its receiver receives
  }
  for (int dest = 0; dest < p; ++dest) MPI_Send(nullptr, 0, MPI_INT, dest, kEnd, MPI_COMM_WORLD);
  while (ended < p) receive();

  std::sort(bucket.begin(), bucket.end());
  return bucket;
}

}  // namespace

int main(int argc, char** argv) {
  return example::run_sort(argc, argv, "sample_sort_messages", sort);
}
