// The full message header of the paper (001, section 1.2), the ids in it, and the criteria that accept it. All are
// values in memory, in the host's byte order; a wire may carry a shorter form (docs/frame_format.md).
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

namespace margay::portals {

// Ids of processes and portals, and match bits (paper 001, section 1.2). A group is a job; a rank is a process's number
// in it; a portal index selects an entry of the receiver's portal table.
using GroupId = std::uint32_t;
using Rank = std::uint32_t;
using PortalIndex = std::uint8_t;
using MatchBits = std::uint64_t;

// "Each application is allotted a finite number of portals in a portal table."
inline constexpr PortalIndex kPortalCount = 64;
// The return portal of a message that requests no answer.
inline constexpr PortalIndex kNoPortal = 0xff;
static_assert(kNoPortal >= kPortalCount);

// Wildcards of criteria. They are values that no process has.
inline constexpr GroupId kAnyGroup = 0xffff'ffff;
inline constexpr Rank kAnyRank = 0xffff'ffff;

// A process: its group (one job's processes) and its rank there. Ordered by group first, then by rank.
struct ProcessId {
  GroupId group = 0;
  Rank rank = 0;
  friend auto operator<=>(const ProcessId&, const ProcessId&) = default;
};

// The four kinds of messages. A put carries a body to the receiver; a get requests bytes of the receiver's memory,
// which a reply carries back; an acknowledgment reports that a put or a reply was saved. Values appear in frames and
// traces.
enum class Kind : std::uint8_t { put = 0, get = 1, reply = 2, acknowledgment = 3 };
// The length of arrays that are indexed by Kind.
inline constexpr std::uint8_t kKindCount = 4;
static_assert(static_cast<std::uint8_t>(Kind::acknowledgment) + 1 == kKindCount);
// "put", "get", "reply" or "acknowledgment"; never fails, also for a value that is none of them.
[[nodiscard]] std::string_view name(Kind kind);

// The parts of a message that a deposit saved, as bits. An acknowledgment carries them in the first byte of its user
// data.
enum class Saved : std::uint8_t { nothing = 0, header = 1, body = 2, both = 3 };
// "nothing", "header", "body" or "header and body". "unknown" for any other value.
[[nodiscard]] std::string_view name(Saved saved);

// The length of the user data in the header of a put or a get. The kernel carries user data and does not interpret
// them.
inline constexpr std::size_t kUserDataBytes = 12;
using UserData = std::array<std::byte, kUserDataBytes>;

// One message's header, whatever its kind.
struct Header {
  Kind kind = Kind::put;
  // The destination's portal to which the message is addressed.
  PortalIndex portal = 0;
  // The source's portal to which the acknowledgment or the reply is sent; kNoPortal: the message requests no answer.
  PortalIndex return_portal = kNoPortal;
  // Put and get: the sender's own bytes. Acknowledgment and reply: a copy of the answered message's bytes, except that
  // bytes 4 to 11 hold that message's number, and byte 0 of an acknowledgment holds `Saved`.
  UserData user_data{};
  // The sender, and the receiver. A wire may derive both from its channel instead of carrying them.
  ProcessId source;
  ProcessId destination;
  // Compared with an entry's criteria; ignored by a portal that has a descriptor and no match list.
  MatchBits match_bits = 0;
  // Bytes of the body that follows; 0 for a get and an acknowledgment.
  std::uint64_t length = 0;
  // The place of the body, in bytes from the beginning of the descriptor's memory, if the entry has a sender-managed
  // offset; otherwise not used.
  std::uint64_t offset = 0;
  // Match bits of the answer. The target copies them into the answer's match_bits; it does not interpret them.
  MatchBits return_match_bits = 0;
  // Get: bytes wanted. Acknowledgment: bytes saved.
  std::uint64_t return_length = 0;
  // Offset of the answer, copied into it by the target.
  std::uint64_t return_offset = 0;
  friend bool operator==(const Header&, const Header&) = default;
};
// Copied by words into descriptors, heaps and frames.
static_assert(std::is_trivially_copyable_v<Header> && std::is_standard_layout_v<Header>);

// The criteria of a match entry or of a heap search: 64 match bits, 64 ignore bits, source group and source rank. The
// default accepts match bits 0 of every source.
struct Criteria {
  MatchBits match_bits = 0;
  // "The ignore bits can be used to mask off insignificant match bits": a bit that is set here is not compared.
  MatchBits ignore_bits = 0;
  // The senders that are accepted; the wildcards accept every group, and every rank.
  GroupId source_group = kAnyGroup;
  Rank source_rank = kAnyRank;

  // Bit operations first, then the two wildcards, because the walk calls this at each entry.
  [[nodiscard]] bool accepts(const Header& header) const {
    return ((header.match_bits ^ match_bits) & ~ignore_bits) == 0 &&
           (source_group == kAnyGroup || source_group == header.source.group) &&
           (source_rank == kAnyRank || source_rank == header.source.rank);
  }
};

}  // namespace margay::portals
