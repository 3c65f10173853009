// The short way of what programs do most with a window: put, get or update a few elements in memory that is mapped
// here, with the same type and count on both sides, in an epoch that is open; and flush where nothing is under way.
// Each function passes all checks of its whole call, in a few comparisons, and then it is done: true. False: nothing
// happened, and the whole call says what is wrong, waits, or goes another way.
//
// The rank is entered and left as always, so that what the coprocessor is owed is told to it. No object of a call is
// made, nothing is traced, and no sentence can be needed: that is what is saved.
#pragma once

#include "mpi/call/call_name.hpp"
#include "mpi/one_sided/arguments.hpp"

namespace margay::mpi {

[[nodiscard]] bool short_access(const CallName& name, Direction direction, const AccessArguments& arguments);
// Sums of integers, MPI_REPLACE and MPI_NO_OP, of one element. `result` null: none is wanted.
[[nodiscard]] bool short_update(const CallName& name, const AccessArguments& arguments, MPI_Op op, void* result);
[[nodiscard]] bool short_swap(const CallName& name, const AccessArguments& arguments, const void* compare,
                              void* result);
// MPI_Win_flush, MPI_Win_flush_local.
[[nodiscard]] bool short_flush(int target, MPI_Win window);

}  // namespace margay::mpi
