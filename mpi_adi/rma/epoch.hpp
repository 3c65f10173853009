// The rules of epochs at an origin (MPI 4.0, 12.5). Each check returns the error message, a string literal, or nullptr
// if there is no error; the binding raises it as MPI_ERR_RMA_SYNC. The functions read only the window's own state;
// begin_access() also changes it.
#pragma once

#include "mpi_adi/rma/window.hpp"
#include "sim/trace/event.hpp"

namespace margay::mpi_adi {

// Checks an access to `target`. In a fence's epoch it also marks the epoch as used.
[[nodiscard]] const char* begin_access(Window& window, int target);
// The epoch that allows an access now, for the trace.
[[nodiscard]] sim::TraceEpoch access_epoch(const Window& window, int target);
// Check a flush, which needs a passive epoch.
[[nodiscard]] const char* check_flush(const Window& window, int target);
[[nodiscard]] const char* check_flush_all(const Window& window);
// Check that an epoch may begin now.
[[nodiscard]] const char* check_fence(const Window& window);
[[nodiscard]] const char* check_start(const Window& window);
[[nodiscard]] const char* check_post(const Window& window);
[[nodiscard]] const char* check_lock(const Window& window, int target);
[[nodiscard]] const char* check_lock_all(const Window& window);
// Checks that no epoch is open, so that the window may be freed. An epoch of MPI_Win_fence does not count, because each
// fence begins one.
[[nodiscard]] const char* check_free(const Window& window);

}  // namespace margay::mpi_adi
