// The paper's sample sort by explicit shared memory (paper 004, section 4, first listing), with POSIX threads by way of
// std::thread. Without margay:
//
//   sample_sort_threads [THREADS [INTEGERS [TURNS]]]
//
// Lines that differ from the listing are marked "corrected". sample_sort.cpp is the same by RMI: it needs no locks,
// because methods called by RMI are atomic, and its fence is the barrier.
#include <algorithm>
#include <barrier>
#include <mutex>
#include <thread>
#include <vector>

#include "threads_check.hpp"

namespace {

using std::vector;

// The result, by bucket.
vector<vector<int>> sort(const int* input, int size, int p) {
  std::vector<int> splitters;
  std::vector<vector<int>> buckets(static_cast<std::size_t>(p));
  std::vector<std::mutex> locks(static_cast<std::size_t>(p));

  // Corrected: the listing assigns each sample to splitters[p - 1], which is out of range.
  for (int i = 0; i < p - 1; i++)
    splitters.push_back(example::sample_of({input, static_cast<std::size_t>(size)}, i, p));

  std::barrier barrier(p);
  const auto run = [&](int id) {
    const auto end = static_cast<int>(example::first_of(static_cast<std::size_t>(size), id + 1, p));
    // Corrected: also the last elements, if p does not divide the size.
    for (auto i = static_cast<int>(example::first_of(static_cast<std::size_t>(size), id, p)); i < end; i++) {
      const auto dest =
          static_cast<std::size_t>(std::upper_bound(splitters.begin(), splitters.end(), input[i]) - splitters.begin());
      locks[dest].lock();
      buckets[dest].push_back(input[i]);
      locks[dest].unlock();
    }
    barrier.arrive_and_wait();

    vector<int>& bucket = buckets[static_cast<std::size_t>(id)];
    std::sort(bucket.begin(), bucket.end());
  };
  vector<std::thread> threads;
  for (int id = 0; id < p; ++id) threads.emplace_back(run, id);
  for (std::thread& thread : threads) thread.join();
  return buckets;
}

}  // namespace

int main(int argc, char** argv) {
  return example::run_sort_in_threads(argc, argv, "sample_sort_threads", [](const vector<int>& input, int p) {
    return sort(input.data(), static_cast<int>(input.size()), p);
  });
}
