// Data for reductions in tests. The composition of maps x -> a x + b is associative and does not commute, so a result
// shows the order in which parts were combined; sums of reals show whether all ranks have the same bits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include <doctest/doctest.h>

namespace margay::collectives {

struct Map {
  std::uint64_t a = 1;
  std::uint64_t b = 0;
  friend bool operator==(const Map&, const Map&) = default;
};

// Applies `in` first, then `inout`. Both have the alignment of any element type: a map's length is a multiple of it.
inline void compose(const void* in, void* inout, std::size_t count) {
  const auto misplaced = [](const void* at) {
    return reinterpret_cast<std::uintptr_t>(at) % alignof(std::max_align_t) != 0;
  };
  if (misplaced(in) || misplaced(inout)) FAIL_CHECK("an operation is given elements at unaligned addresses");
  const auto* first = static_cast<const Map*>(in);
  auto* second = static_cast<Map*>(inout);
  for (std::size_t i = 0; i < count; ++i) {
    second[i] = {first[i].a * second[i].a, first[i].b * second[i].a + second[i].b};
  }
}

inline std::vector<Map> maps_of(int rank, std::size_t count) {
  std::vector<Map> maps(count);
  for (std::size_t i = 0; i < count; ++i) maps[i] = {2 * static_cast<std::uint64_t>(rank) + 3, i + 1};
  return maps;
}

// All ranks' maps, in the order of ranks.
inline std::vector<Map> composed(int ranks, std::size_t count) {
  std::vector<Map> all = maps_of(0, count);
  for (int rank = 1; rank < ranks; ++rank) {
    std::vector<Map> next = maps_of(rank, count);
    compose(all.data(), next.data(), count);
    all = next;
  }
  return all;
}

}  // namespace margay::collectives
