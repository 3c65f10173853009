// Pieces of a shared heap, and children that check them.
#pragma once

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <span>

#include "sim/machine/shared_heap.hpp"

namespace margay::sim::test {

inline constexpr std::uint64_t kHeapPage = 4096;
inline constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;

inline std::span<std::byte> piece(SharedHeap& heap, std::uint64_t bytes) {
  void* base = nullptr;
  const portals::Status status = heap.allocate(bytes, base);
  REQUIRE_MESSAGE(status.ok(), status.sentence());
  REQUIRE(base != nullptr);
  return {static_cast<std::byte*>(base), bytes};
}

inline bool is_all(std::span<const std::byte> bytes, unsigned value) {
  return std::ranges::all_of(bytes, [&](std::byte byte) { return byte == std::byte(value); });
}

inline void fill(std::span<std::byte> bytes, unsigned value) {
  std::memset(bytes.data(), static_cast<int>(value), bytes.size());
}

// Runs `body` in a child; returns whether it returned true.
template <typename Body>
bool in_child(Body body) {
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) ::_exit(body() ? 0 : 1);
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace margay::sim::test
