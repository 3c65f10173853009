// Checks of info handles and keys.
#pragma once

#include <cstddef>
#include <string>

#include "mpi/call/early_call.hpp"
#include "mpi/info/table.hpp"

namespace margay::mpi {

// The info object of a handle; nullptr, with MPI_ERR_INFO set, if it is invalid. Valid while `infos` keeps the table
// locked. Only sets the error; the caller raises it after the unlock, because the handler may use info objects.
[[nodiscard]] Info* find_info(EarlyCall& call, const InfoAccess& infos, MPI_Info handle);
// The same for an object that the call changes: MPI_INFO_ENV is an error.
[[nodiscard]] Info* find_own_info(EarlyCall& call, const InfoAccess& infos, MPI_Info handle);
// Sets MPI_ERR_INFO_KEY for a key that is null, blank or too long.
void check_key(EarlyCall& call, const char* key);
// The length of a string, at most `limit` + 1, so that a string without a zero is not read forever. Requires: `text` is
// not null.
[[nodiscard]] std::size_t bounded_length(const char* text, std::size_t limit);

}  // namespace margay::mpi
