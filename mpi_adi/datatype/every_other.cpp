#include "mpi_adi/datatype/every_other.hpp"

#ifdef __x86_64__
#include <immintrin.h>
#endif

#include <cstring>

namespace margay::mpi_adi {

#ifdef __x86_64__

namespace {

constexpr std::size_t kRunBytes = kEveryOtherRunBytes;
constexpr std::size_t kStride = kEveryOtherStride;
constexpr std::size_t kLineBytes = 64;  // a register's too
constexpr std::size_t kSpreadBytes = 2 * kLineBytes;
constexpr std::uint64_t kRuns = 8;    // a group: what fills a line when packed
constexpr std::uint64_t kGroups = 8;  // in one turn of a loop: with fewer, the loop's own work counts
constexpr __mmask8 kEven = 0x55;
constexpr __mmask8 kOdd = 0xaa;
constexpr __mmask8 kAll = 0xff;
// From here on (24 KiB of both sides together) lines are asked for before they are stored to. Where both sides do not
// fit the first cache, stores would wait for them one after the other (1.6 times as long at 16 KiB of data); where they
// fit, asking costs a tenth.
constexpr std::uint64_t kMany = 1025;

// Not at the first use, and not by the dynamic linker: one load, and the processor guesses right what follows.
bool has_wide_registers() {
  return __builtin_cpu_supports("avx512f") != 0;
}

std::size_t in_line(const std::byte* at) {
  return reinterpret_cast<std::uintptr_t>(at) % kLineBytes;
}

template <std::size_t kLines>
[[gnu::always_inline]] inline void ask_for(std::byte* line) {
#pragma GCC unroll 16
  for (std::size_t i = 0; i < kLines; ++i) __builtin_prefetch(line + i * kLineBytes, 1);
}

// Where a group's runs are: from lane `lane` of its first line on. Across: they end in the next group's first line,
// whose lanes below `lane` take the place of this one's.
struct Lanes {
  __m512i places;
  __mmask8 below;
};

[[gnu::target("avx512f")]] Lanes lanes_from(std::size_t lane) {
  const __m512i from = _mm512_set1_epi64(static_cast<std::int64_t>(lane));
  return {_mm512_add_epi64(_mm512_setr_epi64(0, 2, 4, 6, 8, 10, 12, 14), from),
          static_cast<__mmask8>((1U << lane) - 1)};
}

// One group; `first` is its first line's bytes, if across, and then the next group's. Whole lines, each loaded once:
// one load that lies in two lines costs two. So gaps are read, and what else is in the first and the last line, and
// thrown away: it does not matter that another thread may be writing there.
template <bool kAcross>
__attribute__((target("avx512f"), always_inline, no_sanitize("address", "thread"))) inline void pack_group(
    std::byte* packed, const std::byte* line, const Lanes& lanes, __m512d& first) {
  const __m512d second = _mm512_loadu_pd(line + kLineBytes);
  if constexpr (kAcross) {
    const __m512d third = _mm512_loadu_pd(line + kSpreadBytes);
    const __m512d ends = _mm512_mask_blend_pd(lanes.below, first, third);
    _mm512_storeu_pd(packed, _mm512_permutex2var_pd(ends, lanes.places, second));
    first = third;
  } else {
    _mm512_storeu_pd(packed, _mm512_permutex2var_pd(_mm512_loadu_pd(line), lanes.places, second));
  }
}

template <bool kAcross, bool kAsk>
__attribute__((target("avx512f"), no_sanitize("address", "thread"))) void pack_groups(std::byte* packed,
                                                                                      const std::byte* line,
                                                                                      std::size_t lane,
                                                                                      std::uint64_t groups) {
  const Lanes lanes = lanes_from(lane);
  __m512d first = _mm512_loadu_pd(line);
  for (; groups >= kGroups; groups -= kGroups) {
    if constexpr (kAsk) ask_for<kGroups>(packed);
#pragma GCC unroll 8
    for (std::uint64_t i = 0; i < kGroups; ++i) {
      pack_group<kAcross>(packed + i * kLineBytes, line + i * kSpreadBytes, lanes, first);
    }
    packed += kGroups * kLineBytes;
    line += kGroups * kSpreadBytes;
  }
  for (; groups != 0; --groups) {
    pack_group<kAcross>(packed, line, lanes, first);
    packed += kLineBytes;
    line += kSpreadBytes;
  }
}

// The runs up to where the packed ones begin a line go singly. (Packed ones that are not aligned at all stay so.)
std::uint64_t pack_wide(std::byte* packed, const std::byte* spread, std::uint64_t count) {
  const std::size_t into = in_line(packed);
  const std::uint64_t before = into % kRunBytes == 0 ? (kLineBytes - into) % kLineBytes / kRunBytes : 0;
  if (in_line(spread) % kRunBytes != 0 || count < before + kRuns) return 0;
  for (std::uint64_t i = 0; i < before; ++i) std::memcpy(packed + i * kRunBytes, spread + i * kStride, kRunBytes);
  spread += before * kStride;
  const std::uint64_t groups = (count - before) / kRuns;
  const std::size_t from = in_line(spread);
  const auto pack = from < kStride ? (count < kMany ? pack_groups<false, false> : pack_groups<false, true>)
                                   : (count < kMany ? pack_groups<true, false> : pack_groups<true, true>);
  pack(packed + before * kRunBytes, spread - from, from / kRunBytes, groups);
  return before + groups * kRuns;
}

// Which of the packed line's lanes go into the first of two lines, and which into the second. Across: the packed runs
// begin in the midst of a line, and lanes from 8 on are the next one's.
struct Halves {
  __m512i low, high;
};

[[gnu::target("avx512f")]] Halves halves_from(std::size_t lane) {
  const auto from = static_cast<std::int64_t>(lane);
  return {_mm512_add_epi64(_mm512_setr_epi64(0, 0, 1, 1, 2, 2, 3, 3), _mm512_set1_epi64(from)),
          _mm512_add_epi64(_mm512_setr_epi64(4, 4, 5, 5, 6, 6, 7, 7), _mm512_set1_epi64(from))};
}

// `line` is the beginning of the first of two lines, and the runs are at `mask` of them; `first` is as in pack_group.
// (Permutations without a mask are warned of by GCC 12, as reading what is not initialized; with all lanes they are the
// same instruction.)
template <bool kAcross>
__attribute__((target("avx512f"), always_inline, no_sanitize("address", "thread"))) inline void unpack_group(
    std::byte* line, const std::byte* packed, __mmask8 mask, const Halves& halves, __m512d& first) {
  if constexpr (kAcross) {
    const __m512d second = _mm512_loadu_pd(packed + kLineBytes);
    _mm512_mask_storeu_pd(line, mask, _mm512_permutex2var_pd(first, halves.low, second));
    _mm512_mask_storeu_pd(line + kLineBytes, mask, _mm512_permutex2var_pd(first, halves.high, second));
    first = second;
  } else {
    const __m512d all = _mm512_loadu_pd(packed);
    _mm512_mask_storeu_pd(line, mask, _mm512_maskz_permutexvar_pd(kAll, halves.low, all));
    _mm512_mask_storeu_pd(line + kLineBytes, mask, _mm512_maskz_permutexvar_pd(kAll, halves.high, all));
  }
}

template <bool kAcross, bool kAsk>
__attribute__((target("avx512f"), no_sanitize("address", "thread"))) void unpack_groups(std::byte* line,
                                                                                        const std::byte* packed,
                                                                                        std::size_t lane, __mmask8 mask,
                                                                                        std::uint64_t groups) {
  const Halves halves = halves_from(lane);
  __m512d first = _mm512_loadu_pd(packed);
  for (; groups >= kGroups; groups -= kGroups) {
    if constexpr (kAsk) ask_for<2 * kGroups>(line);
#pragma GCC unroll 8
    for (std::uint64_t i = 0; i < kGroups; ++i) {
      unpack_group<kAcross>(line + i * kSpreadBytes, packed + i * kLineBytes, mask, halves, first);
    }
    packed += kGroups * kLineBytes;
    line += kGroups * kSpreadBytes;
  }
  for (; groups != 0; --groups) {
    unpack_group<kAcross>(line, packed, mask, halves, first);
    packed += kLineBytes;
    line += kSpreadBytes;
  }
}

// Line by line: a masked store over two lines takes longer than its four doubles one by one, one into a line takes as
// long as one of them. So the runs up to the first line's beginning are stored singly.
std::uint64_t unpack_wide(std::byte* spread, const std::byte* packed, std::uint64_t count) {
  const std::size_t into = in_line(spread);
  if (into % kRunBytes != 0) return 0;
  const std::size_t first = into % kStride;  // of a line's runs
  const std::uint64_t before = (into > first ? kLineBytes - into + first : 0) / kStride;
  if (count < before + kRuns) return 0;
  for (std::uint64_t i = 0; i < before; ++i) std::memcpy(spread + i * kStride, packed + i * kRunBytes, kRunBytes);
  packed += before * kRunBytes;
  const std::uint64_t groups = (count - before) / kRuns;
  const std::size_t from = in_line(packed) % kRunBytes == 0 ? in_line(packed) : 0;
  const auto unpack = count < kMany ? (from != 0 ? unpack_groups<true, false> : unpack_groups<false, false>)
                                    : (from != 0 ? unpack_groups<true, true> : unpack_groups<false, true>);
  unpack(spread + before * kStride - first, packed - from, from / kRunBytes, first == 0 ? kEven : kOdd, groups);
  return before + groups * kRuns;
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
