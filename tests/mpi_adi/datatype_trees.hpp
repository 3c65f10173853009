// Random trees of datatypes, each with its type map written out element by element, for tests of layouts and of
// messages with such types.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <random>
#include <utility>
#include <vector>

#include "mpi_adi/datatype/construct.hpp"
#include "mpi_adi/datatype/predefined_types.hpp"

namespace margay::mpi_adi {

struct Item {
  std::int64_t offset;
  int handle;
  std::int64_t bytes;
};

// A type map as in the standard, with bounds and markers.
struct Map {
  std::vector<Item> items;
  std::vector<std::int64_t> lower_marks, upper_marks;
  std::int64_t least = 0, most = 0;  // without markers
  bool any = false;
  std::int64_t alignment = 1;

  [[nodiscard]] std::int64_t lower() const {
    return lower_marks.empty() ? least : *std::min_element(lower_marks.begin(), lower_marks.end());
  }
  [[nodiscard]] std::int64_t upper() const {
    return upper_marks.empty() ? most : *std::max_element(upper_marks.begin(), upper_marks.end());
  }
  [[nodiscard]] std::int64_t extent() const { return upper() - lower(); }
  [[nodiscard]] std::int64_t bytes() const {
    return std::accumulate(items.begin(), items.end(), std::int64_t{0},
                           [](std::int64_t sum, const Item& item) { return sum + item.bytes; });
  }
  void add(const Map& part, std::int64_t at) {
    for (const Item& item : part.items) items.push_back({item.offset + at, item.handle, item.bytes});
    for (const std::int64_t mark : part.lower_marks) lower_marks.push_back(mark + at);
    for (const std::int64_t mark : part.upper_marks) upper_marks.push_back(mark + at);
    alignment = std::max(alignment, part.alignment);
    if (!part.any) return;
    // The padding of a struct belongs to it; enclosing types see a marker.
    least = any ? std::min(least, part.lower() + at) : part.lower() + at;
    most = any ? std::max(most, part.upper() + at) : part.upper() + at;
    any = true;
  }
  void set(std::int64_t lower_mark, std::int64_t upper_mark) {
    lower_marks = {lower_mark};
    upper_marks = {upper_mark};
    any = true;
  }
};

struct Type {
  TypePtr made;
  Map map;
};

class Trees {
 public:
  explicit Trees(std::uint64_t seed) : random_(seed) {}

  Type grow(int depth) {
    if (depth == 0 || below(6) == 0) return leaf();
    switch (below(8)) {
      case 0:
        return vector(depth);
      case 1:
        return indexed(depth);
      case 2:
      case 3:
        return structure(depth);
      case 4:
        return resized(depth);
      case 5:
        return subarray(depth);
      case 6:
        return distributed(depth);
      default:
        return contiguous(depth);
    }
  }
  std::int64_t below(std::int64_t limit) {
    return static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(limit));
  }
  std::int64_t between(std::int64_t low, std::int64_t high) { return low + below(high - low + 1); }

 private:
  Type leaf() {
    static constexpr std::array kLeaves{MPI_CHAR, MPI_SHORT, MPI_INT, MPI_DOUBLE, MPI_LONG_DOUBLE, MPI_DOUBLE_INT};
    const int handle = kLeaves[static_cast<std::size_t>(below(kLeaves.size()))];
    const TypePtr made = types_.find(handle)->definition;
    Type type{made, {}};
    if (handle == MPI_DOUBLE_INT) {
      type.map.items = {{0, MPI_DOUBLE, 8}, {8, MPI_INT, 4}};
    } else {
      type.map.items = {{0, handle, static_cast<std::int64_t>(made->size)}};
    }
    type.map.any = true;
    type.map.most = handle == MPI_DOUBLE_INT ? 16 : static_cast<std::int64_t>(made->size);
    type.map.alignment = made->alignment;
    return type;
  }
  static void repeat(Map& map, const Map& old, std::int64_t at, std::int64_t length) {
    for (std::int64_t j = 0; j < length; ++j) map.add(old, at + j * old.extent());
  }
  Type contiguous(int depth) {
    const Type old = grow(depth - 1);
    const std::int64_t count = between(0, 4);
    Type type{make_hvector(1, count, 0, old.made, {}), {}};
    repeat(type.map, old.map, 0, count);
    return type;
  }
  Type vector(int depth) {
    const Type old = grow(depth - 1);
    const std::int64_t count = between(0, 4);
    const std::int64_t length = between(0, 3);
    const std::int64_t stride = below(2) == 0 ? between(-3, 5) * old.map.extent() : between(-40, 60);
    Type type{make_hvector(count, length, stride, old.made, {}), {}};
    for (std::int64_t i = 0; i < count; ++i) repeat(type.map, old.map, i * stride, length);
    return type;
  }
  Type indexed(int depth) {
    const Type old = grow(depth - 1);
    std::vector<int> lengths, places;
    const std::int64_t same = below(2) == 0 ? between(1, 2) : -1;
    for (std::int64_t i = below(6); i > 0; --i) {
      lengths.push_back(static_cast<int>(same > 0 ? same : below(3)));
      places.push_back(static_cast<int>(between(-6, 9)));
    }
    const std::int64_t unit = below(2) == 0 ? old.made->extent() : 4;
    Type type{make_indexed(lengths, places, unit, old.made, {}), {}};
    for (std::size_t i = 0; i < lengths.size(); ++i) repeat(type.map, old.map, places[i] * unit, lengths[i]);
    return type;
  }
  Type structure(int depth) {
    std::vector<int> lengths;
    std::vector<MPI_Aint> places;
    std::vector<TypePtr> types;
    Map map;
    for (std::int64_t i = between(1, 4); i > 0; --i) {
      const Type old = grow(depth - 1);
      lengths.push_back(static_cast<int>(below(3)));
      // Often just behind the last one, so that runs are adjacent.
      places.push_back(below(2) == 0 && map.any ? map.most : between(-30, 50));
      types.push_back(old.made);
      repeat(map, old.map, places.back(), lengths.back());
    }
    if (map.any && map.lower_marks.empty() && map.upper_marks.empty()) {
      map.most += (map.alignment - map.extent() % map.alignment) % map.alignment;
    }
    return {make_struct(lengths, places, types, {}), std::move(map)};
  }
  Type resized(int depth) {
    Type old = grow(depth - 1);
    const std::int64_t lower = between(-20, 20);
    const std::int64_t extent = below(3) == 0 ? old.map.bytes() : between(0, 60);
    Type type{make_resized(old.made, lower, extent, {}), std::move(old.map)};
    type.map.set(lower, lower + extent);
    return type;
  }
  Type subarray(int depth) {
    const Type old = grow(depth - 1);
    const std::array<int, 2> sizes{static_cast<int>(between(1, 4)), static_cast<int>(between(1, 4))};
    std::array<int, 2> subsizes, starts;
    for (std::size_t i = 0; i < 2; ++i) {
      subsizes[i] = static_cast<int>(between(1, sizes[i]));
      starts[i] = static_cast<int>(between(0, sizes[i] - subsizes[i]));
    }
    const bool c_order = below(2) == 0;
    Type type{make_subarray(sizes, subsizes, starts, c_order ? MPI_ORDER_C : MPI_ORDER_FORTRAN, old.made, {}), {}};
    const std::size_t slow = c_order ? 0 : 1;
    const std::size_t fast = 1 - slow;
    for (int i = starts[slow]; i < starts[slow] + subsizes[slow]; ++i) {
      for (int j = starts[fast]; j < starts[fast] + subsizes[fast]; ++j)
        type.map.add(old.map, (std::int64_t{i} * sizes[fast] + j) * old.map.extent());
    }
    type.map.set(0, std::int64_t{sizes[0]} * sizes[1] * old.map.extent());
    return type;
  }
  Type distributed(int depth) {
    const Type old = grow(depth - 1);
    std::array<Distribution, 2> dimensions;
    for (Distribution& one : dimensions) {
      one = {.array = between(1, 5), .block = between(1, 3), .processes = between(1, 3), .coordinate = 0};
      one.coordinate = below(one.processes);
    }
    Type type{make_darray(dimensions, MPI_ORDER_C, old.made, {}), {}};
    const auto mine = [](const Distribution& one, std::int64_t i) {
      return i / one.block % one.processes == one.coordinate;
    };
    for (std::int64_t i = 0; i < dimensions[0].array; ++i) {
      for (std::int64_t j = 0; j < dimensions[1].array; ++j) {
        if (mine(dimensions[0], i) && mine(dimensions[1], j))
          type.map.add(old.map, (i * dimensions[1].array + j) * old.map.extent());
      }
    }
    type.map.set(0, dimensions[0].array * dimensions[1].array * old.map.extent());
    return type;
  }

  std::mt19937_64 random_;
  PredefinedTypes types_;
};

// Consecutive elements in memory of their own, with room around them.
struct Memory {
  Memory(const Type& type, std::int64_t count) {
    const std::int64_t last = (count - 1) * type.map.extent();
    const std::int64_t low = type.made->true_bounds.lower + std::min<std::int64_t>(0, last);
    const std::int64_t high = type.made->true_bounds.upper + std::max<std::int64_t>(0, last);
    bytes.resize(static_cast<std::size_t>(high - low) + 32);
    base = bytes.data() + 16 - low;
  }
  std::vector<std::byte> bytes;
  std::byte* base;
};

// The address of each byte of the packed elements, in order.
inline std::vector<std::byte*> places_of(const Type& type, std::int64_t count, std::byte* base) {
  std::vector<std::byte*> places;
  for (std::int64_t e = 0; e < count; ++e) {
    for (const Item& item : type.map.items) {
      for (std::int64_t i = 0; i < item.bytes; ++i) places.push_back(base + e * type.map.extent() + item.offset + i);
    }
  }
  return places;
}

}  // namespace margay::mpi_adi
