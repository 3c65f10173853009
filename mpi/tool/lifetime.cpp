// The beginning and end of the tool interface (MPI 4.0, section 15.3.4). Both calls are valid before, during and after
// MPI, and are counted.
#include <algorithm>

#include "mpi/call/binding.hpp"
#include "mpi/tool/variable/tool.hpp"

using namespace margay::mpi;

// While one thread is in an MPI call, another one needs MPI's locks to read the rank. These exist only with
// MPI_THREAD_MULTIPLE. Before MPI_Init the level is unknown, so at most MPI_THREAD_FUNNELED is provided.
extern "C" int PMPI_T_init_thread(int required, int* provided) {
  Tool& state = tool();
  const std::lock_guard guard(state.mutex);
  if (provided == nullptr) return MPI_T_ERR_INVALID;
  if (required < MPI_THREAD_SINGLE || required > MPI_THREAD_MULTIPLE) return MPI_T_ERR_INVALID;
  const bool threaded = state.rank != nullptr && state.rank->threaded();
  *provided = std::min<int>(required, threaded ? MPI_THREAD_MULTIPLE : MPI_THREAD_FUNNELED);
  ++state.users;
  return MPI_SUCCESS;
}
MARGAY_ALIAS(T_init_thread)

// The last call frees all handles and pvar sessions. Values that were set stay set.
extern "C" int PMPI_T_finalize() {
  Tool& state = tool();
  const std::lock_guard guard(state.mutex);
  if (state.users == 0) return MPI_T_ERR_NOT_INITIALIZED;
  if (--state.users == 0) {
    state.control_handles.clear();
    state.sessions.clear();
  }
  return MPI_SUCCESS;
}
MARGAY_ALIAS(T_finalize)
