// Owned memory, aligned to 64 bytes for wires and heaps of portals. Its contents are undefined.
//
// A block of malloc() with 64 bytes more than asked for, and its address in front of the aligned bytes. That takes 160
// instructions for a short message's block and its release, an aligned allocation of glibc 650.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>

namespace margay::parts {

inline constexpr std::size_t kMemoryAlignment = 64;
// The address of the block fits in front of the aligned bytes, which are at least one step of malloc()'s alignment
// behind its beginning.
static_assert(__STDCPP_DEFAULT_NEW_ALIGNMENT__ >= sizeof(void*) &&
              kMemoryAlignment % __STDCPP_DEFAULT_NEW_ALIGNMENT__ == 0);

struct FreeBytes {
  void operator()(std::byte* bytes) const {
    void* block = nullptr;
    std::memcpy(&block, bytes - sizeof block, sizeof block);
    ::operator delete(block);
  }
};
using Memory = std::unique_ptr<std::byte[], FreeBytes>;
// Throws std::bad_alloc.
[[nodiscard]] inline Memory allocate(std::size_t bytes) {
  // A damaged message may ask for any length.
  if (bytes > SIZE_MAX - kMemoryAlignment) throw std::bad_alloc();
  // The block is longer than its alignment, so the aligned address is inside it, as leak checkers expect.
  void* const block = ::operator new(std::max<std::size_t>(bytes, 1) + kMemoryAlignment);
  auto* const first = static_cast<std::byte*>(block);
  std::byte* const aligned = first + (kMemoryAlignment - reinterpret_cast<std::uintptr_t>(block) % kMemoryAlignment);
  std::memcpy(aligned - sizeof block, &block, sizeof block);
  return Memory(aligned);
}

}  // namespace margay::parts
