// MPICH's questions about memory of graphics processors, which margay cannot read or write: the answer is always no.
#include "mpi/call/binding.hpp"
#include "mpi/call/early_call.hpp"

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
