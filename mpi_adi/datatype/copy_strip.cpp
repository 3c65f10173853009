#include "mpi_adi/datatype/copy_strip.hpp"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include <cstring>
#include <type_traits>

#include "mpi_adi/datatype/every_other.hpp"
#include "portals/base/region.hpp"

namespace margay::mpi_adi {

namespace {

// Where a strip's runs lie; addresses are made of integers only here, where bytes are.
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

struct Pack {
  using Packed = std::byte*;
  static void move(Packed packed, std::uintptr_t place, std::size_t bytes) {
    portals::copy_bytes(packed, reinterpret_cast<const std::byte*>(place), bytes);
  }
  template <std::size_t Bytes>
  static void move(Packed packed, std::uintptr_t place) {
    std::memcpy(packed, reinterpret_cast<const std::byte*>(place), Bytes);
  }
  static std::uint64_t every_other(Packed packed, std::uintptr_t place, std::uint64_t count) {
    return pack_every_other(packed, reinterpret_cast<const std::byte*>(place), count);
  }
};
struct Unpack {
  using Packed = const std::byte*;
  static void move(Packed packed, std::uintptr_t place, std::size_t bytes) {
    portals::copy_bytes(reinterpret_cast<std::byte*>(place), packed, bytes);
  }
  template <std::size_t Bytes>
  static void move(Packed packed, std::uintptr_t place) {
    std::memcpy(reinterpret_cast<std::byte*>(place), packed, Bytes);
  }
  static std::uint64_t every_other(Packed packed, std::uintptr_t place, std::uint64_t count) {
    return unpack_every_other(reinterpret_cast<std::byte*>(place), packed, count);
  }
};

// Runs whose length the compiler knows: a move or two each. By fours, so that the loop's own work does not count.
template <typename Way, std::size_t Bytes, typename Places>
typename Way::Packed fixed(typename Way::Packed packed, Places places, std::uint64_t count) {
  for (; count >= 4; count -= 4) {
    Way::template move<Bytes>(packed, places.next());
    Way::template move<Bytes>(packed + Bytes, places.next());
    Way::template move<Bytes>(packed + 2 * Bytes, places.next());
    Way::template move<Bytes>(packed + 3 * Bytes, places.next());
    packed += 4 * Bytes;
  }
  for (; count != 0; --count) {
    Way::template move<Bytes>(packed, places.next());
    packed += Bytes;
  }
  return packed;
}

// Doubles out of a strip: two in one register, one store for both, since a processor stores less often than it loads.
#ifdef __SSE2__
void pack_two(std::byte* packed, std::uintptr_t first, std::uintptr_t second) {
  const __m128i low = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(first));
  const __m128d both = _mm_loadh_pd(_mm_castsi128_pd(low), reinterpret_cast<const double*>(second));
  _mm_storeu_pd(reinterpret_cast<double*>(packed), both);
}

template <typename Places>
std::byte* pack_eights(std::byte* packed, Places places, std::uint64_t count) {
  for (; count >= 4; count -= 4) {
    const std::uintptr_t a = places.next();
    const std::uintptr_t b = places.next();
    pack_two(packed, a, b);
    const std::uintptr_t c = places.next();
    const std::uintptr_t d = places.next();
    pack_two(packed + 16, c, d);
    packed += 32;
  }
  return fixed<Pack, 8>(packed, places, count);
}
#else
template <typename Places>
std::byte* pack_eights(std::byte* packed, Places places, std::uint64_t count) {
  return fixed<Pack, 8>(packed, places, count);
}
#endif

template <typename Way, typename Places>
typename Way::Packed runs(typename Way::Packed packed, Places places, std::uint64_t bytes, std::uint64_t count) {
  switch (bytes) {
    case 1:
      return fixed<Way, 1>(packed, places, count);
    case 2:
      return fixed<Way, 2>(packed, places, count);
    case 4:
      return fixed<Way, 4>(packed, places, count);
    case 8:
      if constexpr (std::is_same_v<Way, Pack>) return pack_eights(packed, places, count);
      return fixed<Way, 8>(packed, places, count);
    case 12:
      return fixed<Way, 12>(packed, places, count);
    case 16:
      return fixed<Way, 16>(packed, places, count);
    case 24:
      return fixed<Way, 24>(packed, places, count);
    case 32:
      return fixed<Way, 32>(packed, places, count);
    default:
      for (std::uint64_t i = 0; i < count; ++i) {
        Way::move(packed, places.next(), static_cast<std::size_t>(bytes));
        packed += bytes;
      }
      return packed;
  }
}

template <typename Way>
typename Way::Packed entries(typename Way::Packed packed, const Strip& strip, std::uintptr_t base) {
  const LayoutNode::Entry* entry = strip.entries;
  const std::uint64_t end = entry->before + strip.total;
  for (std::uint64_t i = 1; i <= strip.count; ++i, ++entry) {
    const std::uint64_t bytes = (i < strip.count ? entry[1].before : end) - entry->before;
    Way::move(packed, base + static_cast<std::uintptr_t>(entry->offset), static_cast<std::size_t>(bytes));
    packed += bytes;
  }
  return packed;
}

template <typename Way>
typename Way::Packed copy_strip(typename Way::Packed packed, const Strip& strip, std::uintptr_t by,
                                std::uint64_t count) {
  std::uintptr_t base = strip.base + by;
  if (strip.entries != nullptr) return entries<Way>(packed, strip, base);
  if (strip.offsets != nullptr) return runs<Way>(packed, Listed{base, strip.offsets}, strip.bytes, count);
  if (count == 1) {
    Way::move(packed, base, static_cast<std::size_t>(strip.bytes));
    return packed + strip.bytes;
  }
  if (strip.bytes == kEveryOtherRunBytes && strip.stride == kEveryOtherStride) {
    const std::uint64_t copied = Way::every_other(packed, base, count);
    packed += copied * kEveryOtherRunBytes;
    base += copied * kEveryOtherStride;
    count -= copied;
  }
  return runs<Way>(packed, Strided{base, static_cast<std::uintptr_t>(strip.stride)}, strip.bytes, count);
}

}  // namespace

std::byte* pack_strip(std::byte* packed, const Strip& strip, std::uintptr_t by, std::uint64_t count) {
  return copy_strip<Pack>(packed, strip, by, count);
}

const std::byte* unpack_strip(const std::byte* packed, const Strip& strip, std::uintptr_t by, std::uint64_t count) {
  return copy_strip<Unpack>(packed, strip, by, count);
}

}  // namespace margay::mpi_adi
