// A benchmark of gathering and scattering noncontiguous bytes, beside memcpy of as many bytes. The number after the
// slash is the number of bytes of data; a counter reports bytes of data per second.
#include <benchmark/benchmark.h>

#include <cstddef>
#include <cstring>
#include <vector>

#include "mpi_adi/datatype/construct.hpp"
#include "mpi_adi/datatype/predefined_types.hpp"

namespace {

using namespace margay::mpi_adi;

// A type of `bytes` bytes in blocks of `block` bytes, with gaps of the same length.
TypePtr strided(std::int64_t bytes, std::int64_t block) {
  PredefinedTypes types;
  return make_hvector(bytes / block, block, 2 * block, types.find(MPI_BYTE)->definition, {});
}

// A type of `bytes` bytes in blocks of 8 bytes at unequal distances.
TypePtr listed(std::int64_t bytes, std::int64_t /*block*/) {
  PredefinedTypes types;
  std::vector<int> lengths(static_cast<std::size_t>(bytes / 8), 1);
  std::vector<int> places(lengths.size());
  for (std::size_t i = 0; i < places.size(); ++i) places[i] = static_cast<int>(2 * i + i % 3 / 2);
  return make_indexed(lengths, places, 8, types.find(MPI_DOUBLE)->definition, {});
}

using Make = TypePtr (*)(std::int64_t bytes, std::int64_t block);

struct Memory {
  explicit Memory(std::int64_t bytes)
      : packed(static_cast<std::size_t>(bytes)), spread(static_cast<std::size_t>(2 * bytes + 64)) {}
  std::vector<std::byte> packed, spread;
};

void gather(benchmark::State& state, Make make, std::int64_t block) {
  const std::int64_t bytes = state.range(0);
  const TypePtr type = make(bytes, block);
  Memory memory(bytes);
  for (auto _ : state) {
    type->in_a_row->gather(memory.spread.data(), 0, memory.packed);
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(state.iterations() * bytes);
}

void scatter(benchmark::State& state, Make make, std::int64_t block) {
  const std::int64_t bytes = state.range(0);
  const TypePtr type = make(bytes, block);
  Memory memory(bytes);
  for (auto _ : state) {
    type->in_a_row->scatter(memory.spread.data(), 0, memory.packed);
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(state.iterations() * bytes);
}

void copy(benchmark::State& state) {
  const std::int64_t bytes = state.range(0);
  Memory memory(bytes);
  for (auto _ : state) {
    std::memcpy(memory.packed.data(), memory.spread.data(), memory.packed.size());
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(state.iterations() * bytes);
}

// A lower bound: loads or stores one word of each cache line that a gather or a scatter loads or stores, on the packed
// side, too. No gather or scatter of whole lines can be faster.
template <bool kStore>
void touch(std::byte* line) {
  auto* const word = reinterpret_cast<volatile std::uint64_t*>(line);
  if constexpr (kStore) {
    *word = 1;
  } else {
    static_cast<void>(*word);
  }
}

template <bool kGather>
void lines(benchmark::State& state) {
  constexpr std::size_t kLine = 64;
  const std::int64_t bytes = state.range(0);
  Memory memory(bytes);
  for (auto _ : state) {
    std::byte* spread = memory.spread.data();
    for (std::size_t at = 0; at < memory.packed.size(); at += kLine, spread += 2 * kLine) {
      touch<kGather>(memory.packed.data() + at);
      touch<!kGather>(spread);
      touch<!kGather>(spread + kLine);
    }
  }
  state.SetBytesProcessed(state.iterations() * bytes);
}

constexpr std::int64_t kSmall = 1 << 10;
constexpr std::int64_t kMiddle = 1 << 14;
constexpr std::int64_t kLarge = 1 << 24;

// Gathers of every other double, beside memcpy of as many bytes and of twice as many, the range that the vector covers.
BENCHMARK(copy)->RangeMultiplier(2)->Range(kSmall, 2 * kLarge);
BENCHMARK_TEMPLATE(lines, true)->Name("gather/lines")->RangeMultiplier(2)->Range(kSmall, kLarge);
BENCHMARK_TEMPLATE(lines, false)->Name("scatter/lines")->RangeMultiplier(2)->Range(kSmall, kLarge);
BENCHMARK_CAPTURE(gather, vector4, strided, 4)->Arg(kSmall)->Arg(kMiddle)->Arg(kLarge);
BENCHMARK_CAPTURE(gather, vector8, strided, 8)->RangeMultiplier(2)->Range(kSmall, kLarge);
BENCHMARK_CAPTURE(gather, vector16, strided, 16)->Arg(kSmall)->Arg(kMiddle)->Arg(kLarge);
BENCHMARK_CAPTURE(gather, vector256, strided, 256)->Arg(kSmall)->Arg(kMiddle)->Arg(kLarge);
BENCHMARK_CAPTURE(gather, indexed8, listed, 8)->Arg(kSmall)->Arg(kMiddle)->Arg(kLarge);
BENCHMARK_CAPTURE(scatter, vector8, strided, 8)->RangeMultiplier(2)->Range(kSmall, kLarge);
BENCHMARK_CAPTURE(scatter, indexed8, listed, 8)->Arg(kSmall)->Arg(kMiddle)->Arg(kLarge);

}  // namespace

BENCHMARK_MAIN();
