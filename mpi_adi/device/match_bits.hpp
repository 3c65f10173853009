// The match bits of MPI's messages (paper 001, section 2): 32 bits for message tag, 16 bits for local source rank, 13
// bits for context identifier, 3 bits for message type. Pure arithmetic.
//
//   63            32 31          16 15           3 2      1       0
//  |      tag       | source rank  |  context     | long | reply | ready |
#pragma once

#include <cstdint>

#include "mpi_adi/abi/mpi.h"
#include "mpi_adi/object/communicator.hpp"
#include "portals/base/header.hpp"

namespace margay::mpi_adi {

// Which portal serves what (paper 001, figures 1, 2, 8, 10 and 11).

inline constexpr portals::PortalIndex kReceivePortal = 0;         // posted receives and the two catch-alls
inline constexpr portals::PortalIndex kAcknowledgmentPortal = 1;  // long sends' acknowledgments, synchronous answers
inline constexpr portals::PortalIndex kReadPortal = 2;            // bodies that receivers pull
inline constexpr portals::PortalIndex kCollectiveTreePortal = 3;
inline constexpr portals::PortalIndex kCollectiveReadyPortal = 4;
// Of collectives' streams: 5, and more of them from 16 on.
inline constexpr std::uint32_t kCollectiveStreams = 17;
[[nodiscard]] constexpr portals::PortalIndex collective_stream(std::uint32_t index) {
  return static_cast<portals::PortalIndex>(index == 0 ? 5 : 15 + index);
}
[[nodiscard]] constexpr std::uint32_t index_of_stream(portals::PortalIndex portal) {
  return portal == 5 ? 0 : std::uint32_t{portal} - 15;
}
static_assert(collective_stream(kCollectiveStreams - 1) < portals::kPortalCount);
inline constexpr portals::PortalIndex kPutPortal = 6;
inline constexpr portals::PortalIndex kGetPortal = 7;
inline constexpr portals::PortalIndex kCancelPortal = 8;     // senders ask for unmatched messages back
inline constexpr portals::PortalIndex kCallCheckPortal = 9;  // records of collective calls, when they are checked
inline constexpr portals::PortalIndex kWindowPortal = 10;    // what windows ask members for, beside puts and gets

// Owner kinds of descriptors and transmissions, for whoever drains the kernel's lists, which is the device. It passes
// over kinds from kOwnerOthers on: their owners look at the descriptor's counters or the transmission's state.
enum OwnerKind : std::uint32_t {
  kOwnerReceive = 1,         // descriptor of a ReceiveRequest
  kOwnerHeap = 2,            // the heap of unexpected messages
  kOwnerAcknowledgment = 3,  // descriptor of a SendRequest: answers to it
  kOwnerRead = 4,            // descriptor of a SendRequest: its body
  kOwnerSend = 5,            // transmission of a SendRequest
  kOwnerNotice = 6,          // transmission of a Notice
  kOwnerCancel = 7,          // senders' questions (protocol/cancel)
  kOwnerListener = 8,        // told at once (device/listener)
  kOwnerTask = 9,            // descriptor or transmission that a Task waits for (device/task)
  kOwnerOthers = 16,
};

// The three message type bits: bits 0, 1 and 2, which the paper calls the first, second and third.
inline constexpr portals::MatchBits kReadyBit = 1;  // must find a posted receive: no catch-all takes it
inline constexpr portals::MatchBits kReplyBit = 2;  // the receiver asked for it
inline constexpr portals::MatchBits kLongBit = 4;   // unexpected: only the header is saved
inline constexpr portals::MatchBits kTypeMask = kReadyBit | kReplyBit | kLongBit;

inline constexpr unsigned kContextShift = 3;
inline constexpr unsigned kSourceShift = 16;
inline constexpr unsigned kTagShift = 32;
inline constexpr portals::MatchBits kSourceMask = portals::MatchBits{0xffff} << kSourceShift;
inline constexpr portals::MatchBits kTagMask = portals::MatchBits{0xffff'ffff} << kTagShift;
static_assert(kContextShift + kContextBits == kSourceShift);
inline constexpr portals::MatchBits kContextMask = ((portals::MatchBits{1} << kContextBits) - 1) << kContextShift;

// A program's highest tag, which MPI_TAG_UB tells. The 32 bits of the match bits hold the device's own tags too
// (mpi_adi/request/partitioned.hpp, collectives/comm/agree.hpp), each with a program's tag whole beside what
// tells them apart.
inline constexpr unsigned kUserTagBits = 29;
inline constexpr int kUserTagMax = (1 << kUserTagBits) - 1;
[[nodiscard]] constexpr bool is_user_tag(int tag) {
  return static_cast<std::uint32_t>(tag) <= static_cast<std::uint32_t>(kUserTagMax);
}

// Of the tag of a partitioned message (mpi_adi/request/partitioned.hpp): which message of its channel it is.
inline constexpr unsigned kPartitionMessageBits = 10;
inline constexpr std::uint64_t kPartitionMessagesMax = (1U << kPartitionMessageBits) - 1;
// The match bits of one side of a channel without what differs between its messages.
[[nodiscard]] constexpr std::uint64_t partitions_number(portals::MatchBits bits, bool sends) {
  constexpr portals::MatchBits kMessage = portals::MatchBits{kPartitionMessagesMax} << kTagShift;
  constexpr portals::MatchBits kSends = portals::MatchBits{1} << 63U;
  return (bits & ~(kMessage | kTypeMask | kSends)) | (sends ? kSends : 0);
}

// Requires: source_rank < 2^16, context < 2^13.
[[nodiscard]] constexpr portals::MatchBits envelope_bits(int tag, int source_rank, ContextId context,
                                                         portals::MatchBits type = 0) {
  return (portals::MatchBits{static_cast<std::uint32_t>(tag)} << kTagShift) |
         ((portals::MatchBits{static_cast<std::uint32_t>(source_rank)} << kSourceShift) & kSourceMask) |
         (portals::MatchBits{context} << kContextShift) | type;
}

[[nodiscard]] constexpr int tag_of(portals::MatchBits bits) {
  return static_cast<int>(static_cast<std::uint32_t>(bits >> kTagShift));
}
[[nodiscard]] constexpr int source_of(portals::MatchBits bits) {
  return static_cast<int>((bits & kSourceMask) >> kSourceShift);
}
[[nodiscard]] constexpr ContextId context_of(portals::MatchBits bits) {
  return static_cast<ContextId>((bits & kContextMask) >> kContextShift);
}

// What a receive accepts, from posted receives and probes alike: ready and long messages too, wildcards ignored.
[[nodiscard]] constexpr portals::Criteria receive_criteria(int source, int tag, ContextId context) {
  portals::Criteria criteria;
  criteria.ignore_bits = kReadyBit | kLongBit;
  if (source == MPI_ANY_SOURCE) criteria.ignore_bits |= kSourceMask;
  if (tag == MPI_ANY_TAG) criteria.ignore_bits |= kTagMask;
  criteria.match_bits = envelope_bits(tag, source, context) & ~criteria.ignore_bits;
  return criteria;
}

// Unique for each send request under way: where acknowledgments and gets for it go. The paper puts two addresses here;
// an index and a count of uses name the same without an address on the wire.
[[nodiscard]] constexpr portals::MatchBits answer_bits(std::uint32_t index, std::uint32_t generation) {
  return (portals::MatchBits{index} << 32) | generation;
}

// Unique for each receive that pulls its body: where the reply goes. Never equal to an envelope: those have no reply
// bit.
[[nodiscard]] constexpr portals::MatchBits reply_bits(std::uint32_t index, std::uint32_t generation) {
  return (portals::MatchBits{index} << 32) | (portals::MatchBits{generation & 0x1fff'ffffU} << kContextShift) |
         kReplyBit;
}

}  // namespace margay::mpi_adi
