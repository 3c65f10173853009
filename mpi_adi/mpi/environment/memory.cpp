// Memory from MPI (MPI 4.0, 9.2): of the heap that the node shares, so that a window over it is mapped by all its
// ranks. Where there is none, or another alignment is asked for, ordinary memory, aligned to cache lines.
#include <cstdint>
#include <cstdlib>
#include <optional>

#include "mpi_adi/mpi/binding.hpp"
#include "mpi_adi/mpi/call.hpp"
#include "mpi_adi/mpi/info_table.hpp"
#include "mpi_adi/object/memory_hint.hpp"

using namespace margay::mpi_adi;

namespace {

// What the node's heap gives begins with a page.
constexpr std::size_t kHeapAlignmentBytes = 4096;

}  // namespace

extern "C" int PMPI_Alloc_mem(MPI_Aint size, MPI_Info info, void* baseptr) {
  Call call(call_name<"MPI_Alloc_mem">);
  if (size < 0) call.error(MPI_ERR_ARG, "size is " + std::to_string(size) + ", below 0");
  call.not_null(baseptr, "baseptr");
  const std::optional<Info> hints = info == MPI_INFO_NULL ? Info{} : copy_of_info(info);
  if (!hints) call.error(MPI_ERR_INFO, words_of_bad_info(info));
  if (!call.ok()) return call.failed();
  const std::size_t alignment = memory_alignment(*hints);
  // At least one byte, so that the address is the program's own; a multiple of the alignment, as the function wants it.
  const auto bytes = static_cast<std::size_t>(size) + (size == 0 ? 1 : 0);
  void* memory = nullptr;
  margay::sim::NodeHeap* const heap = call.rank().process().node_heap();
  if (heap == nullptr || alignment > kHeapAlignmentBytes || !heap->allocate(bytes, memory).ok()) {
    memory = std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
  }
  if (memory == nullptr) {
    call.error(MPI_ERR_NO_MEM, "there is no memory for " + std::to_string(size) + " bytes");
    return call.failed();
  }
  call.rank().tables().memory.insert(memory);
  *static_cast<void**>(baseptr) = memory;
  return call.done();
}
MARGAY_ALIAS(Alloc_mem)

extern "C" int PMPI_Free_mem(void* base) {
  Call call(call_name<"MPI_Free_mem">);
  if (base != nullptr && call.rank().tables().memory.erase(base) == 0)
    call.error(MPI_ERR_BASE, "base is no address that MPI_Alloc_mem returned, or was freed");
  if (!call.ok()) return call.failed();
  margay::sim::NodeHeap* const heap = call.rank().process().node_heap();
  if (base != nullptr && heap != nullptr && heap->owns(base)) {
    heap->free(base);
  } else {
    std::free(base);
  }
  return call.done();
}
MARGAY_ALIAS(Free_mem)
