// Common steps of the send protocols: the header, the entry that answers come to, and the end.
#pragma once

#include "mpi_adi/device/note.hpp"
#include "mpi_adi/device/parts.hpp"

namespace margay::mpi_adi {

// The header of a message of `bytes` with these match bits, but for notes and returns.
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

inline void owes(SendRequest& request, SendOwed what) {
  request.owed = static_cast<std::uint8_t>(request.owed | what);
}
inline void settled(SendRequest& request, SendOwed what) {
  request.owed = static_cast<std::uint8_t>(request.owed & ~static_cast<unsigned>(what));
}

// The bits that name this send to its receiver.
[[nodiscard]] portals::MatchBits answer_bits_of(const SendRequest& request);

// Lists the request's acknowledgment entry ("configured to save only the message header").
[[gnu::noinline]] void listen(DeviceParts& parts, SendRequest& request);
// Lists the request's read entry ("a message destined for this type of read portal will cause the data in the
// appropriate buffer to be replied back").
[[gnu::noinline]] void make_readable(DeviceParts& parts, SendRequest& request);

// Hands the request's transmission (header set) to the kernel, whole and at once if the wire can.
[[gnu::noinline]] void hand_over(DeviceParts& parts, SendRequest& request, const portals::Header& header,
                                 const portals::Region& body);

// Tells the kernel that the peer owes an answer, until close().
[[gnu::noinline]] void expect_answer(DeviceParts& parts, SendRequest& request);

// Completes the request when nothing is owed any more.
void complete_if_nothing_owed(DeviceParts& parts, SendRequest& request);
// Takes the request's entries out of their lists.
[[gnu::noinline]] void close(DeviceParts& parts, SendRequest& request);

}  // namespace margay::mpi_adi
