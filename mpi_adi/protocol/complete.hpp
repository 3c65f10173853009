// How requests begin and end, whatever the protocol.
#pragma once

#include "mpi_adi/device/parts.hpp"
#include "portals/base/assert.hpp"

namespace margay::mpi_adi {

// A request out of the pool, under way, with a reference to `communicator`.
[[nodiscard]] SendRequest& new_send(DeviceParts& parts, Communicator& communicator);
[[nodiscard]] ReceiveRequest& new_receive(DeviceParts& parts, Communicator& communicator);

// What complete() seldom has to do: a freed request goes back to its pool, a traced one is noted.
[[gnu::noinline]] void tell_completion(DeviceParts& parts, Request& request);
// The request is over in the eyes of whoever started it, with what its fields say. Requires: not complete, and nothing
// refers to its memory any more.
inline void complete(DeviceParts& parts, Request& request) {
  MARGAY_ASSERT(!request.complete);
  MARGAY_DEBUG_ASSERT(parts.under_way != 0);
  request.complete = true;
  --parts.under_way;
  ++parts.completions;
  if (request.detached || parts.recorder().on()) [[unlikely]]
    tell_completion(parts, request);
}

// Gives a request up: back to its pool now, or when it completes.
void release(DeviceParts& parts, Request& request);

// Makes it a part of a greater request (RequestOwner), which is told when it is complete, perhaps at once; then it goes
// back to its pool.
void release_to(DeviceParts& parts, RequestOwner& owner, Request& request);

// A send or receive with MPI_PROC_NULL: over at once, nothing moved.
void complete_null(DeviceParts& parts, Request& request);

// A reference of the device's own to a communicator is over.
inline void drop_reference(DeviceParts& parts, Communicator& communicator) {
  MARGAY_DEBUG_ASSERT(communicator.references != 0);
  if (--communicator.references == 0 && communicator.freed) [[unlikely]]
    parts.unreferenced.push_back(&communicator);
}

// One record about a request, when traces are on, under the identity of its message as far as that is known.
// Not inlined: the record would cost each function that may write one its frame.
[[gnu::noinline]] void trace_request(DeviceParts& parts, sim::TraceKind kind, const Request& request,
                                     std::uint64_t bytes, portals::MatchBits match_bits = 0, std::uint64_t detail = 0,
                                     std::uint32_t b = 0, std::uint8_t reason = 0);

}  // namespace margay::mpi_adi
