// The interface of collective bindings to the check of collective calls (collectives/portal/call_check). Each binding
// reports its call by one line, which costs one test while the check is disabled.
#pragma once

#include <cstdint>
#include <limits>

#include "collectives/portal/call_record.hpp"
#include "mpi/collective/arguments.hpp"

namespace margay::mpi {

// The root of a call without one; MPI gives this number no meaning.
inline constexpr int kNoRoot = std::numeric_limits<int>::min();

// The arguments that must be equal on all members. `root`: the program's argument, also MPI_ROOT or MPI_PROC_NULL;
// kNoRoot: none. `operation`: 0 for a call without one.
struct CollectiveCall {
  int root = kNoRoot;
  // Operations of the program are not compared with each other, because their handles are local.
  MPI_Op operation = 0;
  // Elements of `type`; members may name the same bytes by other types.
  std::int64_t count = 0;
  // Null: the call has no data, or data of several types.
  const Datatype* type = nullptr;
};

// The amounts that a member sends to each peer and expects from each, sorted by peer; see CallReport. Empty lists for a
// call whose members all name the same amount.
struct CallShares {
  Shares sends;
  Shares expects;
  // All members of the group expect the same (recvcounts).
  bool expects_alike = false;
};

// `bytes` bytes of elements of `type` as an Amount: the number with the elements' signature.
[[nodiscard]] Amount amount_of(const Datatype& type, std::uint64_t bytes);

// Records a call whose root, operation, count and type are equal on all members. Calls on communicators of sessions are
// not checked. Requires: calls_are_checked().
void record_call(Call& call, const Communicator& communicator, const CollectiveCall& what);
// Records a call with blocks. `alike`: count and type must be equal on all members; otherwise they describe this member
// in messages only.
void record_call(Call& call, const Communicator& communicator, const CollectiveCall& what, CallShares shares,
                 bool alike = false);

// Whether --check-types is enabled.
[[nodiscard]] inline bool calls_are_checked(Call& call) {
  return collectives_of(call).check() != nullptr;
}

// Records a call whose arguments are valid, and which begins on all members of `communicator`.
inline void check_call(Call& call, const Communicator& communicator, const CollectiveCall& what = {}) {
  if (calls_are_checked(call)) [[unlikely]]
    record_call(call, communicator, what);
}

// Reports MPI_Finalize, which is the last collective call. The check then finds ranks with fewer calls than the others.
// On rank 0 of the world it waits until all ranks have reported it, or one is lost. No effect while the check is
// disabled.
void check_last_call(Call& call);

}  // namespace margay::mpi
