// The begin and the end of requests, common to all protocols.
#pragma once

#include "mpi_adi/device/parts.hpp"
#include "portals/base/assert.hpp"

namespace margay::mpi_adi {

// new_send() and new_receive() take a request from its pool and begin it: it is incomplete, counted as under way, and
// has a reference to `communicator`. If the pool is empty, it grows (std::bad_alloc). The caller gives the request up
// by release() or release_to().
[[nodiscard]] SendRequest& new_send(DeviceParts& parts, Communicator& communicator);
[[nodiscard]] ReceiveRequest& new_receive(DeviceParts& parts, Communicator& communicator);

// The rare part of complete(): records the completion in the trace, notifies the parent request, and returns a released
// request to its pool.
[[gnu::noinline]] void finish_completion(DeviceParts& parts, Request& request);
// Completes a request, whose fields have its result. Requires: the request is not complete, and neither the kernel nor
// a list refers to its memory any more. A released request may be back in its pool afterwards, so do not touch it.
// Inlined, because each message passes here.
inline void complete(DeviceParts& parts, Request& request) {
  MARGAY_ASSERT(!request.complete);
  MARGAY_DEBUG_ASSERT(parts.incomplete_requests != 0);
  request.complete = true;
  --parts.incomplete_requests;
  ++parts.completions;
  if (request.detached || parts.recorder().on()) [[unlikely]]
    finish_completion(parts, request);
}

// Gives a request up: it returns to its pool now, or when it completes. Requires: not released before.
void release(DeviceParts& parts, Request& request);

// Makes the request a part of a parent request (ParentRequest), which is notified when the part completes, perhaps
// within this call. The part then returns to its pool.
void release_to(DeviceParts& parts, ParentRequest& owner, Request& request);

// Completes a send or receive with MPI_PROC_NULL at once; no data moves, and the status has source MPI_PROC_NULL, tag
// MPI_ANY_TAG and 0 bytes (MPI 4.0, 3.11).
void complete_null(DeviceParts& parts, Request& request);

// Drops a reference that the device has to a communicator. If this is the last reference to a communicator that the
// program has freed, the communicator is queued for deletion.
inline void drop_reference(DeviceParts& parts, Communicator& communicator) {
  MARGAY_DEBUG_ASSERT(communicator.references != 0);
  if (--communicator.references == 0 && communicator.freed) [[unlikely]]
    parts.unreferenced.push_back(&communicator);
}

// Records one trace event about a request, under its message's number as far as that is known. Requires: the trace
// records. `detail`, `b` and `reason` have the meaning that docs/trace_format.md gives for `kind`. Not inlined: the
// event on the stack would enlarge the frame of each function that may record one.
[[gnu::noinline]] void trace_request(DeviceParts& parts, sim::TraceKind kind, const Request& request,
                                     std::uint64_t bytes, portals::MatchBits match_bits = 0, std::uint64_t detail = 0,
                                     std::uint32_t b = 0, std::uint8_t reason = 0);

}  // namespace margay::mpi_adi
