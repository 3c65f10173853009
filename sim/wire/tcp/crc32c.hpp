// CRC32C (Castagnoli), as iSCSI and ext4 use it: the checksum of frames between hosts. It detects damage, not forgery.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace margay::sim {

// The checksum of `bytes`, or of earlier bytes and `bytes`: crc32c(b, crc32c(a)) is that of a followed by b. Uses the
// fastest method of this processor, chosen once when the library is loaded.
[[nodiscard]] std::uint32_t crc32c(std::span<const std::byte> bytes, std::uint32_t before = 0);

// One method of computing it. A method passes a stretch that is too short for it to the next simpler one. Methods
// differ in speed only.
struct Crc32cMethod {
  std::string_view name;
  std::uint32_t (*sum)(std::span<const std::byte> bytes, std::uint32_t before);
};
// The methods that this processor can run, fastest first; the last is the table, which every machine can run. Tests
// compare all of them with the definition.
[[nodiscard]] std::span<const Crc32cMethod> crc32c_methods();

}  // namespace margay::sim
