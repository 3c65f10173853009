// What was decided about an incoming message, and why.
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

enum class Outcome : std::uint8_t {
  // Move the body to `landing`: as many bytes of it as that has, header.length, fewer where an entry truncates, none
  // when only the header is saved.
  deposit,
  reply,  // a get: send `landing` back
  drop,   // count it, nothing more
};

enum class DropReason : std::uint8_t {
  none,
  no_such_portal,
  no_match,
  no_room,
  too_small,
  read_only,
  write_only,
  offset_out_of_range,
  peer_lost,
};
inline constexpr std::size_t kDropReasonCount = 9;
static_assert(static_cast<std::size_t>(DropReason::peer_lost) + 1 == kDropReasonCount);
[[nodiscard]] std::string_view name(DropReason reason);

// Why the walk passed an entry over, or that it took it. The paper names three failures: no_match (an inactive entry is
// passed as if its criteria were not met), no_room and too_small. The other two end the walk: they are mistakes in the
// message, and no other entry could mend them.
enum class Passed : std::uint8_t {
  inactive,
  no_match,
  no_room,
  too_small,
  wrong_direction,
  offset_out_of_range,
  taken
};
[[nodiscard]] std::string_view name(Passed passed);

struct Verdict {
  Outcome outcome = Outcome::drop;
  DropReason reason = DropReason::none;
  Saved saved = Saved::nothing;  // what will have been saved: an acknowledgment says so
  bool acknowledge = false;      // the descriptor asks for it and the header names a return portal
  bool moved_offset = false;     // a receiver-managed offset moved on by landing.bytes()
  MatchEntry* entry = nullptr;   // nullptr without a match list
  Descriptor* descriptor = nullptr;
  Region landing;                     // body's place (deposit) or source (reply)
  std::uint64_t offset = 0;           // where in the descriptor, for the trace
  ArrivedMessage* message = nullptr;  // dynamic block: the queued message
  std::uint32_t row = 0;              // independent block: the buffer
  std::uint32_t visited = 0;  // entries looked at to get here (through an index: fewer than the walk would visit)
};

}  // namespace margay::portals
