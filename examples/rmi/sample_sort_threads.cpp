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

#include "common.hpp"

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
  const auto threads = static_cast<int>(example::argument(argc, argv, 1, 2));
  const std::size_t integers = example::argument(argc, argv, 2, 1000000);
  const std::size_t turns = example::argument(argc, argv, 3, 1);
  vector<int> input;
  for (std::size_t i = 0; i < integers; ++i) input.push_back(example::random_integer(i));

  double best = 1e9;
  bool right = true;
  for (std::size_t turn = 0; turn < turns; ++turn) {
    const example::Clock clock;
    const vector<vector<int>> buckets = sort(input.data(), static_cast<int>(input.size()), threads);
    best = std::min(best, clock.seconds());
    example::Summary output;
    for (const vector<int>& bucket : buckets) output = example::combined(output, example::summary_of(bucket));
    right = right && example::is_sorted_input(example::summary_of(input), output);
  }
  return example::report("sample_sort_threads", threads, integers, best, right);
}
