// A 64-bit hash of bytes, for names, build ids and code. It detects accidental differences, but does not resist an
// attacker, who can construct collisions. Its values travel (identity.hpp, functor_table.hpp), so all nodes of a job
// must compute the same ones; they depend on the byte order, and a job has one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace margay::rmi {

// The hash of `bytes` bytes at `from`, continuing `seed`. Takes 8 bytes at a time, because the code of a program has
// megabytes. The length is part of the hash, so that zeros at the end count.
inline std::uint64_t hash_bytes(const void* from, std::size_t bytes, std::uint64_t seed = 0) {
  constexpr std::uint64_t kMultiplier = 0x9E3779B97F4A7C15U;  // 2^64 / the golden ratio: odd, its bits irregular
  std::uint64_t hash = (seed ^ bytes) * kMultiplier;
  const auto* at = static_cast<const char*>(from);
  while (bytes != 0) {
    const std::size_t part = bytes < sizeof hash ? bytes : sizeof hash;
    std::uint64_t word = 0;
    std::memcpy(&word, at, part);
    hash = (hash ^ word) * kMultiplier;
    hash ^= hash >> 29;
    at += part;
    bytes -= part;
  }
  hash *= kMultiplier;
  return hash ^ (hash >> 32);
}

// The same of a text.
inline std::uint64_t hash_text(std::string_view text, std::uint64_t seed = 0) {
  return hash_bytes(text.data(), text.size(), seed);
}

}  // namespace margay::rmi
