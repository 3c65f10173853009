// Error handlers made and freed at any time, by any thread (MPI 4.0, 11.4.1).
#pragma once

#include <string>

#include "mpi/call/call.hpp"
#include "mpi/layers.hpp"

namespace margay::mpi {

// Each is a whole call.
[[nodiscard]] int create_early_handler(const Invocation& of, ObjectType object, HandlerFunction function,
                                       const char* what, MPI_Errhandler* handler);
[[nodiscard]] int free_early_handler(const Invocation& of, MPI_Errhandler* handler);

// The handler that is to be attached to an object of `of`; nullptr after an error.
[[nodiscard]] ErrorHandlerPtr checked_handler(Call& call, MPI_Errhandler handle, ObjectType of);

// What to say of a full table, and of a handle that names none.
inline constexpr char kTooManyHandlers[] = "too many error handlers are alive (2^18); free some first";
[[nodiscard]] std::string words_of_bad_handler(MPI_Errhandler handle);

}  // namespace margay::mpi
