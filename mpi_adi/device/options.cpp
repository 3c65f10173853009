#include "mpi_adi/device/options.hpp"

#include <unistd.h>

#include <algorithm>

#include "mpi_adi/device/unexpected.hpp"
#include "sim/base/limits.hpp"
#include "sim/wire/wire.hpp"

namespace margay::mpi_adi {

namespace {

std::uint64_t or_default(std::uint64_t value, std::uint64_t otherwise) {
  return value == 0 ? otherwise : value;
}

}  // namespace

std::size_t heap_bytes_of(const DeviceOptions& options) {
  // A heap below the minimum could not hold a message.
  return std::max<std::size_t>(or_default(options.heap_bytes, sim::kHeapBytes), sim::kHeapBytesMin);
}

std::size_t spill_bytes_of(const DeviceOptions& options, std::uint32_t ranks) {
  return std::max(kSpillFactor * heap_bytes_of(options), memory_share(ranks));
}

std::size_t memory_share(std::uint32_t ranks) {
  const long pages = ::sysconf(_SC_PHYS_PAGES);
  // If the number of pages is unknown, the caller's other bound decides.
  if (pages <= 0) return 0;
  const std::size_t memory = static_cast<std::size_t>(pages) * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  return memory / 2 / ranks;
}

std::uint64_t short_limit_of(const DeviceOptions& options, sim::WireId wire) {
  const std::uint64_t shm = or_default(options.short_limit_shm, sim::kShortLimitBytesShm);
  std::uint64_t limit = shm;
  const bool between_nodes = wire == sim::WireId::tcp || wire == sim::WireId::forward || wire == sim::WireId::guest;
  if (between_nodes) limit = or_default(options.short_limit_tcp, sim::kShortLimitBytesTcp);
  if (wire == sim::WireId::virtual_) limit = or_default(options.short_limit_virtual, shm);
  // A short message must fit in an empty heap, or its wire would hold it for ever. A default may be too long for a
  // small heap.
  return std::min(limit, sim::short_limit_max(heap_bytes_of(options)));
}

}  // namespace margay::mpi_adi
