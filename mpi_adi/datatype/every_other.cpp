#include "mpi_adi/datatype/every_other.hpp"

#ifdef __x86_64__
#include <immintrin.h>
#endif

namespace margay::mpi_adi {

#ifdef __x86_64__

namespace {

constexpr std::uint64_t kRuns = 8;  // in a register of packed ones
constexpr __mmask8 kEveryOther = 0x55;
constexpr std::size_t kRegisterBytes = 64;

// Not at the first use, and not by the dynamic linker: one load, and the processor guesses right what follows.
bool has_wide_registers() {
  return __builtin_cpu_supports("avx512f") != 0;
}

[[gnu::target("avx512f")]] void pack_eight(std::byte* packed, const std::byte* spread) {
  const __m512i places = _mm512_setr_epi64(0, 2, 4, 6, 8, 10, 12, 14);
  const __m512d low = _mm512_maskz_loadu_pd(kEveryOther, spread);
  const __m512d high = _mm512_maskz_loadu_pd(kEveryOther, spread + kRegisterBytes);
  _mm512_storeu_pd(packed, _mm512_permutex2var_pd(low, places, high));
}

[[gnu::target("avx512f")]] void unpack_eight(std::byte* spread, const std::byte* packed) {
  const __m512d all = _mm512_loadu_pd(packed);
  const __m512d low = _mm512_maskz_permutexvar_pd(kEveryOther, _mm512_setr_epi64(0, 0, 1, 1, 2, 2, 3, 3), all);
  const __m512d high = _mm512_maskz_permutexvar_pd(kEveryOther, _mm512_setr_epi64(4, 4, 5, 5, 6, 6, 7, 7), all);
  _mm512_mask_storeu_pd(spread, kEveryOther, low);
  _mm512_mask_storeu_pd(spread + kRegisterBytes, kEveryOther, high);
}

[[gnu::target("avx512f")]] void pack_eights(std::byte* packed, const std::byte* spread, std::uint64_t times) {
  for (; times != 0; --times) {
    pack_eight(packed, spread);
    packed += kRegisterBytes;
    spread += 2 * kRegisterBytes;
  }
}

[[gnu::target("avx512f")]] void unpack_eights(std::byte* spread, const std::byte* packed, std::uint64_t times) {
  for (; times != 0; --times) {
    unpack_eight(spread, packed);
    packed += kRegisterBytes;
    spread += 2 * kRegisterBytes;
  }
}

}  // namespace

std::uint64_t pack_every_other(std::byte* packed, const std::byte* spread, std::uint64_t count) {
  if (!has_wide_registers()) return 0;
  pack_eights(packed, spread, count / kRuns);
  return count / kRuns * kRuns;
}

std::uint64_t unpack_every_other(std::byte* spread, const std::byte* packed, std::uint64_t count) {
  if (!has_wide_registers()) return 0;
  unpack_eights(spread, packed, count / kRuns);
  return count / kRuns * kRuns;
}

#else

std::uint64_t pack_every_other(std::byte* /*packed*/, const std::byte* /*spread*/, std::uint64_t /*count*/) {
  return 0;
}

std::uint64_t unpack_every_other(std::byte* /*spread*/, const std::byte* /*packed*/, std::uint64_t /*count*/) {
  return 0;
}

#endif

}  // namespace margay::mpi_adi
