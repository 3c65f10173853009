// What is wrong with an attribute key.
#pragma once

#include "mpi_adi/mpi/call.hpp"
#include "mpi_adi/object/attribute.hpp"

namespace margay::mpi_adi {

// The key that the program made; nullptr and an error (MPI_ERR_KEYVAL) for any other. `owner`: of which kind of object.
[[nodiscard]] KeyvalPtr find_keyval(Call& call, int keyval, ObjectType owner);
// The same, and it was not freed: for making use of it anew.
[[nodiscard]] KeyvalPtr find_unfreed_keyval(Call& call, int keyval, ObjectType owner);

}  // namespace margay::mpi_adi
