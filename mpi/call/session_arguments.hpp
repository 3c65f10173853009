// What the bindings of sessions share: lookups and checks. After an error each gives nullptr.
#pragma once

#include <string>

#include "mpi/call/call.hpp"
#include "mpi_adi/rank/object_tables.hpp"

namespace margay::mpi {

// The session behind a handle; its error handler is asked from here on.
[[nodiscard]] Session* checked_session(Call& call, MPI_Session handle);
// A name of at most MPI_MAX_STRINGTAG_LEN or MPI_MAX_PSET_NAME_LEN bytes, its zero among them.
void check_text(Call& call, const char* text, std::size_t limit, const char* what);

}  // namespace margay::mpi
