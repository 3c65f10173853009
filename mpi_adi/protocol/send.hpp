// The send protocols: the start of a send by each protocol, and the events that complete it. Every send begins with
// start_send() or send_now(). They describe the body, choose a protocol, and record and count the choice.
#pragma once

#include "mpi_adi/device/envelope.hpp"
#include "mpi_adi/device/parts.hpp"

namespace margay::mpi_adi {

// Starts a send with a request, which may be complete on return. See Device. Requires: the destination is a rank.
[[nodiscard]] SendRequest& start_send(DeviceParts& parts, const CheckedSend& send);
// Sends a short standard or ready message without a request. False if the mode or the size needs a request, or if the
// wire has no room; nothing was sent then. This is the fast path, by which most messages of a program leave.
[[nodiscard]] bool send_now(DeviceParts& parts, const CheckedSend& send);

// The start of each protocol, of which start_send() chooses one (short ones in send.cpp, long ones in long_send.cpp).
// Requires for each: request.body, peer, protocol and tag are set. `header` is the result of put_header(); if the check
// of types is on, observe_send() has written the sender's types into it.

// Starts a short message: a standard, ready or buffered one (figure 3), or a synchronous one (figure 6).
void start_short_send(DeviceParts& parts, SendRequest& request, portals::Header& header);
// Sends a short message without a request; true when the kernel took it at once. Requires: bytes <= the peer's short
// limit.
[[nodiscard]] bool try_short_send(DeviceParts& parts, const CheckedSend& send, std::uint32_t peer,
                                  portals::MatchBits bits, const portals::Region& body);
// Starts a long message (figures 4 and 5).
[[gnu::noinline]] void start_long_send(DeviceParts& parts, SendRequest& request, portals::Header& header);
// Start a long message by rendezvous (an option), and a long ready message.
[[gnu::noinline]] void start_rendezvous_send(DeviceParts& parts, SendRequest& request, portals::Header& header);
[[gnu::noinline]] void start_long_ready_send(DeviceParts& parts, SendRequest& request, portals::Header& header);

// The events of a send under way, in any order.

// Handles the end of the request's transmission: the body was sent or stopped. If the wire failed, the request ends
// with MPIX_ERR_PROC_FAILED.
[[gnu::noinline]] void end_transmission(DeviceParts& parts, SendRequest& request);
// Handles the messages that have arrived at the request's acknowledgment entry: the kernel's acknowledgment, a
// synchronous answer, the answer to a cancel, or several of these.
[[gnu::noinline]] void take_answers(DeviceParts& parts, SendRequest& request);
// Handles the acknowledgment of a long message, which states whether the target's kernel saved the body. If only the
// header was saved, the send stops its body and waits for the receiver's pull.
void take_acknowledgment(DeviceParts& parts, SendRequest& request, const portals::Header& acknowledgment);
// Handles the receiver's pull of the body, or of as much of it as the receiver has room for.
[[gnu::noinline]] void take_pull(DeviceParts& parts, SendRequest& request);

}  // namespace margay::mpi_adi
