// A sample sort as it is written by hand with MPI, to compare p_sort.cpp with:
//
//   margay run -n 4 sort_mpi [INTEGERS [TURNS]]
//
// Each rank sorts its part, so that the elements for one rank are one range; all ranges are exchanged by one call, and
// merged.
#include <mpi.h>

#include <algorithm>
#include <vector>

#include "mpi_check.hpp"

namespace {

constexpr int kSamples = 512;

// The greatest element of each rank's bucket but the last. `input` is sorted.
std::vector<int> find_splitters(const std::vector<int>& input, int p) {
  std::vector<int> samples(kSamples, std::numeric_limits<int>::max()), all(kSamples * static_cast<std::size_t>(p));
  if (!input.empty())
    for (std::size_t i = 0; i < kSamples; ++i) samples[i] = input[i * input.size() / kSamples];
  MPI_Allgather(samples.data(), kSamples, MPI_INT, all.data(), kSamples, MPI_INT, MPI_COMM_WORLD);
  std::sort(all.begin(), all.end());
  std::vector<int> splitters;
  for (std::size_t rank = 1; rank < static_cast<std::size_t>(p); ++rank) splitters.push_back(all[rank * kSamples]);
  return splitters;
}

// Offsets from counts, and the sum behind them.
std::vector<int> offsets_of(const std::vector<int>& counts) {
  std::vector<int> offsets{0};
  for (const int count : counts) offsets.push_back(offsets.back() + count);
  return offsets;
}

std::vector<int> sort(std::vector<int>& input, int p) {
  std::sort(input.begin(), input.end());
  const std::vector<int> splitters = find_splitters(input, p);
  std::vector<int> counts, theirs(static_cast<std::size_t>(p));
  auto begin = input.begin();
  for (const int splitter : splitters) {
    const auto end = std::upper_bound(begin, input.end(), splitter);
    counts.push_back(static_cast<int>(end - begin));
    begin = end;
  }
  counts.push_back(static_cast<int>(input.end() - begin));
  MPI_Alltoall(counts.data(), 1, MPI_INT, theirs.data(), 1, MPI_INT, MPI_COMM_WORLD);
  const std::vector<int> offsets = offsets_of(counts), starts = offsets_of(theirs);
  std::vector<int> bucket(static_cast<std::size_t>(starts.back()));
  MPI_Alltoallv(input.data(), counts.data(), offsets.data(), MPI_INT, bucket.data(), theirs.data(), starts.data(),
                MPI_INT, MPI_COMM_WORLD);
  // Merges neighbours, then pairs of pairs.
  for (int width = 1; width < p; width *= 2) {
    for (int rank = 0; rank + width < p; rank += 2 * width) {
      const auto at = [&](int source) {
        return bucket.begin() + starts[static_cast<std::size_t>(std::min(source, p))];
      };
      std::inplace_merge(at(rank), at(rank + width), at(rank + 2 * width));
    }
  }
  return bucket;
}

}  // namespace

int main(int argc, char** argv) {
  return example::run_sort(argc, argv, "sort_mpi", sort);
}
