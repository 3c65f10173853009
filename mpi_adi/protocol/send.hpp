// The send protocols: how a send starts, by each protocol, and what happens to it afterwards. Every send begins with
// start_send() or send_now(): the body is described, a protocol chosen, the choice traced and counted.
#pragma once

#include "mpi_adi/device/envelope.hpp"
#include "mpi_adi/device/parts.hpp"

namespace margay::mpi_adi {

// See Device. Requires: the destination is a rank.
[[nodiscard]] SendRequest& start_send(DeviceParts& parts, const CheckedSend& send);
[[nodiscard]] bool send_now(DeviceParts& parts, const CheckedSend& send);

// The starts of the protocols (short ones in send.cpp, long ones in long_send.cpp), of which start_send() chooses one.
// For each: request.body, peer, protocol and tag are set, `header` is put_header()'s, marked by the check of types.

// Short messages, figure 3; synchronous ones, figure 6; ready and buffered ones that are short.
void start_short_send(DeviceParts& parts, SendRequest& request, portals::Header& header);
// Without a request: true when the kernel took the message at once. Requires: bytes <= the peer's short limit.
[[nodiscard]] bool try_short_send(DeviceParts& parts, const CheckedSend& send, std::uint32_t peer,
                                  portals::MatchBits bits, const portals::Region& body);
// Long messages, figures 4 and 5.
[[gnu::noinline]] void start_long_send(DeviceParts& parts, SendRequest& request, portals::Header& header);
// Long messages by rendezvous (an option); long ready messages.
[[gnu::noinline]] void start_rendezvous_send(DeviceParts& parts, SendRequest& request, portals::Header& header);
[[gnu::noinline]] void start_long_ready_send(DeviceParts& parts, SendRequest& request, portals::Header& header);

// The events of a send under way. They may come in any order.

// The request's transmission came off the kernel's list: sent, stopped, or failed (the request then ends with an
// error).
[[gnu::noinline]] void body_taken(DeviceParts& parts, SendRequest& request);
// Something came to the request's acknowledgment entry: the kernel's acknowledgment, a synchronous answer, or both.
[[gnu::noinline]] void answers_came(DeviceParts& parts, SendRequest& request);
// Of these the acknowledgment of a long message: it states what the target's kernel saved of it.
void acknowledged(DeviceParts& parts, SendRequest& request, const portals::Header& acknowledgment);
// The receiver has pulled the body, or as much of it as it has room for.
[[gnu::noinline]] void body_read(DeviceParts& parts, SendRequest& request);

}  // namespace margay::mpi_adi
