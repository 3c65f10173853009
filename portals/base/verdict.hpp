// The decision about an incoming message: the place of its body, the bytes to send back, or the reason of its drop.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "portals/base/header.hpp"
#include "portals/base/region.hpp"

namespace margay::portals {

class MatchEntry;
class Descriptor;
struct ArrivedMessage;

// The kernel's next step after a decision.
enum class Outcome : std::uint8_t {
  // Move the body to `landing`: header.length bytes; fewer where an entry truncates, and none when only the header is
  // saved.
  deposit,
  // A get: send the bytes of `landing` back.
  reply,
  // Discard the message and count the reason.
  drop,
};

// The reason of a drop. Values appear in traces and in the job board's counters. If no entry takes the message, the
// reason is the first of these that applies: the sender's mistake that ended the walk; the last no_room or too_small on
// the walk; no_match. `no_such_portal` is decided without a walk, and `peer_lost` after one.
enum class DropReason : std::uint8_t {
  // Not dropped.
  none,
  // The header's portal is past the table, or nothing is attached to it.
  no_such_portal,
  // No entry that the walk visited was active and accepted the header.
  no_match,
  // A block was full, a table had no available row, or a heap had no free block that was long enough.
  no_room,
  // A block or a row had room, but less than the message needs.
  too_small,
  // Mistakes of the sender. read_only: a put, reply or acknowledgment to memory that serves gets only.
  read_only,
  // A get from memory that is written only.
  write_only,
  // An offset past the end of the memory.
  offset_out_of_range,
  // The message was taken, but before its whole body arrived its sender was lost, or stopped sending it.
  peer_lost,
};
inline constexpr std::size_t kDropReasonCount = 9;
static_assert(static_cast<std::size_t>(DropReason::peer_lost) + 1 == kDropReasonCount);
// "no match" and the like, for reports; never fails.
[[nodiscard]] std::string_view name(DropReason reason);

// The result at one entry of a walk. The paper names three failures: no_match (an inactive entry is treated as if its
// criteria were not met), no_room and too_small. Each has a link of its own. wrong_direction and offset_out_of_range
// end the walk, because they are mistakes of the sender, which no other entry could correct.
enum class Passed : std::uint8_t {
  // The entry is switched off; the walk follows its no-match link.
  inactive,
  no_match,
  no_room,
  too_small,
  // A put, reply or acknowledgment to memory that is only read, or a get from memory that is only written.
  wrong_direction,
  offset_out_of_range,
  // The last stop: the message's destination.
  taken
};
// "taken", "no match" and the like.
[[nodiscard]] std::string_view name(Passed passed);

// The result of Delivery::decide(), and the argument of complete() and abandon(). It points into the entry, the
// descriptor and the heap, which must live until complete() or abandon() has been called. 96 bytes, on the kernel's
// stack, or in its pool while a body arrives in parts.
struct Verdict {
  Outcome outcome = Outcome::drop;
  DropReason reason = DropReason::none;
  // Parts that are saved once the body has arrived; an acknowledgment carries them.
  Saved saved = Saved::nothing;
  // Whether to send an acknowledgment: the options request it, the header names a return portal, and the message is a
  // put or a reply.
  bool acknowledge = false;
  // Whether the reservation advanced a receiver-managed offset, by landing.bytes().
  bool moved_offset = false;
  // The entry that took the message; nullptr for a portal without a match list.
  MatchEntry* entry = nullptr;
  // Never nullptr unless the outcome is `drop`.
  Descriptor* descriptor = nullptr;
  // Destination of the body (deposit) or source of the reply.
  Region landing;
  // Offset of `landing` in the descriptor's memory. abandon() resets a receiver-managed offset to it, unless a later
  // message has advanced that offset. Traces show it.
  std::uint64_t offset = 0;
  // Dynamic block: the queued message.
  ArrivedMessage* message = nullptr;
  // Independent block: the row that is filled.
  std::uint32_t row = 0;
  // Entries examined; through an index possibly fewer than the linear walk would visit.
  std::uint32_t visited = 0;
};

}  // namespace margay::portals
