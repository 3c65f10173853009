// Errors of files.
#pragma once

#include "mpi/call/call.hpp"

namespace margay::mpi {

// Hands `code` to MPI_FILE_NULL's handler, outside the rank, since the user's function may call MPI. Does not return
// when the handler is fatal. The code as the handler leaves it.
[[nodiscard]] int raise_on_file(MpiRank& rank, const CallName& name, int code);

}  // namespace margay::mpi
