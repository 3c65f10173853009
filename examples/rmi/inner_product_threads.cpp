// The inner product of a vector with itself by explicit shared memory (paper 004, section 7.3, table 2: "explicit
// shared-memory uses Pthreads, and a sequential summation"). Without margay:
//
//   inner_product_threads [THREADS [ELEMENTS [TURNS]]]
#include <algorithm>
#include <barrier>
#include <numeric>
#include <thread>
#include <vector>

#include "common.hpp"

int main(int argc, char** argv) {
  const auto threads = static_cast<int>(example::argument(argc, argv, 1, 2));
  const std::size_t elements = example::argument(argc, argv, 2, 1000000);
  const std::size_t turns = example::argument(argc, argv, 3, 1);
  std::vector<double> parts(static_cast<std::size_t>(threads));
  double best = 1e9, product = 0;
  std::barrier barrier(threads);
  const auto run = [&](int id) {
    const std::size_t first = example::first_of(elements, id, threads);
    std::vector<double> values(example::first_of(elements, id + 1, threads) - first);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = example::small_number(first + i);
    for (std::size_t turn = 0; turn < turns; ++turn) {
      barrier.arrive_and_wait();
      const example::Clock clock;
      parts[static_cast<std::size_t>(id)] = std::inner_product(values.begin(), values.end(), values.begin(), 0.0);
      barrier.arrive_and_wait();
      if (id != 0) continue;
      product = std::accumulate(parts.begin(), parts.end(), 0.0);
      best = std::min(best, clock.seconds());
    }
  };
  std::vector<std::thread> others;
  for (int id = 1; id < threads; ++id) others.emplace_back(run, id);
  run(0);
  for (std::thread& other : others) other.join();
  return example::report("inner_product_threads", threads, elements, best,
                         product == example::product_of_small_numbers(elements));
}
