// Which accesses an origin's epochs allow (MPI 4.0, 12.5). Each function returns what is wrong, as a sentence; nullptr:
// nothing. Pure, on the window's own state.
#pragma once

#include "mpi_adi/rma/window.hpp"
#include "sim/trace/event.hpp"

namespace margay::mpi_adi {

// An access to `target` from here: also that a fence's epoch is used from now on.
[[nodiscard]] const char* begin_access(Window& window, int target);
// The epoch that allows an access now, for the trace.
[[nodiscard]] sim::TraceEpoch access_epoch(const Window& window, int target);
// Flushes want a passive epoch.
[[nodiscard]] const char* check_flush(const Window& window, int target);
[[nodiscard]] const char* check_flush_all(const Window& window);
// Whether an epoch may begin.
[[nodiscard]] const char* check_fence(const Window& window);
[[nodiscard]] const char* check_start(const Window& window);
[[nodiscard]] const char* check_post(const Window& window);
[[nodiscard]] const char* check_lock(const Window& window, int target);
[[nodiscard]] const char* check_lock_all(const Window& window);
// No epoch is open: the window may go.
[[nodiscard]] const char* check_free(const Window& window);

}  // namespace margay::mpi_adi
