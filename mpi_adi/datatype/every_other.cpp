#include "mpi_adi/datatype/every_other.hpp"

#ifdef __x86_64__
#include <immintrin.h>
#endif

#include <cstring>

namespace margay::mpi_adi {

#ifdef __x86_64__

namespace {

constexpr std::uint64_t kRuns = 8;  // in a register of packed ones
constexpr std::uint64_t kAtOnce = 4;
constexpr __mmask8 kEven = 0x55;
constexpr __mmask8 kOdd = 0xaa;
constexpr __mmask8 kAll = 0xff;
constexpr std::size_t kRegisterBytes = 64;  // a cache line too
constexpr std::size_t kSpreadBytes = 2 * kRegisterBytes;

// Not at the first use, and not by the dynamic linker: one load, and the processor guesses right what follows.
bool has_wide_registers() {
  return __builtin_cpu_supports("avx512f") != 0;
}

[[gnu::target("avx512f")]] void pack_registers(std::byte* packed, __m512d low, __m512d high) {
  const __m512i places = _mm512_setr_epi64(0, 2, 4, 6, 8, 10, 12, 14);
  _mm512_storeu_pd(packed, _mm512_permutex2var_pd(low, places, high));
}

// Reads the gaps too, the one behind the eighth run among them: loads that leave them out take half as long again. What
// is there is thrown away, so it does not matter that another thread may be writing it.
[[gnu::target("avx512f"), gnu::no_sanitize("address", "thread")]] void pack_eight(std::byte* packed,
                                                                                  const std::byte* spread) {
  pack_registers(packed, _mm512_loadu_pd(spread), _mm512_loadu_pd(spread + kRegisterBytes));
}

[[gnu::target("avx512f")]] void pack_last_eight(std::byte* packed, const std::byte* spread) {
  pack_registers(packed, _mm512_maskz_loadu_pd(kEven, spread), _mm512_maskz_loadu_pd(kEven, spread + kRegisterBytes));
}

// All but the last up to seven runs; what is behind the last may be no memory at all.
[[gnu::target("avx512f")]] std::uint64_t pack_wide(std::byte* packed, const std::byte* spread, std::uint64_t count) {
  std::uint64_t left = count;
  for (; left > kAtOnce * kRuns; left -= kAtOnce * kRuns) {
#pragma GCC unroll 4
    for (std::uint64_t i = 0; i < kAtOnce; ++i) pack_eight(packed + i * kRegisterBytes, spread + i * kSpreadBytes);
    packed += kAtOnce * kRegisterBytes;
    spread += kAtOnce * kSpreadBytes;
  }
  for (; left > kRuns; left -= kRuns) {
    pack_eight(packed, spread);
    packed += kRegisterBytes;
    spread += kSpreadBytes;
  }
  if (left != kRuns) return count - left;
  pack_last_eight(packed, spread);
  return count;
}

// `line` is the beginning of the first of two lines, and the runs are at `lanes` of them. (Permutations without a mask
// are warned of by GCC 12, as reading what is not initialized; with all lanes they are the same instruction.)
[[gnu::target("avx512f")]] void unpack_eight(std::byte* line, const std::byte* packed, __mmask8 lanes) {
  const __m512d all = _mm512_loadu_pd(packed);
  const __m512d low = _mm512_maskz_permutexvar_pd(kAll, _mm512_setr_epi64(0, 0, 1, 1, 2, 2, 3, 3), all);
  const __m512d high = _mm512_maskz_permutexvar_pd(kAll, _mm512_setr_epi64(4, 4, 5, 5, 6, 6, 7, 7), all);
  _mm512_mask_storeu_pd(line, lanes, low);
  _mm512_mask_storeu_pd(line + kRegisterBytes, lanes, high);
}

// Line by line: a masked store over two lines takes longer than its four doubles one by one, one into a line takes as
// long as one of them. So the runs up to the first line's beginning are stored singly.
[[gnu::target("avx512f")]] std::uint64_t unpack_wide(std::byte* spread, const std::byte* packed, std::uint64_t count) {
  const std::size_t in_line = reinterpret_cast<std::uintptr_t>(spread) % kRegisterBytes;
  if (in_line % kEveryOtherRunBytes != 0) return 0;
  const std::size_t first = in_line % kEveryOtherStride;  // of a line's runs
  const std::uint64_t before = (in_line > first ? kRegisterBytes - in_line + first : 0) / kEveryOtherStride;
  if (count < before + kRuns) return 0;
  for (std::uint64_t i = 0; i < before; ++i) {
    std::memcpy(spread + i * kEveryOtherStride, packed + i * kEveryOtherRunBytes, kEveryOtherRunBytes);
  }
  packed += before * kEveryOtherRunBytes;
  std::byte* line = spread + before * kEveryOtherStride - first;
  const __mmask8 lanes = first == 0 ? kEven : kOdd;
  std::uint64_t left = count - before;
  for (; left >= kAtOnce * kRuns; left -= kAtOnce * kRuns) {
#pragma GCC unroll 4
    for (std::uint64_t i = 0; i < kAtOnce; ++i) {
      unpack_eight(line + i * kSpreadBytes, packed + i * kRegisterBytes, lanes);
    }
    packed += kAtOnce * kRegisterBytes;
    line += kAtOnce * kSpreadBytes;
  }
  for (; left >= kRuns; left -= kRuns) {
    unpack_eight(line, packed, lanes);
    packed += kRegisterBytes;
    line += kSpreadBytes;
  }
  return count - left;
}

}  // namespace

std::uint64_t pack_every_other(std::byte* packed, const std::byte* spread, std::uint64_t count) {
  return has_wide_registers() ? pack_wide(packed, spread, count) : 0;
}

std::uint64_t unpack_every_other(std::byte* spread, const std::byte* packed, std::uint64_t count) {
  return has_wide_registers() ? unpack_wide(spread, packed, count) : 0;
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
