// What the send bindings call: whole calls.
#pragma once

#include "mpi_adi/device/envelope.hpp"
#include "mpi_adi/mpi/arguments.hpp"
#include "mpi_adi/mpi/call_name.hpp"

namespace margay::mpi_adi {

// MPI_Send, MPI_Ssend and MPI_Rsend; MPI_Isend and its kin. Both return what the binding returns. All that a short
// message needs is inlined into one function each (flatten), everything else is not (noinline where it stands).
[[nodiscard, gnu::flatten]] int blocking_send(const Invocation& name, SendMode mode, const SendArguments& arguments);
[[nodiscard, gnu::flatten]] int nonblocking_send(const Invocation& name, SendMode mode, const SendArguments& arguments,
                                                 MPI_Request* request);

}  // namespace margay::mpi_adi
