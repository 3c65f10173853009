// Cases of pvector and pRange: rmi_containers CASE...
#include <margay/rmi/stapl.hpp>

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "cases.hpp"

namespace rmi = margay::rmi;

namespace {

using cases::need, cases::need_error;
using rmi::async_rmi, rmi::get_node_id, rmi::get_num_nodes, rmi::pvector, rmi::rmi_fence;

// A class with define_type().
struct Track {
  std::string name;
  std::vector<double> heights;
  void define_type(rmi::typer& type) { type.local(name, heights); }
  bool operator==(const Track&) const = default;
};

template <class T>
T value_of(std::size_t i);
template <>
int value_of<int>(std::size_t i) {
  return static_cast<int>(3 * i + 1);
}
template <>
std::string value_of<std::string>(std::size_t i) {
  return std::string(i % 40, 'x') + std::to_string(i);
}
template <>
Track value_of<Track>(std::size_t i) {
  return {std::to_string(i), std::vector<double>(i % 7, static_cast<double>(i))};
}

// Empty, fewer elements than nodes, as many, more, and requests longer than a buffer.
std::vector<std::size_t> sizes() {
  const auto nodes = static_cast<std::size_t>(get_num_nodes());
  return {0, 1, nodes - 1, nodes, nodes + 1, 3 * nodes + 2, 5000};
}

template <class T>
std::vector<T> expected(std::size_t size) {
  std::vector<T> values;
  for (std::size_t i = 0; i < size; ++i) values.push_back(value_of<T>(i));
  return values;
}

// Assigns the elements whose index modulo the number of nodes is this node's number: most are on other nodes.
template <class T>
void assign_mine(pvector<T>& values) {
  const auto nodes = static_cast<std::size_t>(get_num_nodes());
  for (auto i = static_cast<std::size_t>(get_node_id()); i < values.size(); i += nodes) values[i] = value_of<T>(i);
}

template <class T>
void check_elements() {
  const auto nodes = static_cast<std::size_t>(get_num_nodes());
  for (const std::size_t size : sizes()) {
    pvector<T> values(size, value_of<T>(99));
    need(values.size() == size, "the size of the constructor");
    const std::size_t mine = values.local().size();
    need(mine == size / nodes || mine == size / nodes + 1, "parts of equal sizes");
    need(std::vector<T>(values) == std::vector<T>(size, value_of<T>(99)), "copies of the initial value");
    rmi_fence();
    assign_mine(values);
    rmi_fence();
    const pvector<T>& constant = values;
    for (std::size_t i = 0; i < std::min<std::size_t>(size, 50); ++i) {
      need(constant[i] == value_of<T>(i), "an access by const");
      need(static_cast<T>(values[i]) == value_of<T>(i), "an access by a reference");
    }
    need(std::vector<T>(values) == expected<T>(size), "a copy into a std::vector");
    const std::size_t first = values.parts().part_of(get_node_id()).first;
    for (std::size_t i = 0; i < mine; ++i) need(values.local()[i] == value_of<T>(first + i), "elements in place");
    rmi_fence();
    // An element is assigned from another one.
    if (size > 1 && get_node_id() == 0) values[0] = values[size - 1];
    rmi_fence();
    need(size < 2 || constant[0] == value_of<T>(size - 1), "an element assigned from an element");
    rmi_fence();
  }
}

void elements() {
  check_elements<int>();
  check_elements<std::string>();
  check_elements<Track>();
}

template <class T>
void check_ranges(std::size_t size) {
  pvector<T> values(size, value_of<T>(0));
  const auto nodes = static_cast<std::size_t>(get_num_nodes());
  const auto me = static_cast<std::size_t>(get_node_id());
  // Each node writes one of `nodes` ranges, shifted so that a range lies on two nodes.
  const std::size_t shift = size / nodes / 2, length = size / nodes;
  const std::size_t first = std::min(size, me * length + shift);
  const std::size_t end = me + 1 == nodes ? size : std::min(size, first + length);
  std::vector<T> mine;
  for (std::size_t i = first; i < end; ++i) mine.push_back(value_of<T>(i));
  values.write(first, mine);
  if (me == 0) {
    const std::vector<T> begin = expected<T>(shift);
    values.write(0, begin);
  }
  rmi_fence();
  const std::vector<T> all = expected<T>(size);
  need(values.read(0, size) == all, "all elements");
  need(values.read(0, 0).empty() && values.read(size, 0).empty(), "no elements");
  for (std::size_t from = 0; from < size; from += 1 + size / 13) {
    const std::size_t count = std::min(size - from, 1 + size / 3);
    const auto begin = all.begin() + static_cast<std::ptrdiff_t>(from);
    need(values.read(from, count) == std::vector<T>(begin, begin + static_cast<std::ptrdiff_t>(count)), "a range");
    const rmi::pRange range(values, from, count);
    std::size_t sum = 0;
    for (int node = 0; node < range.num_parts(); ++node) sum += range[node].count;
    need(sum == count && range.local().size() == range[get_node_id()].count, "the parts of a range");
    std::size_t index = range[get_node_id()].first;
    for (const T& element : range.local()) need(element == all[index++], "a range's elements in place");
  }
  rmi_fence();
}

void ranges() {
  for (const std::size_t size : sizes()) {
    check_ranges<int>(size);
    check_ranges<std::string>(size);
  }
  check_ranges<int>(1000000);
}

// As in the paper's listing, all nodes append to all elements, in each of the three ways.
void appending() {
  const auto nodes = static_cast<std::size_t>(get_num_nodes());
  const int me = get_node_id();
  pvector<std::vector<int>> buckets(2 * nodes);
  for (int round = 0; round < 300; ++round) {
    for (std::size_t i = 0; i < buckets.size(); ++i) {
      buckets[i].push_back(me);
      buckets.push_back(i, me);
      async_rmi(buckets.parts().find(i).node, &buckets, &pvector<std::vector<int>>::push_back, i, me);
    }
  }
  rmi_fence();
  std::vector<int> all;
  for (int node = 0; node < get_num_nodes(); ++node) all.insert(all.end(), 900, node);
  for (std::vector<int>& bucket : buckets.local()) {
    need(bucket.size() == all.size(), "each append is executed once");
    std::sort(bucket.begin(), bucket.end());
    need(bucket == all, "and has its value");
  }
  need(buckets.parts().find(0).node == 0 && buckets.local().size() == 2, "two elements for each node");
}

// The owner appends to an element while the others' requests do, until all of them are executed.
void contended() {
  constexpr int kTimes = 20000, kMost = 1'000'000;
  const int me = get_node_id(), others = get_num_nodes() - 1;
  const std::uint64_t before = rmi::requests_executed();
  pvector<std::vector<int>> lists(1);
  int mine = 0;
  if (me == 0) {
    do {
      for (int i = 0; i < 64 && mine < kMost; ++i, ++mine) lists[0].push_back(me);
      rmi::rmi_poll();
    } while (rmi::requests_executed() - before < static_cast<std::uint64_t>(others) * kTimes);
  } else {
    for (int i = 0; i < kTimes; ++i) lists[0].push_back(me);
  }
  rmi_fence();
  if (me == 0) {
    const std::vector<int>& list = lists.local()[0];
    need(std::count(list.begin(), list.end(), 0) == mine, "each append of the owner");
    for (int node = 1; node <= others; ++node)
      need(std::count(list.begin(), list.end(), node) == kTimes, "each append of another node");
  }
  rmi_fence();
}

template <class T>
void check_resize() {
  const auto nodes = static_cast<std::size_t>(get_num_nodes());
  pvector<T> values;
  need(values.size() == 0 && values.local().empty(), "an empty pvector");
  rmi_fence();
  std::vector<T> all;
  std::size_t turn = 0;
  for (const std::size_t size : {std::size_t{1}, 3 * nodes, std::size_t{1000}, 2 * nodes + 1, std::size_t{0}, nodes - 1,
                                 std::size_t{500}, std::size_t{3}, std::size_t{4000}}) {
    // One node, each in turn, calls resize().
    if (turn++ % nodes == static_cast<std::size_t>(get_node_id())) values.resize(size, value_of<T>(turn));
    rmi_fence();
    all.resize(size, value_of<T>(turn));
    need(values.size() == size, "the new size");
    const std::size_t mine = values.local().size();
    need(mine == size / nodes || mine == size / nodes + 1, "parts of equal sizes after a resize");
    need(std::vector<T>(values) == all, "old elements, then copies of the initial value");
    rmi_fence();
    for (std::size_t i = 0; i < size; ++i) all[i] = value_of<T>(i);
    assign_mine(values);
    rmi_fence();
  }
}

void resizing() {
  check_resize<int>();
  check_resize<Track>();
  // Several resizes without a fence, from all nodes. Elements that none of them cuts off remain.
  for (int round = 0; round < 20; ++round) {
    pvector<int> values(200, 7);
    assign_mine(values);
    rmi_fence();
    const auto me = static_cast<std::size_t>(get_node_id());
    for (std::size_t i = 0; i < 5; ++i) values.resize(100 + (me * 37 + i * 211) % 500, -1);
    rmi_fence();
    struct Size {
      std::size_t size;
      void take(const int& /*nothing*/, std::vector<std::size_t>& part) { part.push_back(size); }
    } mine{values.size()};
    std::vector<std::size_t> all;
    rmi::collect_rmi(&mine, &Size::take, 0, all, [](auto one, const auto& other) {
      one.insert(one.end(), other.begin(), other.end());
      return one;
    });
    need(std::count(all.begin(), all.end(), all[0]) == get_num_nodes(), "one size on all nodes");
    const std::vector<int> left = values.read(0, 100);
    need(left == expected<int>(100), "elements that no resize cut off");
    rmi_fence();
  }
}

// A class whose assignment throws.
struct Fragile {
  int value = 0;
  Fragile() = default;
  explicit Fragile(int x) : value(x) {}
  Fragile(const Fragile&) = default;
  Fragile& operator=(const Fragile& other) {
    if (other.value < 0) throw std::runtime_error("negative");
    value = other.value;
    return *this;
  }
  ~Fragile() = default;
  void define_type(rmi::typer& type) { type.local(value); }
};

void misuse() {
  pvector<int> values(10), none;
  const pvector<int>& constant = values;
  need_error("invalid index 10; the size is 10", [&] { values[10] = 1; });
  need_error("invalid index 10; the size is 10", [&] { static_cast<void>(constant[10]); });
  need_error("invalid index 0; the size is 0", [&] { none[0] = 1; });
  need_error("invalid range of 2 elements from index 9", [&] { static_cast<void>(values.read(9, 2)); });
  need_error("invalid range of", [&] { static_cast<void>(values.read(1, ~std::size_t{0})); });
  need_error("invalid range of 0 elements from index 11", [&] { static_cast<void>(values.read(11, 0)); });
  need_error("invalid range of 3 elements from index 8", [&] { values.write(8, std::vector<int>(3)); });
  need_error("pRange: invalid range of 5 elements from index 6", [&] { rmi::pRange(values, 6, 5); });
  pvector<std::vector<int>> lists(2);
  need_error("push_back: invalid index 2", [&] { lists.push_back(2, 1); });
  rmi_fence();
  need(std::vector<int>(values) == std::vector<int>(10), "an error sends nothing");

  // An update that fails at the owner makes the next fence of its caller fail.
  pvector<Fragile> fragile(static_cast<std::size_t>(get_num_nodes()));
  const auto next = static_cast<std::size_t>((get_node_id() + 1) % get_num_nodes());
  if (get_num_nodes() > 1) {
    fragile[next] = Fragile(-1);
    need_error("negative", [] { rmi_fence(); });
  }
  rmi_fence();
  fragile[next] = Fragile(5);
  rmi_fence();
  need(static_cast<Fragile>(fragile[next]).value == 5, "an update after a failed one");

  // A method of another object accesses elements, also those of other nodes.
  struct Reader {
    const pvector<int>* from;
    int read(std::size_t index) { return (*from)[index]; }
  } reader{&values};
  const rmi::rmi_object<Reader> handle(reader);
  assign_mine(values);
  rmi_fence();
  need(rmi::sync_rmi(static_cast<int>(next), &reader, &Reader::read, 9) == value_of<int>(9), "an access in a method");
  rmi_fence();
}

constexpr cases::Case kCases[] = {{"elements", elements},   {"ranges", ranges},     {"appending", appending},
                                  {"contended", contended}, {"resizing", resizing}, {"misuse", misuse}};

int program(int argc, char** argv) {
  return cases::run(argc, argv, kCases);
}

}  // namespace

int main(int argc, char** argv) {
  return rmi::run(argc, argv, program);
}
