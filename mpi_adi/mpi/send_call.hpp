// What the send bindings call: whole calls.
#pragma once

#include "mpi_adi/device/envelope.hpp"
#include "mpi_adi/mpi/arguments.hpp"
#include "mpi_adi/mpi/call_name.hpp"

namespace margay::mpi_adi {

// Flat, as the receives are: what a short message needs is one function, all else is not inlined.
[[nodiscard, gnu::flatten]] int blocking_send(const CallName& name, SendMode mode, const SendArguments& arguments);
[[nodiscard, gnu::flatten]] int nonblocking_send(const CallName& name, SendMode mode, const SendArguments& arguments,
                                                 MPI_Request* request);

}  // namespace margay::mpi_adi
