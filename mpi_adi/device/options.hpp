// A device's options, and the sizes in bytes that follow from them. All ranks of a job have the same options.
#pragma once

#include <cstddef>
#include <cstdint>

namespace margay::sim {
enum class WireId : std::uint8_t;
}  // namespace margay::sim

namespace margay::mpi_adi {

// Set before the device begins (MARGAY_ variables and `margay run`); 0 selects a default.
struct DeviceOptions {
  std::uint64_t short_limit_shm = 0, short_limit_tcp = 0;  // bytes; 0: sim/base/limits.hpp's
  std::uint64_t short_limit_virtual = 0;                   // bytes; 0: that of shm
  std::uint64_t heap_bytes = 0;                            // bytes; 0: sim::kHeapBytes
  // puma: header and body leave together (figures 4, 5). rendezvous: the header leaves alone, for experiments.
  enum class LongProtocol : std::uint8_t { puma, rendezvous } long_protocol = LongProtocol::puma;
  // For windows: each block of an access becomes a message of its own, instead of one message for all blocks.
  bool a_message_a_block = false;
};

// The size of the first heap: the option's or the default, at least sim::kHeapBytesMin.
[[nodiscard]] std::size_t heap_bytes_of(const DeviceOptions& options);
// Half of the machine's physical memory divided by `ranks`, in bytes; 0 if the operating system does not report the
// memory.
[[nodiscard]] std::size_t memory_share(std::uint32_t ranks);
// The size of the second heap of one of `ranks` processes: memory_share(), but at least kSpillFactor times the first
// heap.
[[nodiscard]] std::size_t spill_bytes_of(const DeviceOptions& options, std::uint32_t ranks);
// The longest short message of a wire. All ranks have the same options, so a sender and its receiver have the same
// limit.
[[nodiscard]] std::uint64_t short_limit_of(const DeviceOptions& options, sim::WireId wire);

}  // namespace margay::mpi_adi
