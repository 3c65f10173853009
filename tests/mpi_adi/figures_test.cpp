// Tests of figures 3 to 7 of the paper as sequences of steps of the two kernels and devices, for each of {receive
// posted before, after} × {short, long} × {standard, synchronous, ready}, on the virtual wire with many seeds.
#include <algorithm>

#include "tests/mpi_adi/device_world.hpp"
#include "tests/mpi_adi/figures.hpp"
#include "tests/support/seeds.hpp"

namespace margay::mpi_adi {
namespace {

constexpr std::uint64_t kSeeds = 1000;

TEST_CASE("figures 3 to 7 on the virtual wire") {
  for (const Figure& figure : kFigures) {
    CAPTURE(figure.name);
    for (const std::uint64_t seed : margay::testing::Seeds(margay::testing::of_one_thread(kSeeds))) {
      CAPTURE(seed);
      WorldOptions options;
      options.device.long_protocol = figure.long_protocol;
      options.seed = seed;
      options.trace = true;
      VirtualWorld world(options);
      play(world, figure);
    }
  }
}

}  // namespace
}  // namespace margay::mpi_adi
