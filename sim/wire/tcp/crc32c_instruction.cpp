// CRC32C by the processor's crc32 instruction (SSE4.2).
#include <array>

#include "sim/wire/tcp/crc32c_methods.hpp"

#if MARGAY_CRC32C_X86

namespace margay::sim {
namespace {

// The length of each of three streams, which run side by side, because an instruction takes 3 cycles, but a new one can
// begin in each cycle.
constexpr std::size_t kLaneBytes = 1024;

// Computes the tables of past_lane(): one table for each byte of a checksum.
constexpr std::array<std::array<std::uint32_t, 256>, 4> make_shift() {
  std::array<std::array<std::uint32_t, 256>, 4> shift{};
  for (std::size_t at = 0; at < 4; ++at) {
    // The shift is linear over exclusive or, so its results for the powers of two determine all others.
    std::array<std::uint32_t, 8> power{};
    for (std::size_t bit = 0; bit < 8; ++bit) {
      std::uint32_t crc = std::uint32_t{1} << (8 * at + bit);
      for (std::size_t zero = 0; zero < 8 * kLaneBytes; ++zero) crc = crc32c_times_x(crc);
      power[bit] = crc;
    }
    for (std::size_t byte = 0; byte < 256; ++byte) {
      for (std::size_t bit = 0; bit < 8; ++bit) {
        if ((byte >> bit & 1) != 0) shift[at][byte] ^= power[bit];
      }
    }
  }
  return shift;
}
constexpr auto kShift = make_shift();

// The checksum after kLaneBytes more zero bytes, by four table lookups instead of 128 instructions.
std::uint32_t past_lane(std::uint32_t crc) {
  return kShift[0][crc & 0xff] ^ kShift[1][crc >> 8 & 0xff] ^ kShift[2][crc >> 16 & 0xff] ^ kShift[3][crc >> 24];
}

}  // namespace

std::uint32_t crc32c_three_streams(const std::byte* at, std::size_t bytes, std::uint32_t crc) {
  for (; bytes >= 3 * kLaneBytes; at += 3 * kLaneBytes, bytes -= 3 * kLaneBytes) {
    std::uint64_t first = crc;
    std::uint64_t second = 0;
    std::uint64_t third = 0;
    for (std::size_t i = 0; i < kLaneBytes; i += 8) {
      first = _mm_crc32_u64(first, crc32c_load<std::uint64_t>(at + i));
      second = _mm_crc32_u64(second, crc32c_load<std::uint64_t>(at + kLaneBytes + i));
      third = _mm_crc32_u64(third, crc32c_load<std::uint64_t>(at + 2 * kLaneBytes + i));
    }
    // The checksum is linear over exclusive or, so each stream's is moved past the lanes behind it, and all are added.
    crc = past_lane(past_lane(static_cast<std::uint32_t>(first)) ^ static_cast<std::uint32_t>(second)) ^
          static_cast<std::uint32_t>(third);
  }
  return crc32c_one_stream(at, bytes, crc);
}

}  // namespace margay::sim

#endif
