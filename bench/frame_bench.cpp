// A benchmark of encoding, decoding and checking a frame.
#include <benchmark/benchmark.h>

#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include "sim/wire/frame.hpp"
#include "sim/wire/tcp/crc32c.hpp"

namespace {

using namespace margay::sim;

margay::portals::Header header_of(bool full) {
  margay::portals::Header header;
  header.match_bits = 7;
  header.length = 40;
  header.user_data.fill(std::byte{1});
  if (full) {
    header.length = 1 << 20;
    header.offset = header.return_match_bits = header.return_length = 9;
    header.return_portal = 3;
  }
  return header;
}

void encode(benchmark::State& state) {
  const auto header = header_of(state.range(0) != 0);
  std::array<std::byte, kFrameHeadMaxBytes> out{};
  for (auto _ : state) {
    benchmark::DoNotOptimize(write_head(header, out.data()));
    benchmark::ClobberMemory();
  }
}

void decode(benchmark::State& state) {
  std::array<std::byte, kFrameHeadMaxBytes> frame{};
  write_head(header_of(state.range(0) != 0), frame.data());
  margay::portals::Header header;
  DecodedHead head;
  for (auto _ : state) {
    benchmark::DoNotOptimize(decode_head(frame, header, head));
    benchmark::DoNotOptimize(head);
  }
}

void checksum(benchmark::State& state, const Crc32cMethod& way) {
  const std::vector<std::byte> bytes(static_cast<std::size_t>(state.range(0)), std::byte{3});
  for (auto _ : state) benchmark::DoNotOptimize(way.sum(bytes, 0));
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations()) * state.range(0));
}

BENCHMARK(encode)->ArgName("full")->Arg(0)->Arg(1);
BENCHMARK(decode)->ArgName("full")->Arg(0)->Arg(1);

}  // namespace

int main(int argc, char** argv) {
  // The methods that this processor supports, the fastest first.
  for (const Crc32cMethod& way : crc32c_methods()) {
    benchmark::RegisterBenchmark(("checksum, " + std::string(way.name)).c_str(), checksum, way)
        ->Arg(24)
        ->Arg(256)
        ->Arg(4 << 10)
        ->Arg(256 << 10)
        ->Arg(4 << 20);
  }
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
}
