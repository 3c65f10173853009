// CRC32C by folding with carry-less multiplication, after V. Gopal, E. Ozturk, J. Guilford, G. Wolrich, W. Feghali,
// M. Dixon, D. Karakoyunlu, "Fast CRC Computation for Generic Polynomials Using PCLMULQDQ Instruction", Intel, 2009.
//
// A message is a polynomial over GF(2); its first bit is the highest power. Its checksum is the remainder of message *
// x^32 modulo P. A fold shortens the message without changing that remainder. Let A be a block of 128 bits, and B
// another block, D bits after A. At the place of B, the contribution of A is A * x^D. So A is removed, and a
// polynomial of at most 128 bits that is congruent to A * x^D is added (exclusive or) to B. Because A is L * x^64 + H,
//     A * x^D = L * x^(64 + D) + H * x^D = L * (x^(64 + D) mod P) + H * (x^D mod P)   (mod P),
// two multiplications of 64 by 32 bits. Several such folds run side by side, each over every n-th block.
//
// Bits are reflected: a block is loaded as it lies in memory, so its lowest bit is the highest power. So L is the lower
// half. In a register of n bits, bit i stands for x^(n - 1 - i). The carry-less product of two reflected 64-bit numbers
// has 127 bits; read as a register of 128 bits, it stands for the product times x. To compensate, the exponent of each
// constant is smaller by one.
//
// The last 128 bits are congruent to the whole folded part. The crc32 instruction multiplies them by x^32 and divides
// by P. It also processes the bytes after them, which are too few for a fold. A start value is added (exclusive or) to
// the message's first 32 bits.
#include "sim/wire/tcp/crc32c_methods.hpp"

#if MARGAY_CRC32C_X86

#include <immintrin.h>

#include <array>

namespace margay::sim {
namespace {

// x^power mod P, reflected in 64 bits.
constexpr std::uint64_t power_of_x(unsigned power) {
  std::uint32_t crc = 0x8000'0000;  // x^0
  for (unsigned i = 0; i < power; ++i) crc = crc32c_times_x(crc);
  return std::uint64_t{crc} << 32;
}
static_assert(power_of_x(31) == std::uint64_t{1} << 32);
static_assert(power_of_x(32) == std::uint64_t{kCrc32cPolynomial} << 32);

// The factors by which the two halves of a block of 128 bits are folded onto the block that lies `kBits` after it.
template <unsigned kBits>
struct Fold {
  static constexpr std::uint64_t kLower = power_of_x(64 + kBits - 1);
  static constexpr std::uint64_t kUpper = power_of_x(kBits - 1);
};

#define MARGAY_FOLDS_128 gnu::target("sse4.2,pclmul"), gnu::always_inline
#define MARGAY_FOLDS_512 gnu::target("sse4.2,pclmul,avx512f,avx512vl,vpclmulqdq"), gnu::always_inline

[[MARGAY_FOLDS_128]] inline __m128i load_128(const std::byte* at) {
  return _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
}

template <unsigned kBits>
[[MARGAY_FOLDS_128]] inline __m128i fold_128(__m128i block, __m128i onto) {
  const __m128i by =
      _mm_set_epi64x(static_cast<long long>(Fold<kBits>::kUpper), static_cast<long long>(Fold<kBits>::kLower));
  const __m128i lower = _mm_clmulepi64_si128(block, by, 0x00);
  const __m128i upper = _mm_clmulepi64_si128(block, by, 0x11);
  return _mm_xor_si128(_mm_xor_si128(lower, upper), onto);
}

[[MARGAY_FOLDS_128]] inline std::uint32_t remainder_of(__m128i block) {
  const std::uint64_t lower = _mm_crc32_u64(0, static_cast<std::uint64_t>(_mm_cvtsi128_si64(block)));
  return static_cast<std::uint32_t>(_mm_crc32_u64(lower, static_cast<std::uint64_t>(_mm_extract_epi64(block, 1))));
}

[[MARGAY_FOLDS_512]] inline __m512i load_512(const std::byte* at) {
  return _mm512_loadu_si512(at);
}

// Folds four blocks of 128 bits at once.
template <unsigned kBits>
[[MARGAY_FOLDS_512]] inline __m512i fold_512(__m512i block, __m512i onto) {
  constexpr auto kUpper = static_cast<long long>(Fold<kBits>::kUpper);
  constexpr auto kLower = static_cast<long long>(Fold<kBits>::kLower);
  const __m512i by = _mm512_set_epi64(kUpper, kLower, kUpper, kLower, kUpper, kLower, kUpper, kLower);
  const __m512i lower = _mm512_clmulepi64_epi128(block, by, 0x00);
  const __m512i upper = _mm512_clmulepi64_epi128(block, by, 0x11);
  constexpr int kExclusiveOrOfThree = 0x96;
  return _mm512_ternarylogic_epi64(lower, upper, onto, kExclusiveOrOfThree);
}

// The bytes of a step: four blocks, whose folds side by side hide most of the multiplication's latency.
constexpr std::size_t kStep128 = 64;
// Four registers of four blocks each.
constexpr std::size_t kStep512 = 256;

}  // namespace

[[gnu::target("sse4.2,pclmul")]] std::uint32_t crc32c_folding_128(const std::byte* at, std::size_t bytes,
                                                                  std::uint32_t crc) {
  if (bytes < kStep128) return crc32c_one_stream(at, bytes, crc);
  // The start value is added to the first 32 bits.
  __m128i a = _mm_xor_si128(load_128(at), _mm_cvtsi32_si128(static_cast<int>(crc)));
  __m128i b = load_128(at + 16);
  __m128i c = load_128(at + 32);
  __m128i d = load_128(at + 48);
  for (at += kStep128, bytes -= kStep128; bytes >= kStep128; at += kStep128, bytes -= kStep128) {
    a = fold_128<8 * kStep128>(a, load_128(at));
    b = fold_128<8 * kStep128>(b, load_128(at + 16));
    c = fold_128<8 * kStep128>(c, load_128(at + 32));
    d = fold_128<8 * kStep128>(d, load_128(at + 48));
  }
  // Folds the four blocks into the last one.
  a = fold_128<128>(fold_128<128>(fold_128<128>(a, b), c), d);
  for (; bytes >= 16; at += 16, bytes -= 16) a = fold_128<128>(a, load_128(at));
  return crc32c_one_stream(at, bytes, remainder_of(a));
}

[[gnu::target("sse4.2,pclmul,avx512f,avx512vl,vpclmulqdq")]] std::uint32_t crc32c_folding_512(const std::byte* at,
                                                                                              std::size_t bytes,
                                                                                              std::uint32_t crc) {
  if (bytes < kStep512) return crc32c_folding_128(at, bytes, crc);
  __m512i a = _mm512_xor_si512(load_512(at), _mm512_zextsi128_si512(_mm_cvtsi32_si128(static_cast<int>(crc))));
  __m512i b = load_512(at + 64);
  __m512i c = load_512(at + 128);
  __m512i d = load_512(at + 192);
  for (at += kStep512, bytes -= kStep512; bytes >= kStep512; at += kStep512, bytes -= kStep512) {
    a = fold_512<8 * kStep512>(a, load_512(at));
    b = fold_512<8 * kStep512>(b, load_512(at + 64));
    c = fold_512<8 * kStep512>(c, load_512(at + 128));
    d = fold_512<8 * kStep512>(d, load_512(at + 192));
  }
  // Folds a, b and c onto d. The multiplications of these three folds do not depend on each other.
  a = _mm512_xor_si512(fold_512<3 * 512>(a, d), fold_512<2 * 512>(b, fold_512<512>(c, _mm512_setzero_si512())));
  for (; bytes >= 64; at += 64, bytes -= 64) a = fold_512<512>(a, load_512(at));
  // The lanes are extracted through memory, because gcc warns about its own intrinsics for that.
  alignas(64) std::array<std::byte, 64> lanes;
  _mm512_store_si512(lanes.data(), a);
  const __m128i one = fold_128<3 * 128>(load_128(lanes.data()), load_128(lanes.data() + 48));
  const __m128i two = fold_128<2 * 128>(load_128(lanes.data() + 16), one);
  __m128i last = fold_128<128>(load_128(lanes.data() + 32), two);
  for (; bytes >= 16; at += 16, bytes -= 16) last = fold_128<128>(last, load_128(at));
  return crc32c_one_stream(at, bytes, remainder_of(last));
}

}  // namespace margay::sim

#endif
