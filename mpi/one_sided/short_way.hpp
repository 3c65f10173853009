// Fast paths of frequent window calls: put, get or update a few elements in memory that is mapped here, with the same
// type and count on both sides, in an open epoch; and flush if nothing is in progress. Each function checks in a few
// comparisons all that the full path checks. It returns true if the access is done. False: it had no effect; the caller
// takes the full path, which reports the error, waits, or uses another method.
//
// The rank is entered and left as in any call, so that the coprocessor is notified of work for it. A fast path saves
// the Call object and the error messages; one test sends every call to the full path while a trace or a check observes
// the rank.
#pragma once

#include "mpi/call/call_name.hpp"
#include "mpi/one_sided/arguments.hpp"

namespace margay::mpi {

// MPI_Put and MPI_Get.
[[nodiscard]] bool short_access(const CallName& name, Direction direction, const AccessArguments& arguments);
// MPI_SUM of integers, MPI_REPLACE and MPI_NO_OP, on one element. `result` null: none is wanted.
[[nodiscard]] bool short_update(const CallName& name, const AccessArguments& arguments, MPI_Op op, void* result);
// MPI_Compare_and_swap.
[[nodiscard]] bool short_swap(const CallName& name, const AccessArguments& arguments, const void* compare,
                              void* result);
// MPI_Win_flush and MPI_Win_flush_local. Each of 64 synchronisations or so takes the full path, which runs a round of
// progress: a program that polls memory in a loop of flushes must still receive its messages.
[[nodiscard]] bool short_flush(int target, MPI_Win window);

}  // namespace margay::mpi
