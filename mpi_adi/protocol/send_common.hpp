// Steps that the send protocols share: the header, the entry for answers, and the end.
#pragma once

#include "mpi_adi/device/note.hpp"
#include "mpi_adi/device/parts.hpp"

namespace margay::mpi_adi {

// The header of a message of `bytes` bytes with these match bits, addressed to the receive portal of `peer`, a rank of
// the world. Note and return fields are still empty.
[[nodiscard]] inline portals::Header put_header(const DeviceParts& parts, std::uint32_t peer, portals::MatchBits bits,
                                                std::uint64_t bytes) {
  portals::Header header;
  header.kind = portals::Kind::put;
  header.portal = kReceivePortal;
  header.destination = {parts.kernel.me().group, peer};
  header.match_bits = bits;
  header.length = bytes;
  return header;
}

// Adds an event (SendEvent) to those for which the send waits.
inline void expect_event(SendRequest& request, SendEvent what) {
  request.events = static_cast<std::uint8_t>(request.events | what);
}
// Removes an event that has occurred. The caller then calls complete_if_finished().
inline void finish_event(SendRequest& request, SendEvent what) {
  request.events = static_cast<std::uint8_t>(request.events & ~static_cast<unsigned>(what));
}

// The match bits that name this send to its receiver, for acknowledgments, pulls and answers.
[[nodiscard]] portals::MatchBits answer_bits_of(const SendRequest& request);

// Puts the request's acknowledgment entry into the acknowledgment portal's match list ("configured to save only the
// message header"). Requires: not listed.
[[gnu::noinline]] void listen(DeviceParts& parts, SendRequest& request);
// Puts the request's read entry into the read portal's match list ("a message destined for this type of read portal
// will cause the data in the appropriate buffer to be replied back"). A body in pieces gets a combined descriptor, so
// the reply gathers it without packing. The body must stay valid until close(). Requires: not listed.
[[gnu::noinline]] void make_readable(DeviceParts& parts, SendRequest& request);

// Sets the header and the body of the request's transmission, and gives it to the kernel. The kernel sends it at once
// if the wire has room, and queues it otherwise. The send waits for kEventBodyTaken until end_transmission().
[[gnu::noinline]] void hand_over(DeviceParts& parts, SendRequest& request, const portals::Header& header,
                                 const portals::Region& body);

// Registers with the kernel that the peer owes an answer, until close(). After a while without progress the kernel then
// wakes the coprocessor of the peer, which may be computing.
[[gnu::noinline]] void expect_answer(DeviceParts& parts, SendRequest& request);

// Completes the request if it waits for no event any more and is not complete yet; otherwise no effect.
void complete_if_finished(DeviceParts& parts, SendRequest& request);
// Removes the request's entries from their lists, and ends its expectation of an answer. A late answer then finds no
// entry and is dropped.
[[gnu::noinline]] void close(DeviceParts& parts, SendRequest& request);

}  // namespace margay::mpi_adi
