// Fast paths of frequent window calls. An access takes its fast path if the target's memory is mapped here, both sides
// have the same dense type and count, and an epoch is open. A flush takes it if nothing is in progress. A few
// comparisons make all checks of the full path. A function returns true if it has carried out the call. Otherwise it
// returns false, without an effect; the caller then takes the full path, which reports the error, waits, or uses
// another method.
//
// The rank is entered and left as in any call, so that the coprocessor is notified of work for it. A fast path saves
// the Call object and the error messages; one test sends every call to the full path while a trace or a check observes
// the rank.
#pragma once

#include "mpi/call/call_name.hpp"
#include "mpi/one_sided/arguments.hpp"

namespace margay::mpi {

// MPI_Put and MPI_Get.
[[nodiscard]] bool try_fast_access(const CallName& name, Direction direction, const AccessArguments& arguments);
// MPI_SUM of integers, MPI_REPLACE and MPI_NO_OP, on one element. `result` null: none is wanted.
[[nodiscard]] bool try_fast_update(const CallName& name, const AccessArguments& arguments, MPI_Op op, void* result);
// MPI_Compare_and_swap.
[[nodiscard]] bool try_fast_swap(const CallName& name, const AccessArguments& arguments, const void* compare,
                                 void* result);
// MPI_Win_flush and MPI_Win_flush_local. At least every 64th call takes the full path, which runs a round of progress:
// a program that polls memory in a loop of flushes must still receive its messages.
[[nodiscard]] bool try_fast_flush(int target, MPI_Win window);

}  // namespace margay::mpi
