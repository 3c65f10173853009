// Integers in little-endian order, as frames, sealed bodies and compressed bodies of modules have them, and views of
// memory for C libraries. Requires: the memory is long enough; callers check the length once for a whole header.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace margay::nexus::core {

// Writes `value` at `at`, whatever the order of bytes of this machine.
template <typename Number>
void put_number(std::byte* at, Number value) {
  for (std::size_t i = 0; i < sizeof(Number); ++i) at[i] = static_cast<std::byte>(std::uint64_t{value} >> (8 * i));
}

// The number that put_number() has written at `at`.
template <typename Number>
[[nodiscard]] Number number_at(const std::byte* at) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < sizeof(Number); ++i) value |= std::to_integer<std::uint64_t>(at[i]) << (8 * i);
  return static_cast<Number>(value);
}

// The same memory, as libsodium declares it.
[[nodiscard]] inline const unsigned char* raw(const std::byte* bytes) {
  return reinterpret_cast<const unsigned char*>(bytes);
}
[[nodiscard]] inline unsigned char* raw(std::byte* bytes) {
  return reinterpret_cast<unsigned char*>(bytes);
}

}  // namespace margay::nexus::core
