// What a device is made with.
#pragma once

#include <cstdint>

namespace margay::mpi_adi {

struct DeviceOptions {
  std::uint64_t short_limit_shm = 0, short_limit_tcp = 0;  // bytes; 0: sim/base/limits.hpp's
  std::uint64_t short_limit_virtual = 0;                   // bytes; 0: as shm
  std::uint64_t heap_bytes = 0;                            // 0: default
  enum class LongProtocol : std::uint8_t { puma, rendezvous } long_protocol = LongProtocol::puma;
  // Of windows: each block of an access is a message of its own.
  bool a_message_a_block = false;
};

}  // namespace margay::mpi_adi
