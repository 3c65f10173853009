// What the send bindings call: whole calls.
#pragma once

#include "mpi/call/call_name.hpp"
#include "mpi/point_to_point/arguments.hpp"
#include "mpi_adi/device/envelope.hpp"

namespace margay::mpi {

// MPI_Send, MPI_Ssend and MPI_Rsend; MPI_Isend and its kin. Both return what the binding returns. All that a short
// message needs is inlined into one function each (flatten), everything else is not (noinline where it stands).
[[nodiscard, gnu::flatten]] int blocking_send(const Invocation& name, SendMode mode, const SendArguments& arguments);
[[nodiscard, gnu::flatten]] int nonblocking_send(const Invocation& name, SendMode mode, const SendArguments& arguments,
                                                 MPI_Request* request);
// MPI_Send_init and its kin, of all modes; in persistent.cpp.
[[nodiscard]] int persistent_send(const Invocation& name, SendMode mode, const SendArguments& arguments,
                                  MPI_Request* request);

}  // namespace margay::mpi
