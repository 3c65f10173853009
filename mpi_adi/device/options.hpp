// A device's options, and the sizes in bytes that follow from them.
#pragma once

#include <cstddef>
#include <cstdint>

namespace margay::sim {
enum class WireId : std::uint8_t;
}  // namespace margay::sim

namespace margay::mpi_adi {

struct DeviceOptions {
  std::uint64_t short_limit_shm = 0, short_limit_tcp = 0;  // bytes; 0: sim/base/limits.hpp's
  std::uint64_t short_limit_virtual = 0;                   // bytes; 0: as shm
  std::uint64_t heap_bytes = 0;                            // 0: default
  enum class LongProtocol : std::uint8_t { puma, rendezvous } long_protocol = LongProtocol::puma;
  // Of windows: each block of an access is a message of its own.
  bool a_message_a_block = false;
};

[[nodiscard]] std::size_t heap_bytes_of(const DeviceOptions& options);
// A process's share of half of the machine's memory, `ranks` having one each; 0: unknown.
[[nodiscard]] std::size_t memory_share(std::uint32_t ranks);
// Of the second heap: that share, and a multiple of the first heap at least.
[[nodiscard]] std::size_t spill_bytes_of(const DeviceOptions& options, std::uint32_t ranks);
// Of a wire. All ranks have the same options, and so the same limits.
[[nodiscard]] std::uint64_t short_limit_of(const DeviceOptions& options, sim::WireId wire);

}  // namespace margay::mpi_adi
