// The methods of computing a CRC32C that depend on the processor. Internal to sim/wire/tcp/crc32c*.
//
// All functions work on the bare register; crc32c() inverts it before and after. `at`: the address of `bytes` bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#if defined(__x86_64__) && defined(__SSE4_2__)
#include <nmmintrin.h>
#define MARGAY_CRC32C_X86 1
#else
#define MARGAY_CRC32C_X86 0
#endif

namespace margay::sim {

// The polynomial, reflected: bit 31 stands for x^0, bit 0 for x^31. The term x^32 is not written.
inline constexpr std::uint32_t kCrc32cPolynomial = 0x82f6'3b78;

// The register after one more bit 0, which multiplies it by x.
constexpr std::uint32_t crc32c_times_x(std::uint32_t crc) {
  return (crc >> 1) ^ ((crc & 1) != 0 ? kCrc32cPolynomial : 0);
}

#if MARGAY_CRC32C_X86

// An unaligned load.
template <typename Word>
[[nodiscard]] inline Word crc32c_load(const std::byte* at) {
  Word word = 0;
  std::memcpy(&word, at, sizeof word);
  return word;
}

// The crc32 instruction in one dependent chain: 3 cycles for 8 bytes. The fastest method below about 100 bytes.
[[nodiscard]] inline std::uint32_t crc32c_one_stream(const std::byte* at, std::size_t bytes, std::uint32_t crc) {
  std::uint64_t wide = crc;
  for (; bytes >= 8; at += 8, bytes -= 8) wide = _mm_crc32_u64(wide, crc32c_load<std::uint64_t>(at));
  crc = static_cast<std::uint32_t>(wide);
  if ((bytes & 4) != 0) {
    crc = _mm_crc32_u32(crc, crc32c_load<std::uint32_t>(at));
    at += 4;
  }
  if ((bytes & 2) != 0) {
    crc = _mm_crc32_u16(crc, crc32c_load<std::uint16_t>(at));
    at += 2;
  }
  return (bytes & 1) != 0 ? _mm_crc32_u8(crc, std::to_integer<std::uint8_t>(*at)) : crc;
}
// The crc32 instruction in three streams side by side: about 20 GB/s. Passes less than 3 KiB to crc32c_one_stream().
[[nodiscard]] std::uint32_t crc32c_three_streams(const std::byte* at, std::size_t bytes, std::uint32_t crc);
// Folding by carry-less multiplication, in steps of 64 bytes and of 256 bytes. Both require PCLMULQDQ;
// crc32c_folding_512() requires VPCLMULQDQ, AVX512F and AVX512VL as well.
[[nodiscard]] std::uint32_t crc32c_folding_128(const std::byte* at, std::size_t bytes, std::uint32_t crc);
[[nodiscard]] std::uint32_t crc32c_folding_512(const std::byte* at, std::size_t bytes, std::uint32_t crc);

#endif

}  // namespace margay::sim
