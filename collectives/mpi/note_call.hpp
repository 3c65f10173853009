// What the check of collective calls is told of each (collectives/portal/call_check): a line in every binding.
#pragma once

#include <cstdint>

#include "collectives/mpi/arguments.hpp"

namespace margay::collectives {

inline constexpr int kNoRoot = -1;

// What all members name alike. `root`: a rank of the communicator, or none. `operation` 0: the call takes none.
struct CollectiveCall {
  int root = kNoRoot;
  MPI_Op operation = 0;
  std::int64_t count = 0;
  const mpi_adi::Datatype* type = nullptr;  // null: the call takes no data
};

void tell_call(mpi_adi::Call& call, const mpi_adi::Communicator& communicator, const CollectiveCall& what);

// Its arguments are checked, and it begins, on all members of `communicator`.
inline void note_call(mpi_adi::Call& call, const mpi_adi::Communicator& communicator, const CollectiveCall& what = {}) {
  if (collectives_of(call).check() != nullptr) [[unlikely]]
    tell_call(call, communicator, what);
}

// MPI_Finalize. On rank 0 of the world it waits until everybody has come to it.
void note_last_call(mpi_adi::Call& call);

}  // namespace margay::collectives
