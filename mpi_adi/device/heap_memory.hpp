// Memory for the heap of unexpected messages: reserved in full, pages come when touched.
#pragma once

#include "portals/base/region.hpp"

namespace margay::mpi_adi {

class HeapMemory {
 public:
  // Rounds `bytes` up to whole pages. Throws std::bad_alloc when the address space refuses it.
  explicit HeapMemory(std::size_t bytes) : HeapMemory(bytes, bytes) {}
  // Halves `bytes` as often as the address space refuses them, to `least_bytes`.
  HeapMemory(std::size_t bytes, std::size_t least_bytes);
  ~HeapMemory();
  HeapMemory(const HeapMemory&) = delete;
  HeapMemory& operator=(const HeapMemory&) = delete;
  // Pages go back to the system; they are zeros when touched again.
  void empty_all_but_first_page() const;
  [[nodiscard]] portals::Buffer buffer() const { return buffer_; }

 private:
  portals::Buffer buffer_;
};

}  // namespace margay::mpi_adi
