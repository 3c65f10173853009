#include "sim/wire/crc32c.hpp"

#include <array>
#include <cstring>

#if defined(__SSE4_2__)
#include <nmmintrin.h>
#endif

namespace margay::sim {
namespace {

constexpr std::uint32_t kPolynomial = 0x82f6'3b78;  // reflected
constexpr std::size_t kSlices = 8;
using Tables = std::array<std::array<std::uint32_t, 256>, kSlices>;

// tables[k][b]: the effect of byte b followed by k zero bytes, so that eight bytes are taken at once.
constexpr Tables make_tables() {
  Tables tables{};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    std::uint32_t crc = byte;
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? kPolynomial : 0);
    tables[0][byte] = crc;
  }
  for (std::size_t slice = 1; slice < kSlices; ++slice) {
    for (std::size_t byte = 0; byte < 256; ++byte) {
      const std::uint32_t before = tables[slice - 1][byte];
      tables[slice][byte] = (before >> 8) ^ tables[0][before & 0xff];
    }
  }
  return tables;
}
constexpr Tables kTables = make_tables();

#if defined(__SSE4_2__)

// One instruction takes 3 cycles but a new one can begin each cycle: three streams of this many bytes run side by side.
constexpr std::size_t kLaneBytes = 1024;

// Applies kLaneBytes zero bytes to a checksum, four table lookups instead of 128 instructions.
constexpr std::array<std::array<std::uint32_t, 256>, 4> make_shift() {
  std::array<std::array<std::uint32_t, 256>, 4> shift{};
  for (std::size_t at = 0; at < 4; ++at) {
    // Linear over exclusive or: the powers of two say all.
    std::array<std::uint32_t, 8> power{};
    for (std::size_t bit = 0; bit < 8; ++bit) {
      std::uint32_t crc = std::uint32_t{1} << (8 * at + bit);
      for (std::size_t zero = 0; zero < kLaneBytes; ++zero) crc = (crc >> 8) ^ kTables[0][crc & 0xff];
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

std::uint32_t past_lane(std::uint32_t crc) {
  return kShift[0][crc & 0xff] ^ kShift[1][crc >> 8 & 0xff] ^ kShift[2][crc >> 16 & 0xff] ^ kShift[3][crc >> 24];
}

std::uint64_t load8(const std::byte* at) {
  std::uint64_t word = 0;
  std::memcpy(&word, at, 8);
  return word;
}

std::uint32_t by_instruction(const std::byte* at, std::size_t bytes, std::uint32_t crc) {
  for (; bytes >= 3 * kLaneBytes; at += 3 * kLaneBytes, bytes -= 3 * kLaneBytes) {
    std::uint64_t first = crc;
    std::uint64_t second = 0;
    std::uint64_t third = 0;
    for (std::size_t i = 0; i < kLaneBytes; i += 8) {
      first = _mm_crc32_u64(first, load8(at + i));
      second = _mm_crc32_u64(second, load8(at + kLaneBytes + i));
      third = _mm_crc32_u64(third, load8(at + 2 * kLaneBytes + i));
    }
    crc = past_lane(past_lane(static_cast<std::uint32_t>(first)) ^ static_cast<std::uint32_t>(second)) ^
          static_cast<std::uint32_t>(third);
  }
  std::uint64_t wide = crc;
  for (; bytes >= 8; at += 8, bytes -= 8) wide = _mm_crc32_u64(wide, load8(at));
  crc = static_cast<std::uint32_t>(wide);
  for (; bytes != 0; ++at, --bytes) crc = _mm_crc32_u8(crc, static_cast<std::uint8_t>(*at));
  return crc;
}

#endif

std::uint32_t by_table(const std::byte* at, std::size_t bytes, std::uint32_t crc) {
  for (; bytes >= kSlices; at += kSlices, bytes -= kSlices) {
    std::array<std::uint8_t, kSlices> eight{};
    std::memcpy(eight.data(), at, kSlices);
    const std::uint32_t low = crc;
    crc = 0;
    for (std::size_t i = 0; i < kSlices; ++i) {
      const std::uint32_t mixed = i < 4 ? (low >> (8 * i) & 0xff) : 0;
      crc ^= kTables[kSlices - 1 - i][eight[i] ^ mixed];
    }
  }
  for (; bytes != 0; ++at, --bytes) crc = (crc >> 8) ^ kTables[0][(crc ^ static_cast<std::uint8_t>(*at)) & 0xff];
  return crc;
}

}  // namespace

std::uint32_t crc32c(std::span<const std::byte> bytes, std::uint32_t before) {
#if defined(__SSE4_2__)
  return ~by_instruction(bytes.data(), bytes.size(), ~before);
#else
  return ~by_table(bytes.data(), bytes.size(), ~before);
#endif
}

std::uint32_t crc32c_by_table(std::span<const std::byte> bytes, std::uint32_t before) {
  return ~by_table(bytes.data(), bytes.size(), ~before);
}

}  // namespace margay::sim
