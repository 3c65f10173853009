// Allocation of memory (MPI 4.0, 9.2): from the heap that the node shares, so that all its ranks can map a window over
// it; private memory if the node has no shared heap (sim/machine/rank_memory).

#include <cstdint>
#include <optional>

#include "mpi/call/binding.hpp"
#include "mpi/call/call.hpp"
#include "mpi/call/early_call.hpp"
#include "mpi/info/table.hpp"
#include "mpi_adi/object/info.hpp"
#include "mpi_adi/rank/object_tables.hpp"
#include "sim/machine/process.hpp"

using namespace margay::mpi;

extern "C" int PMPI_Alloc_mem(MPI_Aint size, MPI_Info info, void* baseptr) {
  Call call(call_name<"MPI_Alloc_mem">);
  if (size < 0) call.error(MPI_ERR_ARG, "size is " + std::to_string(size) + ", below 0");
  call.not_null(baseptr, "baseptr");
  const std::optional<Info> hints = info == MPI_INFO_NULL ? Info{} : copy_of_info(info);
  if (!hints) call.error(MPI_ERR_INFO, bad_info_text(info));
  if (!call.ok()) return call.failed();
  void* memory = nullptr;
  const margay::portals::Status status =
      call.rank().process().memory().allocate(static_cast<std::uint64_t>(size), memory_alignment(*hints), memory);
  if (!status.ok()) {
    call.error(MPI_ERR_NO_MEM, status.sentence());
    return call.failed();
  }
  // MPI_Free_mem detects invalid addresses by this table.
  call.rank().tables().memory.insert(memory);
  *static_cast<void**>(baseptr) = memory;
  return call.done();
}
MARGAY_ALIAS(Alloc_mem)

extern "C" int PMPI_Free_mem(void* base) {
  Call call(call_name<"MPI_Free_mem">);
  // A null pointer is accepted, as by free().
  if (base != nullptr && call.rank().tables().memory.erase(base) == 0)
    call.error(MPI_ERR_BASE, "base is not an address that MPI_Alloc_mem returned, or was freed");
  if (!call.ok()) return call.failed();
  if (base != nullptr) call.rank().process().memory().free(base);
  return call.done();
}
MARGAY_ALIAS(Free_mem)

// MPICH's inquiries about memory of graphics processors, which margay cannot access: the answer is always no.

using namespace margay::mpi;

extern "C" int PMPIX_GPU_query_support(int gpu_type, int* is_supported) {
  EarlyCall call(call_name<"MPIX_GPU_query_support">);
  call.not_null(is_supported, "is_supported");
  if (gpu_type != MPIX_GPU_SUPPORT_CUDA && gpu_type != MPIX_GPU_SUPPORT_ZE && gpu_type != MPIX_GPU_SUPPORT_HIP) {
    call.error(MPI_ERR_ARG, "gpu_type is " + std::to_string(gpu_type) + ", not an MPIX_GPU_SUPPORT_ value");
  }
  if (call.ok()) *is_supported = 0;
  return call.done();
}
MARGAY_ALIAS_MPIX(GPU_query_support)

extern "C" int PMPIX_Query_cuda_support(void) {
  return 0;
}
MARGAY_ALIAS_MPIX(Query_cuda_support)

extern "C" int PMPIX_Query_hip_support(void) {
  return 0;
}
MARGAY_ALIAS_MPIX(Query_hip_support)

extern "C" int PMPIX_Query_ze_support(void) {
  return 0;
}
MARGAY_ALIAS_MPIX(Query_ze_support)
