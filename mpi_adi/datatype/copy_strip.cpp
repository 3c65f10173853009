#include "mpi_adi/datatype/copy_strip.hpp"

#ifdef __x86_64__
#include <immintrin.h>
#endif

#include <cstring>

namespace margay::mpi_adi {

#ifdef __x86_64__

namespace {

constexpr std::size_t kRunBytes = kEveryOtherRunBytes;
constexpr std::size_t kStride = kEveryOtherStride;
constexpr std::size_t kLineBytes = 64;  // of a cache line and of a register
constexpr std::size_t kSpreadBytes = 2 * kLineBytes;
constexpr std::uint64_t kRuns = 8;    // of one group: packed, they fill a line
constexpr std::uint64_t kGroups = 8;  // groups in each iteration of a loop; with fewer, the loop's own work matters
constexpr __mmask8 kEven = 0x55;
constexpr __mmask8 kOdd = 0xaa;
constexpr __mmask8 kAll = 0xff;
// From this count on (24 KiB of both sides together) lines are prefetched before stores to them. If both sides do not
// fit in the first-level cache, stores without prefetching wait for one line after the other (1.6 times as long at 16
// KiB of data). If both sides fit, prefetching costs a tenth.
constexpr std::uint64_t kMany = 1025;

// Tested at each call, at the cost of one load and a branch that the processor predicts. This needs neither a result
// that is stored at the first use nor a symbol that the dynamic linker resolves (ifunc).
bool has_wide_registers() {
  return __builtin_cpu_supports("avx512f") != 0;
}

std::size_t in_line(const std::byte* at) {
  return reinterpret_cast<std::uintptr_t>(at) % kLineBytes;
}

// Prefetches lines for writing.
template <std::size_t kLines>
[[gnu::always_inline]] inline void ask_for(std::byte* line) {
#pragma GCC unroll 16
  for (std::size_t i = 0; i < kLines; ++i) __builtin_prefetch(line + i * kLineBytes, 1);
}

// The positions of a group's runs, in lanes (8 bytes) of its lines; the first run is at lane `lane` of the first line.
// `below`: if the group ends in the next group's first line, the lanes of that line which belong to this group.
struct Lanes {
  __m512i indices;
  __mmask8 below;
};

[[gnu::target("avx512f")]] Lanes lanes_from(std::size_t lane) {
  const __m512i from = _mm512_set1_epi64(static_cast<std::int64_t>(lane));
  return {_mm512_add_epi64(_mm512_setr_epi64(0, 2, 4, 6, 8, 10, 12, 14), from),
          static_cast<__mmask8>((1U << lane) - 1)};
}

// Packs one group. `first`: if groups reach across lines, the bytes of this group's first line; on return, of the next
// group's. Whole lines are loaded, each once, because a load across two lines costs two loads. So gaps, and other bytes
// of the first and the last line, are also read, and discarded; another thread may write them meanwhile without harm.
template <bool kAcross>
__attribute__((target("avx512f"), always_inline, no_sanitize("address", "thread"))) inline void pack_group(
    std::byte* packed, const std::byte* line, const Lanes& lanes, __m512d& first) {
  const __m512d second = _mm512_loadu_pd(line + kLineBytes);
  if constexpr (kAcross) {
    const __m512d third = _mm512_loadu_pd(line + kSpreadBytes);
    const __m512d ends = _mm512_mask_blend_pd(lanes.below, first, third);
    _mm512_storeu_pd(packed, _mm512_permutex2var_pd(ends, lanes.indices, second));
    first = third;
  } else {
    _mm512_storeu_pd(packed, _mm512_permutex2var_pd(_mm512_loadu_pd(line), lanes.indices, second));
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

// The runs before the packed side's first line boundary are copied singly. (If the packed side is not aligned to runs,
// no run is copied singly.)
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

// The lanes of the packed line that go into the first and into the second of two spread lines. If the packed runs begin
// inside a line, lanes from 8 on are lanes of the next packed line.
struct Halves {
  __m512i low, high;
};

[[gnu::target("avx512f")]] Halves halves_from(std::size_t lane) {
  const auto from = static_cast<std::int64_t>(lane);
  return {_mm512_add_epi64(_mm512_setr_epi64(0, 0, 1, 1, 2, 2, 3, 3), _mm512_set1_epi64(from)),
          _mm512_add_epi64(_mm512_setr_epi64(4, 4, 5, 5, 6, 6, 7, 7), _mm512_set1_epi64(from))};
}

// Unpacks one group into the two lines that begin at `line`, there into the lanes of `mask`. `first`: as in
// pack_group(), of the packed side. (GCC 12 warns that permutations without a mask read uninitialized values.
// Permutations with a full mask are the same instruction.)
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

// Stores line by line. A masked store across two lines takes longer than four stores of a double, but a masked store
// within a line takes no longer than one store of a double. So the runs before the first line boundary are stored
// singly.
std::uint64_t unpack_wide(std::byte* spread, const std::byte* packed, std::uint64_t count) {
  const std::size_t into = in_line(spread);
  if (into % kRunBytes != 0) return 0;
  const std::size_t first = into % kStride;  // offset of the runs in a line
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

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include <cstring>
#include <type_traits>

#include "portals/base/region.hpp"

namespace margay::mpi_adi {

namespace {

// The addresses of a strip's runs. Integers become pointers only where bytes are copied.
struct Strided {
  std::uintptr_t at;
  std::uintptr_t stride;
  std::uintptr_t next() {
    const std::uintptr_t here = at;
    at += stride;
    return here;
  }
};
struct Listed {
  std::uintptr_t base;
  const std::int64_t* offset;
  std::uintptr_t next() { return base + static_cast<std::uintptr_t>(*offset++); }
};

// The two directions of a copy, which share all loops below.
struct Pack {
  using Packed = std::byte*;
  static void move(Packed packed, std::uintptr_t address, std::size_t bytes) {
    portals::copy_bytes(packed, reinterpret_cast<const std::byte*>(address), bytes);
  }
  template <std::size_t Bytes>
  static void move(Packed packed, std::uintptr_t address) {
    std::memcpy(packed, reinterpret_cast<const std::byte*>(address), Bytes);
  }
  static std::uint64_t every_other(Packed packed, std::uintptr_t address, std::uint64_t count) {
    return pack_every_other(packed, reinterpret_cast<const std::byte*>(address), count);
  }
};
struct Unpack {
  using Packed = const std::byte*;
  static void move(Packed packed, std::uintptr_t address, std::size_t bytes) {
    portals::copy_bytes(reinterpret_cast<std::byte*>(address), packed, bytes);
  }
  template <std::size_t Bytes>
  static void move(Packed packed, std::uintptr_t address) {
    std::memcpy(reinterpret_cast<std::byte*>(address), packed, Bytes);
  }
  static std::uint64_t every_other(Packed packed, std::uintptr_t address, std::uint64_t count) {
    return unpack_every_other(reinterpret_cast<std::byte*>(address), packed, count);
  }
};

// Copies runs of a length that the compiler knows: one or two moves each. Each iteration copies four runs, so that the
// loop's own work does not matter.
template <typename Method, std::size_t Bytes, typename Addresses>
typename Method::Packed fixed(typename Method::Packed packed, Addresses addresses, std::uint64_t count) {
  for (; count >= 4; count -= 4) {
    Method::template move<Bytes>(packed, addresses.next());
    Method::template move<Bytes>(packed + Bytes, addresses.next());
    Method::template move<Bytes>(packed + 2 * Bytes, addresses.next());
    Method::template move<Bytes>(packed + 3 * Bytes, addresses.next());
    packed += 4 * Bytes;
  }
  for (; count != 0; --count) {
    Method::template move<Bytes>(packed, addresses.next());
    packed += Bytes;
  }
  return packed;
}

// Packs doubles in pairs: two loads into one register and one store, because a processor performs fewer stores than
// loads at once.
#ifdef __SSE2__
void pack_two(std::byte* packed, std::uintptr_t first, std::uintptr_t second) {
  const __m128i low = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(first));
  const __m128d both = _mm_loadh_pd(_mm_castsi128_pd(low), reinterpret_cast<const double*>(second));
  _mm_storeu_pd(reinterpret_cast<double*>(packed), both);
}

template <typename Addresses>
std::byte* pack_eights(std::byte* packed, Addresses addresses, std::uint64_t count) {
  for (; count >= 4; count -= 4) {
    const std::uintptr_t a = addresses.next();
    const std::uintptr_t b = addresses.next();
    pack_two(packed, a, b);
    const std::uintptr_t c = addresses.next();
    const std::uintptr_t d = addresses.next();
    pack_two(packed + 16, c, d);
    packed += 32;
  }
  return fixed<Pack, 8>(packed, addresses, count);
}
#else
template <typename Addresses>
std::byte* pack_eights(std::byte* packed, Addresses addresses, std::uint64_t count) {
  return fixed<Pack, 8>(packed, addresses, count);
}
#endif

// The lengths of common element types have loops of their own. A general loop copies all others.
template <typename Method, typename Addresses>
typename Method::Packed runs(typename Method::Packed packed, Addresses addresses, std::uint64_t bytes,
                             std::uint64_t count) {
  switch (bytes) {
    case 1:
      return fixed<Method, 1>(packed, addresses, count);
    case 2:
      return fixed<Method, 2>(packed, addresses, count);
    case 4:
      return fixed<Method, 4>(packed, addresses, count);
    case 8:
      if constexpr (std::is_same_v<Method, Pack>) return pack_eights(packed, addresses, count);
      return fixed<Method, 8>(packed, addresses, count);
    case 12:
      return fixed<Method, 12>(packed, addresses, count);
    case 16:
      return fixed<Method, 16>(packed, addresses, count);
    case 24:
      return fixed<Method, 24>(packed, addresses, count);
    case 32:
      return fixed<Method, 32>(packed, addresses, count);
    default:
      for (std::uint64_t i = 0; i < count; ++i) {
        Method::move(packed, addresses.next(), static_cast<std::size_t>(bytes));
        packed += bytes;
      }
      return packed;
  }
}

// Copies runs of any length. An entry's length is the difference between the next entry's `before` and its own.
template <typename Method>
typename Method::Packed entries(typename Method::Packed packed, const Strip& strip, std::uintptr_t base) {
  const LayoutNode::Entry* entry = strip.entries;
  const std::uint64_t end = entry->before + strip.total;
  for (std::uint64_t i = 1; i <= strip.count; ++i, ++entry) {
    const std::uint64_t bytes = (i < strip.count ? entry[1].before : end) - entry->before;
    Method::move(packed, base + static_cast<std::uintptr_t>(entry->offset), static_cast<std::size_t>(bytes));
    packed += bytes;
  }
  return packed;
}

template <typename Method>
typename Method::Packed copy_strip(typename Method::Packed packed, const Strip& strip, std::uintptr_t by,
                                   std::uint64_t count) {
  std::uintptr_t base = strip.base + by;
  if (strip.entries != nullptr) return entries<Method>(packed, strip, base);
  if (strip.offsets != nullptr) return runs<Method>(packed, Listed{base, strip.offsets}, strip.bytes, count);
  // A single run, the most frequent strip of a table, needs no loop.
  if (count == 1) {
    Method::move(packed, base, static_cast<std::size_t>(strip.bytes));
    return packed + strip.bytes;
  }
  if (strip.bytes == kEveryOtherRunBytes && strip.stride == kEveryOtherStride) {
    const std::uint64_t copied = Method::every_other(packed, base, count);
    packed += copied * kEveryOtherRunBytes;
    base += copied * kEveryOtherStride;
    count -= copied;
  }
  return runs<Method>(packed, Strided{base, static_cast<std::uintptr_t>(strip.stride)}, strip.bytes, count);
}

}  // namespace

std::byte* pack_strip(std::byte* packed, const Strip& strip, std::uintptr_t by, std::uint64_t count) {
  return copy_strip<Pack>(packed, strip, by, count);
}

const std::byte* unpack_strip(const std::byte* packed, const Strip& strip, std::uintptr_t by, std::uint64_t count) {
  return copy_strip<Unpack>(packed, strip, by, count);
}

}  // namespace margay::mpi_adi
