// CRC32C (Castagnoli), as iSCSI and ext4 use it: the check of frames between hosts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace margay::sim {

// The checksum of `bytes`, or of what came before and `bytes`: crc32c(b, crc32c(a)) is that of a followed by b.
// By the fastest way that this processor knows, chosen once when the library is loaded.
[[nodiscard]] std::uint32_t crc32c(std::span<const std::byte> bytes, std::uint32_t before = 0);

// One way to compute it. Of a stretch too short for it a way takes the next simpler one.
struct Crc32cWay {
  std::string_view name;
  std::uint32_t (*sum)(std::span<const std::byte> bytes, std::uint32_t before);
};
// The ways that this processor can run, the fastest first; the last is the table, which every machine can. Tests hold
// all of them to the definition.
[[nodiscard]] std::span<const Crc32cWay> crc32c_ways();

}  // namespace margay::sim
