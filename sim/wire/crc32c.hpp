// CRC32C (Castagnoli), as iSCSI and ext4 use it: the check of frames between hosts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace margay::sim {

// The checksum of `bytes`, or of what came before and `bytes`: crc32c(b, crc32c(a)) is that of a followed by b.
// Uses the processor's instruction where the build allows it.
[[nodiscard]] std::uint32_t crc32c(std::span<const std::byte> bytes, std::uint32_t before = 0);

// The same by table, for machines without the instruction; tests hold the two to each other.
[[nodiscard]] std::uint32_t crc32c_by_table(std::span<const std::byte> bytes, std::uint32_t before = 0);

}  // namespace margay::sim
