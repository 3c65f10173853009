// Variants of steps of a send and a receive that also record the step, for the trace and for the check of types. If
// recorder().observing() holds, a protocol calls the variant, which performs the same step and records it. Otherwise
// the protocol performs the step itself, at the cost of that test.
#pragma once

#include "mpi_adi/device/envelope.hpp"
#include "mpi_adi/device/parts.hpp"
#include "mpi_adi/protocol/select.hpp"

namespace margay::mpi_adi {

// Records a send that begins with a request, and marks `header` with the sender's types. Requires: the request has its
// body, peer and protocol; `header` is put_header()'s.
[[gnu::noinline, gnu::cold]] void observe_send(DeviceParts& parts, const CheckedSend& send,
                                               const ProtocolChoice& choice, SendRequest& request,
                                               portals::Header& header);

// The step of try_short_send() after its header is made. False when the wire has no room: nothing is recorded, because
// the send begins again with a request, which records it.
[[nodiscard, gnu::noinline, gnu::cold]] bool observed_try_send(DeviceParts& parts, const CheckedSend& send,
                                                               portals::Header& header, const portals::Region& body);

// Records a receive that begins, before its search, so that a hit follows it in the trace. `reported`: the datatype of
// its elements as the program declared it.
[[gnu::noinline, gnu::cold]] void observe_post(DeviceParts& parts, ReceiveRequest& request,
                                               const CheckedReceive& receive, Datatype& reported);
// Searches the heap for the receive's message, and records a miss. Returns nullptr when there is no message.
[[nodiscard, gnu::noinline, gnu::cold]] portals::ArrivedMessage* observed_search(DeviceParts& parts,
                                                                                 ReceiveRequest& request);
// Records that the receive takes `message` out of the heap. Requires: take_envelope() was called.
[[gnu::noinline, gnu::cold]] void observe_hit(DeviceParts& parts, ReceiveRequest& request,
                                              const portals::ArrivedMessage& message);

}  // namespace margay::mpi_adi
