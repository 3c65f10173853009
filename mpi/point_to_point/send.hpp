// The bodies of send and receive bindings, each of which returns what its binding returns.
#pragma once

#include "mpi/call/call_name.hpp"
#include "mpi/point_to_point/arguments.hpp"
#include "mpi_adi/device/envelope.hpp"

namespace margay::mpi {

// MPI_Send, MPI_Ssend and MPI_Rsend; MPI_Isend and its variants. `flatten` inlines into each of these functions the
// whole path of a short message; all other paths are marked noinline. A send that completed at once gets a request too.
[[nodiscard, gnu::flatten]] int blocking_send(const Invocation& name, SendMode mode, const SendArguments& arguments);
[[nodiscard, gnu::flatten]] int nonblocking_send(const Invocation& name, SendMode mode, const SendArguments& arguments,
                                                 MPI_Request* request);
// MPI_Send_init and its variants, of all modes; in persistent.cpp.
[[nodiscard]] int persistent_send(const Invocation& name, SendMode mode, const SendArguments& arguments,
                                  MPI_Request* request);

// MPI_Recv and MPI_Irecv, flattened likewise. A message longer than the buffer is MPI_ERR_TRUNCATE, found when it
// arrives. `status` may be MPI_STATUS_IGNORE, here and below.
[[nodiscard, gnu::flatten]] int blocking_receive(const Invocation& name, const ReceiveArguments& arguments,
                                                 MPI_Status* status);
[[nodiscard, gnu::flatten]] int nonblocking_receive(const Invocation& name, const ReceiveArguments& arguments,
                                                    MPI_Request* request);
// MPI_Recv_init; in persistent.cpp.
[[nodiscard]] int persistent_receive(const Invocation& name, const ReceiveArguments& arguments, MPI_Request* request);

// MPI_Sendrecv and MPI_Isendrecv: a send and a receive, neither of which waits for the other (MPI 4.0, 3.10).
[[nodiscard]] int send_and_receive(const Invocation& name, const SendArguments& send, const ReceiveArguments& receive,
                                   MPI_Status* status);
[[nodiscard]] int start_send_and_receive(const Invocation& name, const SendArguments& send,
                                         const ReceiveArguments& receive, MPI_Request* request);
// The same with one buffer: MPI_Sendrecv_replace and MPI_Isendrecv_replace. The outgoing data is packed into a copy
// first, because the arriving message may overwrite it; the nonblocking form's request owns the copy.
[[nodiscard]] int send_and_replace(const Invocation& name, const SendArguments& send, const ReceiveArguments& receive,
                                   MPI_Status* status);
[[nodiscard]] int start_send_and_replace(const Invocation& name, const SendArguments& send,
                                         const ReceiveArguments& receive, MPI_Request* request);

}  // namespace margay::mpi
