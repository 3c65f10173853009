// What a trace and the check of types note of a send and of a receive. The protocols have one path each: where
// recorder().watched() holds, a step goes through the function here that does the same step and notes what it sees.
// The others pay for that one test.
#pragma once

#include "mpi_adi/device/envelope.hpp"
#include "mpi_adi/device/parts.hpp"
#include "mpi_adi/protocol/select.hpp"

namespace margay::mpi_adi {

// A send begins whose request has its body, peer and protocol: recorded, and marked in `header` with the sender's
// types. `header`: as put_header() makes it.
[[gnu::noinline, gnu::cold]] void observe_send(DeviceParts& parts, const CheckedSend& send,
                                               const ProtocolChoice& choice, SendRequest& request,
                                               portals::Header& header);

// try_short_send() from its header on. A message that does not go at once is recorded when it begins again.
[[nodiscard, gnu::noinline, gnu::cold]] bool observed_try_send(DeviceParts& parts, const CheckedSend& send,
                                                               portals::Header& header, const portals::Region& body);

// A receive begins: recorded; then the search of the heap for its message, and the miss recorded. `reported`: the type
// of its elements as the program knows it.
[[nodiscard, gnu::noinline, gnu::cold]] portals::ArrivedMessage* observed_search(DeviceParts& parts,
                                                                                 ReceiveRequest& request,
                                                                                 const CheckedReceive& receive,
                                                                                 Datatype& reported);
// The receive takes `message` out of the heap. Requires: take_envelope() was called.
[[gnu::noinline, gnu::cold]] void observe_hit(DeviceParts& parts, ReceiveRequest& request,
                                              const portals::ArrivedMessage& message);

}  // namespace margay::mpi_adi
