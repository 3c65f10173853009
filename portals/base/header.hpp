// The full message header of the paper (001, section 1.2), the ids in it, and the criteria that accept it. A wire may
// carry a shorter form (docs/frame_format.md).
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

namespace margay::portals {

// Ids of processes and portals, and match bits (paper 001, section 1.2).
using GroupId = std::uint32_t;
using Rank = std::uint32_t;
using PortalIndex = std::uint8_t;
using MatchBits = std::uint64_t;

// "Each application is allotted a finite number of portals in a portal table."
inline constexpr PortalIndex kPortalCount = 64;
// As a header's return portal: no answer is wanted.
inline constexpr PortalIndex kNoPortal = 0xff;
static_assert(kNoPortal >= kPortalCount);

inline constexpr GroupId kAnyGroup = 0xffff'ffff;
inline constexpr Rank kAnyRank = 0xffff'ffff;

// A process: its group (one job's processes) and its rank there.
struct ProcessId {
  GroupId group = 0;
  Rank rank = 0;
  friend auto operator<=>(const ProcessId&, const ProcessId&) = default;
};

enum class Kind : std::uint8_t { put = 0, get = 1, reply = 2, acknowledgment = 3 };
inline constexpr std::uint8_t kKindCount = 4;
static_assert(static_cast<std::uint8_t>(Kind::acknowledgment) + 1 == kKindCount);
[[nodiscard]] std::string_view name(Kind kind);

// What a deposit saved; an acknowledgment carries it in the first byte of its user data.
enum class Saved : std::uint8_t { nothing = 0, header = 1, body = 2, both = 3 };
[[nodiscard]] std::string_view name(Saved saved);

inline constexpr std::size_t kUserDataBytes = 12;
using UserData = std::array<std::byte, kUserDataBytes>;

struct Header {
  Kind kind = Kind::put;
  PortalIndex portal = 0;                 // destination portal
  PortalIndex return_portal = kNoPortal;  // where the acknowledgment or the reply goes
  UserData user_data{};                   // of a put or get the sender's own; of an answer what was saved, and of which
  ProcessId source;
  ProcessId destination;
  MatchBits match_bits = 0;
  std::uint64_t length = 0;  // bytes of the body that follows; 0 for a get and an acknowledgment
  std::uint64_t offset = 0;  // bytes into a sender-managed descriptor
  MatchBits return_match_bits = 0;
  std::uint64_t return_length = 0;  // get: bytes wanted; acknowledgment: bytes saved
  std::uint64_t return_offset = 0;  // offset that the answer will carry
  friend bool operator==(const Header&, const Header&) = default;
};
// Copied by words into descriptors, heaps and frames.
static_assert(std::is_trivially_copyable_v<Header> && std::is_standard_layout_v<Header>);

// The criteria of a match entry or of a heap search: 64 match bits, 64 ignore bits, source group and rank.
struct Criteria {
  MatchBits match_bits = 0;
  MatchBits ignore_bits = 0;  // "The ignore bits can be used to mask off insignificant match bits."
  GroupId source_group = kAnyGroup;
  Rank source_rank = kAnyRank;

  [[nodiscard]] bool accepts(const Header& header) const {
    return ((header.match_bits ^ match_bits) & ~ignore_bits) == 0 &&
           (source_group == kAnyGroup || source_group == header.source.group) &&
           (source_rank == kAnyRank || source_rank == header.source.rank);
  }
};

}  // namespace margay::portals
