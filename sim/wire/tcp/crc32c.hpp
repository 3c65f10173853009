// CRC32C (Castagnoli), the checksum of frames between hosts; iSCSI and ext4 use it too. It detects damage, not forgery.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace margay::sim {

// The checksum of `bytes`. `before`: the checksum of the bytes that precede them; crc32c(b, crc32c(a)) is the checksum
// of a followed by b. Uses the fastest method of this processor, which is chosen once when the library is loaded; for
// short data, one stream of the crc32 instruction.
[[nodiscard]] std::uint32_t crc32c(std::span<const std::byte> bytes, std::uint32_t before = 0);

// One method of computing the checksum. If the bytes are too few for a method, it passes them to a simpler method.
// Methods differ in speed only.
struct Crc32cMethod {
  std::string_view name;
  std::uint32_t (*sum)(std::span<const std::byte> bytes, std::uint32_t before);
};
// The methods that this processor can run, fastest first. The last method is the table, which every machine can run.
// Tests compare all methods with the definition.
[[nodiscard]] std::span<const Crc32cMethod> crc32c_methods();

}  // namespace margay::sim
