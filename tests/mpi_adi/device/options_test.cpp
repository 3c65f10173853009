#include "mpi_adi/device/options.hpp"

#include <cstdint>

#include <doctest/doctest.h>

#include "mpi_adi/device/unexpected.hpp"
#include "sim/base/limits.hpp"
#include "sim/wire/wire.hpp"

namespace mpi_adi = margay::mpi_adi;
namespace sim = margay::sim;

TEST_CASE("a device's first heap has the size of the option, the default, or the minimum") {
  mpi_adi::DeviceOptions options;
  CHECK(mpi_adi::heap_bytes_of(options) == sim::kHeapBytes);
  options.heap_bytes = 3 * sim::kHeapBytesMin;
  CHECK(mpi_adi::heap_bytes_of(options) == 3 * sim::kHeapBytesMin);
  options.heap_bytes = sim::kHeapBytesMin - 1;
  CHECK(mpi_adi::heap_bytes_of(options) == sim::kHeapBytesMin);
}

TEST_CASE("a device's second heap is a share of the memory, and at least a multiple of the first") {
  const mpi_adi::DeviceOptions options;
  CHECK(mpi_adi::memory_share(1) > 0);
  CHECK(mpi_adi::memory_share(4) == mpi_adi::memory_share(1) / 4);
  for (const std::uint32_t ranks : {1U, 2U, 1000U, 1'000'000U}) {
    CAPTURE(ranks);
    const std::size_t bytes = mpi_adi::spill_bytes_of(options, ranks);
    CHECK(bytes >= mpi_adi::kSpillFactor * sim::kHeapBytes);
    CHECK(bytes >= mpi_adi::memory_share(ranks));
  }
}

TEST_CASE("a wire's short limit is its option or its default, and never above a quarter of the heap") {
  using sim::WireId;
  mpi_adi::DeviceOptions options;
  CHECK(mpi_adi::short_limit_of(options, WireId::shm) == sim::kShortLimitBytesShm);
  CHECK(mpi_adi::short_limit_of(options, WireId::self) == sim::kShortLimitBytesShm);
  CHECK(mpi_adi::short_limit_of(options, WireId::tcp) == sim::kShortLimitBytesTcp);
  CHECK(mpi_adi::short_limit_of(options, WireId::virtual_) == sim::kShortLimitBytesShm);

  options.short_limit_shm = 100;
  CHECK(mpi_adi::short_limit_of(options, WireId::shm) == 100);
  CHECK(mpi_adi::short_limit_of(options, WireId::self) == 100);
  CHECK(mpi_adi::short_limit_of(options, WireId::virtual_) == 100);
  CHECK(mpi_adi::short_limit_of(options, WireId::tcp) == sim::kShortLimitBytesTcp);

  options.short_limit_tcp = 200;
  options.short_limit_virtual = 300;
  CHECK(mpi_adi::short_limit_of(options, WireId::tcp) == 200);
  CHECK(mpi_adi::short_limit_of(options, WireId::virtual_) == 300);
  CHECK(mpi_adi::short_limit_of(options, WireId::shm) == 100);

  // The default for TCP is too long for the least heap.
  mpi_adi::DeviceOptions small;
  small.heap_bytes = sim::kHeapBytesMin;
  CHECK(mpi_adi::short_limit_of(small, WireId::tcp) == sim::short_limit_max(sim::kHeapBytesMin));
}
