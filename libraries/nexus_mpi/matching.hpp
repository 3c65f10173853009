// Messages: their sends, the handler that matches them, and their data.
#pragma once

#include "mpi_adi/abi/mpi.h"

#include <span>

#include "libraries/nexus_mpi/layer.hpp"

namespace margay::nexus_mpi {

// Registers the layer's handlers. Before the context starts.
void register_handlers();

// Sends the message; `answer`: the request that its match completes, 0 for none. Throws nexus::error.
void send_message(Communicator& communicator, const char* call, const Place& place, int destination, int tag,
                  std::uint64_t answer);
// Matches the receive with an arrived message, or posts it.
void post(Request& request);
// Completes the receive with the message.
void complete(Request& request, Message& message);
// The first arrived message that matches; the end if there is none.
[[nodiscard]] std::list<Message>::iterator find_arrived(const Communicator& communicator, int source, int tag);
// Cancels a posted receive; false: it has been matched.
bool unpost(Request& request);
// Answers a matched synchronous send, or keeps the answer if the caller is a handler.
void answer(const Message& message);
// Sends the answers that handlers have kept.
void send_answers();

// Requests with handles.
[[nodiscard]] MPI_Request add_request(std::unique_ptr<Request> request);
[[nodiscard]] Request* find_request(MPI_Request handle);
void remove_request(MPI_Request& handle);
// Frees what a completed request owns.
void finish_request(Request& request);
// The number of a request in envelopes.
[[nodiscard]] inline std::uint64_t number_of(MPI_Request handle) {
  return static_cast<std::uint64_t>(handle - kFirstRequest);
}

// The bytes of the data; -1: the datatype is invalid.
[[nodiscard]] MPI_Count packed_bytes(const Place& place);
// Whether the data lie in memory as they are packed.
[[nodiscard]] bool is_plain(MPI_Datatype type);

}  // namespace margay::nexus_mpi
