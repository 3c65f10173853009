// The input, the check, the clock and the line of output of the programs in this folder.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <span>
#include <vector>

namespace example {

// The arguments of a program, positive integers by position, with their defaults.
inline std::size_t argument(int argc, char** argv, int position, std::size_t usual) {
  return argc > position ? std::strtoull(argv[position], nullptr, 10) : usual;
}

// Random number i, the same on all nodes: SplitMix64.
inline std::uint64_t random_number(std::uint64_t i) {
  std::uint64_t x = (i + 1) * 0x9e3779b97f4a7c15U;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
  return x ^ (x >> 31);
}
// Random integer i, not negative.
inline int random_integer(std::size_t i) {
  return static_cast<int>(random_number(i) >> 33);
}
// The first of `count` elements that node `node` of `nodes` has as its input.
inline std::size_t first_of(std::size_t count, int node, int nodes) {
  return count * static_cast<std::size_t>(node) / static_cast<std::size_t>(nodes);
}

// Element i of the inner products: 0 to 3, so that sums of squares are exact and independent of their order.
inline double small_number(std::size_t i) {
  return static_cast<double>(i % 4);
}
inline double product_of_small_numbers(std::size_t count) {
  double sum = static_cast<double>(count / 4) * (0 + 1 + 4 + 9);
  for (std::size_t i = count / 4 * 4; i < count; ++i) sum += small_number(i) * small_number(i);
  return sum;
}

// The sample of node `id` of `p` in the listings, which leave it open: the element below which (id + 1) / p of the
// input are, estimated from 1000 elements. One random element from each node would give buckets of very different
// sizes.
inline int sample_of(std::span<const int> input, int id, int p) {
  if (input.empty()) return std::numeric_limits<int>::max();
  const std::size_t count = std::min<std::size_t>(input.size(), 1000);
  std::vector<int> some;
  for (std::size_t i = 0; i < count; ++i) some.push_back(input[i * input.size() / count]);
  std::sort(some.begin(), some.end());
  return some[first_of(count - 1, id + 1, p)];
}

// Integers of one node, or of several in the order of nodes: enough to see that a sort lost none and ordered all.
struct Summary {
  std::uint64_t count = 0;
  // Of random functions of the integers, which do not depend on their order.
  std::uint64_t sum = 0;
  int first = 0, last = 0;
  bool sorted = true;
};
inline Summary summary_of(std::span<const int> values) {
  Summary summary;
  if (values.empty()) return summary;
  summary.count = values.size();
  for (const int value : values) summary.sum += random_number(static_cast<std::uint64_t>(value));
  summary.first = values.front();
  summary.last = values.back();
  summary.sorted = std::is_sorted(values.begin(), values.end());
  return summary;
}
// The summary of `one`'s integers, then `other`'s.
inline Summary combined(const Summary& one, const Summary& other) {
  if (one.count == 0) return other;
  if (other.count == 0) return one;
  return {one.count + other.count, one.sum + other.sum, one.first, other.last,
          one.sorted && other.sorted && one.last <= other.first};
}
// Whether `output` is `input`, sorted.
inline bool is_sorted_input(const Summary& input, const Summary& output) {
  return output.sorted && output.count == input.count && output.sum == input.sum;
}

// Seconds since its construction.
class Clock {
 public:
  [[nodiscard]] double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
  }

 private:
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

// The line of output, from one node. Returns the exit status.
inline int report(const char* program, int nodes, std::size_t elements, double seconds, bool right) {
  std::printf("%s: nodes %d elements %zu seconds %.6f %s\n", program, nodes, elements, seconds,
              right ? "right" : "WRONG");
  return right ? 0 : 1;
}

}  // namespace example
