// The report of a collective call to the check of collective calls (collectives/portal/call_check): one line in every
// binding, which costs a test while the check is disabled.
#pragma once

#include <cstdint>
#include <limits>

#include "collectives/portal/call_record.hpp"
#include "mpi/collective/arguments.hpp"

namespace margay::mpi {

// For calls without a root; no value that MPI gives a meaning.
inline constexpr int kNoRoot = std::numeric_limits<int>::min();

// The arguments that all members must name alike. `root`: as the program names it, also MPI_ROOT and MPI_PROC_NULL;
// kNoRoot: none. `operation` 0: none.
struct CollectiveCall {
  int root = kNoRoot;
  MPI_Op operation = 0;
  std::int64_t count = 0;
  // Null: the call has no data, or data of several types.
  const Datatype* type = nullptr;
};

// What a member sends to, and expects from, each peer; see CallReport.
struct CallShares {
  Shares sends;
  Shares expects;
  // All members of the group expect the same (recvcounts).
  bool expects_alike = false;
};

// The amount of `bytes` of elements of `type`.
[[nodiscard]] Amount amount_of(const Datatype& type, std::uint64_t bytes);

// Reports a call whose root, operation, count and type are equal on all members.
void report_call(Call& call, const Communicator& communicator, const CollectiveCall& what);
// Reports a call with blocks. Count and type are this member's, for messages only; or also equal on all if `alike`.
void report_call(Call& call, const Communicator& communicator, const CollectiveCall& what, CallShares shares,
                 bool alike = false);

// Whether --check-types is enabled.
[[nodiscard]] inline bool calls_are_checked(Call& call) {
  return collectives_of(call).check() != nullptr;
}

// Reports a call whose arguments are valid, and which begins on all members of `communicator`.
inline void check_call(Call& call, const Communicator& communicator, const CollectiveCall& what = {}) {
  if (calls_are_checked(call)) [[unlikely]]
    report_call(call, communicator, what);
}

// Reports MPI_Finalize. On rank 0 of the world it waits until all ranks have reported it, or one is lost.
void check_last_call(Call& call);

}  // namespace margay::mpi
