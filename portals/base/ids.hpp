// Names of things: processes, portals, match bits (paper 001, section 1.2).
#pragma once

#include <compare>
#include <cstdint>

namespace margay::portals {

using GroupId = std::uint32_t;
using Rank = std::uint32_t;
using PortalIndex = std::uint8_t;
using MatchBits = std::uint64_t;

// "Each application is allotted a finite number of portals in a portal table."
inline constexpr PortalIndex kPortalCount = 64;
// The return portal of a message that wants no answer.
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

}  // namespace margay::portals
