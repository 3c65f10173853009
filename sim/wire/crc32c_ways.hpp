// The ways to compute a CRC32C that processors differ in. Internal to sim/wire/crc32c*.
//
// All work on the bare register: crc32c() inverts it before and after. `at` has `bytes` bytes.
#pragma once

#include <cstddef>
#include <cstdint>

#if defined(__x86_64__) && defined(__SSE4_2__)
#define MARGAY_CRC32C_X86 1
#else
#define MARGAY_CRC32C_X86 0
#endif

namespace margay::sim {

// Reflected: bit 31 stands for x^0, bit 0 for x^31; x^32 is not written.
inline constexpr std::uint32_t kCrc32cPolynomial = 0x82f6'3b78;

// The register after one more bit 0, which multiplies it by x.
constexpr std::uint32_t crc32c_times_x(std::uint32_t crc) {
  return (crc >> 1) ^ ((crc & 1) != 0 ? kCrc32cPolynomial : 0);
}

#if MARGAY_CRC32C_X86

// The instruction, one after the other: 3 cycles for 8 bytes. Best below about 200 bytes.
[[nodiscard]] std::uint32_t crc32c_one_stream(const std::byte* at, std::size_t bytes, std::uint32_t crc);
// The instruction, three streams side by side: about 20 GB/s.
[[nodiscard]] std::uint32_t crc32c_three_streams(const std::byte* at, std::size_t bytes, std::uint32_t crc);
// Folding by carry-less multiplication. Requires: the processor has PCLMULQDQ; VPCLMULQDQ and AVX512F and VL.
[[nodiscard]] std::uint32_t crc32c_folding_128(const std::byte* at, std::size_t bytes, std::uint32_t crc);
[[nodiscard]] std::uint32_t crc32c_folding_512(const std::byte* at, std::size_t bytes, std::uint32_t crc);

#endif

}  // namespace margay::sim
