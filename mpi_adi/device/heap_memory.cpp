#include "mpi_adi/device/heap_memory.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <new>

namespace margay::mpi_adi {

HeapMemory::HeapMemory(std::size_t bytes, std::size_t least_bytes) {
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  for (;; bytes = std::max(bytes / 2, least_bytes)) {
    const std::size_t rounded = (bytes + page - 1) / page * page;
    void* const base =
        ::mmap(nullptr, rounded, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (base == MAP_FAILED) {
      if (bytes <= least_bytes) throw std::bad_alloc();
      continue;
    }
    buffer_ = {static_cast<std::byte*>(base), rounded};
    return;
  }
}

HeapMemory::~HeapMemory() {
  ::munmap(buffer_.base, buffer_.bytes);
}

void HeapMemory::empty_all_but_first_page() const {
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  if (buffer_.bytes > page) static_cast<void>(::madvise(buffer_.base + page, buffer_.bytes - page, MADV_DONTNEED));
}

}  // namespace margay::mpi_adi
