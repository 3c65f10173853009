// What the check of collective calls is told of each (collectives/portal/call_check): a line in every binding.
#pragma once

#include <cstdint>
#include <limits>

#include "collectives/portal/call_record.hpp"
#include "mpi/collective/arguments.hpp"

namespace margay::mpi {

inline constexpr int kNoRoot = std::numeric_limits<int>::min();

// `root`: as the call names it, MPI_ROOT and MPI_PROC_NULL too; or none. `operation` 0: the call takes none.
struct CollectiveCall {
  int root = kNoRoot;
  MPI_Op operation = 0;
  std::int64_t count = 0;
  const Datatype* type = nullptr;  // null: the call takes no data, or of more than one kind
};

// What a call has for each of its peers; see CallReport.
struct CallShares {
  Shares sends;
  Shares expects;
  bool expects_alike = false;
};

[[nodiscard]] Amount amount_of(const Datatype& type, std::uint64_t bytes);

// Root, operation, count and type are the same on all.
void tell_call(Call& call, const Communicator& communicator, const CollectiveCall& what);
// Count and type are this member's, and only for the words; or the same on all too, where `alike`.
void tell_call(Call& call, const Communicator& communicator, const CollectiveCall& what, CallShares shares,
               bool alike = false);

[[nodiscard]] inline bool calls_are_checked(Call& call) {
  return collectives_of(call).check() != nullptr;
}

// Its arguments are checked, and it begins, on all members of `communicator`.
inline void note_call(Call& call, const Communicator& communicator, const CollectiveCall& what = {}) {
  if (calls_are_checked(call)) [[unlikely]]
    tell_call(call, communicator, what);
}

// MPI_Finalize. On rank 0 of the world it waits until everybody has come to it.
void note_last_call(Call& call);

}  // namespace margay::mpi
