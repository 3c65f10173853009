// Cases of p_sort, p_find and p_inner_product: rmi_algorithms CASE...
#include <margay/rmi/stapl.hpp>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <numeric>
#include <optional>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "cases.hpp"

namespace rmi = margay::rmi;

namespace {

using cases::need, cases::need_error;
using rmi::get_node_id, rmi::get_num_nodes, rmi::pRange, rmi::pvector, rmi::rmi_fence, rmi::transfer;

// A class with define_type(), ordered by one member.
struct Track {
  std::string name;
  int height = 0;
  void define_type(rmi::typer& type) { type.local(name, height); }
  bool operator==(const Track&) const = default;
};
bool operator<(const Track& one, const Track& other) {
  return one.height < other.height;
}

// Fills the vector with `all`, which is equal on all nodes.
template <class T>
void fill(pvector<T>& values, const std::vector<T>& all) {
  if (get_node_id() == 0) values.write(0, all);
  rmi_fence();
}

template <class T, class Compare = std::less<>>
void check_sort(std::vector<T> all, const std::string& what, Compare compare = {}) {
  for (const transfer by : {transfer::ranges, transfer::elements}) {
    pvector<T> values(all.size());
    fill(values, all);
    rmi::p_sort(values, by, compare);
    std::vector<T> sorted = all;
    std::sort(sorted.begin(), sorted.end(), compare);
    need(std::vector<T>(values) == sorted, what + " of " + std::to_string(all.size()));
    rmi_fence();
  }
}

std::vector<int> numbers(std::size_t count, int most) {
  std::mt19937 random(static_cast<unsigned>(count) + static_cast<unsigned>(most));
  std::vector<int> all;
  for (std::size_t i = 0; i < count; ++i) all.push_back(static_cast<int>(random() % static_cast<unsigned>(most)));
  return all;
}

void sorting() {
  const auto nodes = static_cast<std::size_t>(get_num_nodes());
  for (const std::size_t count : {std::size_t{0}, std::size_t{1}, nodes - 1, nodes, nodes + 1, 5 * nodes + 3,
                                  std::size_t{1000}, std::size_t{20000}}) {
    check_sort(numbers(count, 1 << 30), "random integers");
    check_sort(numbers(count, 3), "three values");
    check_sort(numbers(count, 1), "equal integers");
    std::vector<int> sorted = numbers(count, 1 << 30);
    std::sort(sorted.begin(), sorted.end());
    check_sort(sorted, "sorted integers");
    check_sort(std::vector<int>(sorted.rbegin(), sorted.rend()), "integers in descending order");
  }
  check_sort(numbers(3000, 1000), "descending", std::greater<>());
  std::vector<std::string> words;
  std::vector<Track> tracks;
  for (const int number : numbers(2000, 1 << 20)) {
    words.push_back(std::string(static_cast<std::size_t>(number % 30), 'w') + std::to_string(number));
    tracks.push_back({words.back(), number * 2 + static_cast<int>(tracks.size() % 2)});
  }
  check_sort(words, "strings");
  // Distinct heights, so that the order of equal elements does not matter.
  std::sort(tracks.begin(), tracks.end());
  tracks.erase(std::unique(tracks.begin(), tracks.end(), [](auto& a, auto& b) { return a.height == b.height; }),
               tracks.end());
  std::shuffle(tracks.begin(), tracks.end(), std::mt19937(1));
  check_sort(tracks, "objects");
}

// A range of a vector; the elements beside it stay.
void subranges() {
  std::vector<int> all = numbers(3000, 1000);
  for (const transfer by : {transfer::ranges, transfer::elements}) {
    for (const std::size_t first : {0, 1, 1400, 2990, 3000}) {
      for (const std::size_t count : {0, 1, 10, 777, 3000}) {
        if (first + count > all.size()) continue;
        pvector<int> values(all.size());
        fill(values, all);
        rmi::p_sort(pRange(values, first, count), by);
        std::vector<int> sorted = all;
        const auto begin = sorted.begin() + static_cast<std::ptrdiff_t>(first);
        std::sort(begin, begin + static_cast<std::ptrdiff_t>(count));
        need(std::vector<int>(values) == sorted, "a sorted range");
        rmi_fence();
      }
    }
  }
}

struct Prickly {
  int value = 0;
  bool operator==(const Prickly& other) const {
    if (value == 13) throw std::runtime_error("thirteen");
    return value == other.value;
  }
};

void finding() {
  const auto nodes = static_cast<std::size_t>(get_num_nodes());
  pvector<int> none;
  need(!rmi::p_find(none, 1).has_value(), "nothing in an empty vector");
  const std::size_t count = 10 * nodes;
  pvector<int> values(count, 5);
  need(rmi::p_find(values, 5) == 0U, "node 0's match has precedence");
  need(!rmi::p_find(values, 6).has_value(), "no match");
  // From the last node down: the match of the lowest node wins.
  for (std::size_t node = nodes; node-- > 0;) {
    if (get_node_id() == 0) values[node * 10 + 3] = 6;
    rmi_fence();
    need(rmi::p_find(values, 6) == node * 10 + 3, "the lowest node's match");
    need(rmi::p_find(pRange(values, node * 10 + 4, count - node * 10 - 4), 6) ==
             (node + 1 == nodes ? std::optional<std::size_t>() : (node + 1) * 10 + 3),
         "a match in a range");
  }
  pvector<std::string> words(nodes + 1, "word");
  if (get_node_id() == 0) words[nodes] = "last";
  rmi_fence();
  need(rmi::p_find(words, "last") == nodes, "a string");
  pvector<Prickly> prickly(count);
  if (get_node_id() == 0) prickly[count - 1] = Prickly{13};
  rmi_fence();
  need_error("thirteen", [&] { static_cast<void>(rmi::p_find(prickly, Prickly{1})); });
  need(rmi::p_find(prickly, Prickly{0}) == 0U, "a search after one that failed");
}

void multiplying() {
  const auto nodes = static_cast<std::size_t>(get_num_nodes());
  for (const std::size_t count : {std::size_t{0}, std::size_t{1}, nodes - 1, nodes + 1, std::size_t{10000}}) {
    pvector<int> one(count), other(count);
    std::vector<int> ones = numbers(count, 100), others = numbers(count, 50);
    fill(one, ones);
    fill(other, others);
    const long expected = std::inner_product(ones.begin(), ones.end(), others.begin(), 7L);
    need(rmi::p_inner_product(one, other, 7L) == expected, "the inner product");
    need(rmi::p_inner_product(one, one, 0L) == std::inner_product(ones.begin(), ones.end(), ones.begin(), 0L),
         "of a vector with itself");
    if (count < 3) continue;
    need(rmi::p_inner_product(pRange(one, 1, count - 2), pRange(other, 1, count - 2), 0L) ==
             std::inner_product(ones.begin() + 1, ones.end() - 1, others.begin() + 1, 0L),
         "of ranges");
    need_error("the ranges differ",
               [&] { static_cast<void>(rmi::p_inner_product(pRange(one, 1, 2), pRange(other, 0, 2), 0L)); });
  }
  pvector<double> small(3, 0.5), large(4, 0.5);
  need_error("the ranges differ", [&] { static_cast<void>(rmi::p_inner_product(small, large, 0.0)); });
  need(rmi::p_inner_product(small, small, 1.0) == 1.75, "of numbers with a fraction");
}

constexpr cases::Case kCases[] = {
    {"sorting", sorting}, {"subranges", subranges}, {"finding", finding}, {"multiplying", multiplying}};

int program(int argc, char** argv) {
  return cases::run(argc, argv, kCases);
}

}  // namespace

int main(int argc, char** argv) {
  return rmi::run(argc, argv, program);
}
