// A sample sort as it is tuned by hand with threads, to compare p_sort.cpp with. Without margay:
//
//   sort_threads [THREADS [INTEGERS [TURNS]]]
//
// As the paper's (004, section 7.3): each thread "buffers elements locally", then copies "its portion contained in the
// other processors' buffer to a local array", and sorts it. The first listing of section 4, with a lock for each
// element, is sample_sort_threads.cpp.
#include <algorithm>
#include <barrier>
#include <cstddef>
#include <thread>
#include <vector>

#include "threads_check.hpp"

namespace {

using Buckets = std::vector<std::vector<int>>;

constexpr std::size_t kSamples = 512;  // of each thread

// The least element of each bucket but the first, in order.
std::vector<int> find_splitters(const std::vector<int>& input, std::size_t p) {
  std::vector<int> samples, splitters;
  for (std::size_t i = 0; i < kSamples * p && !input.empty(); ++i)
    samples.push_back(input[i * input.size() / (kSamples * p)]);
  std::sort(samples.begin(), samples.end());
  for (std::size_t bucket = 1; bucket < p && !samples.empty(); ++bucket)
    splitters.push_back(samples[bucket * kSamples]);
  return splitters;
}

Buckets sort(const std::vector<int>& input, int threads) {
  const auto p = static_cast<std::size_t>(threads);
  const std::vector<int> splitters = find_splitters(input, p);
  std::vector<Buckets> buffers(p, Buckets(p));  // of each thread for each other one
  Buckets sorted(p);
  std::barrier all_buffered(threads);
  const auto run = [&](int id) {
    const auto mine = static_cast<std::size_t>(id);
    // Built here, so that threads do not write to the same cache line.
    Buckets buffer(p);
    for (std::vector<int>& part : buffer) part.reserve(input.size() / p / p * 5 / 4);
    const std::size_t end = example::first_of(input.size(), id + 1, threads);
    for (std::size_t i = example::first_of(input.size(), id, threads); i < end; ++i) {
      const auto after = std::upper_bound(splitters.begin(), splitters.end(), input[i]);
      buffer[static_cast<std::size_t>(after - splitters.begin())].push_back(input[i]);
    }
    buffers[mine] = std::move(buffer);
    all_buffered.arrive_and_wait();

    std::vector<int> bucket;
    std::size_t size = 0;
    for (const Buckets& source : buffers) size += source[mine].size();
    bucket.reserve(size);
    for (const Buckets& source : buffers) bucket.insert(bucket.end(), source[mine].begin(), source[mine].end());
    std::sort(bucket.begin(), bucket.end());
    sorted[mine] = std::move(bucket);
  };
  std::vector<std::thread> others;
  for (int id = 1; id < threads; ++id) others.emplace_back(run, id);
  run(0);
  for (std::thread& other : others) other.join();
  return sorted;
}

}  // namespace

int main(int argc, char** argv) {
  return example::run_sort_in_threads(argc, argv, "sort_threads", sort);
}
