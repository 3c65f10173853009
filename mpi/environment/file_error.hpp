// Errors of files, which all go to MPI_FILE_NULL's handler.
#pragma once

#include "mpi/call/call.hpp"
#include "sim/boot/findings.hpp"

namespace margay::mpi {

// Passes `code` to MPI_FILE_NULL's handler, outside the rank, because the program's function may call MPI. Does not
// return if the handler is fatal. Returns the code as the handler leaves it, or unchanged with MPI_ERRORS_RETURN, the
// first handler of files (MPI 4.0, 14.7). `finding`: that of a fatal error. Requires: the rank is not entered.
[[nodiscard]] int raise_on_file(MpiRank& rank, const CallName& name, int code, sim::Finding finding);
// Whether MPI_FILE_NULL's handler ends the job. Requires: the rank is entered.
[[nodiscard]] bool file_handler_is_fatal(MpiRank& rank);

}  // namespace margay::mpi
