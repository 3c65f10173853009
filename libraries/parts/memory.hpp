// Owned memory, aligned to 64 bytes for wires and heaps of portals. Its contents are undefined.
#pragma once

#include <cstddef>
#include <memory>
#include <new>

namespace margay::parts {

struct FreeBytes {
  void operator()(std::byte* bytes) const { ::operator delete[](bytes, std::align_val_t{64}); }
};
using Memory = std::unique_ptr<std::byte[], FreeBytes>;
// Throws std::bad_alloc.
[[nodiscard]] inline Memory allocate(std::size_t bytes) {
  return Memory(static_cast<std::byte*>(::operator new[](bytes, std::align_val_t{64})));
}

}  // namespace margay::parts
