// What is wrong with an info object or a key.
#pragma once

#include <cstddef>
#include <string>

#include "mpi/call/early_call.hpp"
#include "mpi/info/table.hpp"

namespace margay::mpi {

// nullptr and an error (MPI_ERR_INFO) when there is no such object.
[[nodiscard]] Info* find_info(EarlyCall& call, const InfoAccess& infos, MPI_Info handle);
// The same, and it is the program's to change.
[[nodiscard]] Info* find_own_info(EarlyCall& call, const InfoAccess& infos, MPI_Info handle);
// MPI_ERR_INFO_KEY for a key that is null, blank or too long.
void check_key(EarlyCall& call, const char* key);
// The length of a string, but at most `limit` + 1: a wild pointer is not followed for ever.
[[nodiscard]] std::size_t bounded_length(const char* text, std::size_t limit);

}  // namespace margay::mpi
