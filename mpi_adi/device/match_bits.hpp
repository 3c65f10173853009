// The match bits and owner kinds of MPI's messages (paper 001, section 2): 32 bits for message tag, 16 bits
// for local source rank, 13 bits for context identifier, 3 bits for message type. Pure arithmetic.
//
//   63            32 31          16 15           3 2      1       0
//  |      tag       | source rank  |  context     | long | reply | ready |
#pragma once

#include <cstdint>

#include "mpi_adi/abi/mpi.h"
#include "mpi_adi/device/portal_numbers.hpp"
#include "mpi_adi/object/communicator.hpp"
#include "portals/base/header.hpp"

namespace margay::mpi_adi {

// The owner kinds of descriptors and transmissions. An owner kind is the type of the object to which an owner tag
// points; the device reads it when it drains the kernel's lists. The device ignores kinds from kOwnerOthers on: their
// owners test the descriptor's counters or the transmission's state themselves.
enum OwnerKind : std::uint32_t {
  kOwnerNone = 0,            // no owner tag: memory of a communication library (libraries/host)
  kOwnerReceive = 1,         // descriptor of a ReceiveRequest
  kOwnerHeap = 2,            // the heap of unexpected messages
  kOwnerAcknowledgment = 3,  // descriptor of a SendRequest: answers to it
  kOwnerRead = 4,            // descriptor of a SendRequest: its body
  kOwnerSend = 5,            // transmission of a SendRequest
  kOwnerHeaderMessage = 6,   // transmission of a HeaderMessage
  kOwnerCancel = 7,          // senders' questions (protocol/cancel)
  kOwnerListener = 8,        // notified at once (device/listener)
  kOwnerTask = 9,            // descriptor or transmission that a Task waits for (device/task)
  kOwnerOthers = 16,
};

// The three message type bits: bits 0, 1 and 2, which the paper calls the first, second and third.
inline constexpr portals::MatchBits kReadyBit = 1;  // needs a posted receive: no catch-all accepts the message
inline constexpr portals::MatchBits kReplyBit = 2;  // the message answers a receiver's get
inline constexpr portals::MatchBits kLongBit = 4;   // a long body: if unexpected, only its header is saved
// All three type bits.
inline constexpr portals::MatchBits kTypeMask = kReadyBit | kReplyBit | kLongBit;

// The positions and masks of the fields in the drawing above.
inline constexpr unsigned kContextShift = 3;
inline constexpr unsigned kSourceShift = 16;
inline constexpr unsigned kTagShift = 32;
inline constexpr portals::MatchBits kSourceMask = portals::MatchBits{0xffff} << kSourceShift;
inline constexpr portals::MatchBits kTagMask = portals::MatchBits{0xffff'ffff} << kTagShift;
static_assert(kContextShift + kContextBits == kSourceShift);
inline constexpr portals::MatchBits kContextMask = ((portals::MatchBits{1} << kContextBits) - 1) << kContextShift;

// The highest tag of a program (MPI_TAG_UB). It uses 29 of the 32 bits that the match bits have for the tag. The other
// three are for the library's own tags (mpi_adi/request/partitioned.hpp, collectives/comm/agree.hpp), which may contain
// a whole tag of the program.
inline constexpr unsigned kUserTagBits = 29;
inline constexpr int kUserTagMax = (1 << kUserTagBits) - 1;
// Negative tags are invalid too: as unsigned numbers they exceed the maximum.
[[nodiscard]] constexpr bool is_user_tag(int tag) {
  return static_cast<std::uint32_t>(tag) <= static_cast<std::uint32_t>(kUserTagMax);
}

// Bits in the tag of a partitioned message (mpi_adi/request/partitioned.hpp) that number the message in its channel.
inline constexpr unsigned kPartitionMessageBits = 10;
inline constexpr std::uint64_t kPartitionMessagesMax = (1U << kPartitionMessageBits) - 1;
// The number of one side of a partitioned channel in a trace: the match bits of the channel's messages, without the
// bits in which these messages differ. The highest bit is set for the sender's side.
[[nodiscard]] constexpr std::uint64_t partitions_number(portals::MatchBits bits, bool sends) {
  constexpr portals::MatchBits kMessage = portals::MatchBits{kPartitionMessagesMax} << kTagShift;
  constexpr portals::MatchBits kSends = portals::MatchBits{1} << 63U;
  return (bits & ~(kMessage | kTypeMask | kSends)) | (sends ? kSends : 0);
}

// The match bits of a message. Requires: source_rank < 2^16, context < 2^13.
// A tag of the library may be negative; its bits are stored as they are.
[[nodiscard]] constexpr portals::MatchBits envelope_bits(int tag, int source_rank, ContextId context,
                                                         portals::MatchBits type = 0) {
  return (portals::MatchBits{static_cast<std::uint32_t>(tag)} << kTagShift) |
         ((portals::MatchBits{static_cast<std::uint32_t>(source_rank)} << kSourceShift) & kSourceMask) |
         (portals::MatchBits{context} << kContextShift) | type;
}

// The parts of an envelope's match bits.
[[nodiscard]] constexpr int tag_of(portals::MatchBits bits) {
  return static_cast<int>(static_cast<std::uint32_t>(bits >> kTagShift));
}
// The rank in the sender's group, not the world rank.
[[nodiscard]] constexpr int source_of(portals::MatchBits bits) {
  return static_cast<int>((bits & kSourceMask) >> kSourceShift);
}
[[nodiscard]] constexpr ContextId context_of(portals::MatchBits bits) {
  return static_cast<ContextId>((bits & kContextMask) >> kContextShift);
}

// The criteria of a receive or a probe. They accept ready and long messages as well as plain ones, but no reply. A
// wildcard becomes a set of ignored bits.
[[nodiscard]] constexpr portals::Criteria receive_criteria(int source, int tag, ContextId context) {
  portals::Criteria criteria;
  criteria.ignore_bits = kReadyBit | kLongBit;
  if (source == MPI_ANY_SOURCE) criteria.ignore_bits |= kSourceMask;
  if (tag == MPI_ANY_TAG) criteria.ignore_bits |= kTagMask;
  criteria.match_bits = envelope_bits(tag, source, context) & ~criteria.ignore_bits;
  return criteria;
}

// The match bits that name a send under way, for its acknowledgments and the gets of its body. The paper puts two
// addresses here; an index and a count of uses identify the send without an address on the wire, and a late answer to
// an earlier use matches nothing.
[[nodiscard]] constexpr portals::MatchBits answer_bits(std::uint32_t index, std::uint32_t generation) {
  return (portals::MatchBits{index} << 32) | generation;
}

// The match bits of the reply to a receive that pulls its body. They never equal an envelope's match bits, because an
// envelope has no reply bit. The generation loses its three highest bits to make room for the type bits.
[[nodiscard]] constexpr portals::MatchBits reply_bits(std::uint32_t index, std::uint32_t generation) {
  return (portals::MatchBits{index} << 32) | (portals::MatchBits{generation & 0x1fff'ffffU} << kContextShift) |
         kReplyBit;
}

}  // namespace margay::mpi_adi
