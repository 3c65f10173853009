// Lookups and checks that the bindings of sessions share. After an error each does nothing and returns nullptr.
#pragma once

#include <string>

#include "mpi/call/call.hpp"
#include "mpi_adi/rank/object_tables.hpp"

namespace margay::mpi {

// The session of a handle. Later errors of the call go to the session's error handler. An invalid handle is
// MPI_ERR_SESSION, which goes to the handler that the call had before.
[[nodiscard]] Session* checked_session(Call& call, MPI_Session handle);
// Checks that a string has at most `limit` bytes, including its zero (MPI_MAX_STRINGTAG_LEN, MPI_MAX_PSET_NAME_LEN).
// `what`: the argument's name. A null or longer string is MPI_ERR_ARG. At most `limit` bytes are read, so a string
// without a zero is detected.
void check_text(Call& call, const char* text, std::size_t limit, const char* what);

}  // namespace margay::mpi
