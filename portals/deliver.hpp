// The walk and the deposit. decide() finds where an incoming message goes and reserves the room; the kernel then moves
// the body there, in one step or in many; complete() makes the arrival visible. Between the two, other messages may be
// decided. Pure: what to send back is told in the verdict, not done here.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "portals/memory/dynamic_block.hpp"
#include "portals/memory/region.hpp"
#include "portals/portal_table.hpp"

namespace margay::portals {

enum class Outcome : std::uint8_t {
  deposit,  // move the body to `landing` (its length is header.length, or 0 when only the header is saved)
  reply,    // a get: send `landing` back
  drop,     // count it, nothing more
};

enum class DropReason : std::uint8_t {
  none, no_such_process, no_such_portal, no_match, no_room, too_small, read_only, write_only, offset_out_of_range,
  not_authenticated, malformed, peer_lost,
};
inline constexpr std::size_t kDropReasonCount = 12;
[[nodiscard]] std::string_view name(DropReason reason);

// Why the walk passed an entry over, or that it took it.
enum class Passed : std::uint8_t { inactive, no_match, no_room, too_small, wrong_direction, offset_out_of_range, taken };
[[nodiscard]] std::string_view name(Passed passed);
struct Step {
  const MatchEntry* entry;  // nullptr: the portal's own descriptor, without a match list
  Passed passed;
};

struct Verdict {
  Outcome outcome = Outcome::drop;
  DropReason reason = DropReason::none;
  Saved saved = Saved::nothing;     // what will have been saved: an acknowledgment says so
  bool acknowledge = false;         // the descriptor asks for it and the header names a return portal
  MatchEntry* entry = nullptr;      // nullptr without a match list
  Descriptor* descriptor = nullptr;
  Region landing;                   // body's place (deposit) or source (reply)
  std::uint64_t offset = 0;         // where in the descriptor, for the trace
  ArrivedMessage* message = nullptr;  // dynamic block: the queued message
  std::uint32_t row = 0;              // independent block: the buffer
};

class Delivery {
 public:
  // `table`, `changed` outlive the delivery.
  Delivery(PortalTable& table, ChangedList& changed) : table_(table), changed_(changed) {}

  // Finds the place through the index and reserves it. Puts, replies and acknowledgments deposit; gets reply.
  // `no_room` or `too_small` verdicts changed nothing, so the same header may be decided again later.
  [[nodiscard]] Verdict decide(const Header& header);
  // The body is there (or the reply is on its way): counters, saved header, changed list.
  void complete(const Verdict& verdict, const Header& header);
  // The body will not come (its sender is lost): gives the room back.
  void abandon(const Verdict& verdict);
  // The linear walk itself, changing nothing: every entry that the paper's kernel would visit for `header`, in order, and
  // why it went on. The last step's entry is decide()'s. Appends to `steps`.
  Outcome explain(const Header& header, std::vector<Step>& steps) const;

 private:
  PortalTable& table_;
  ChangedList& changed_;
};

}  // namespace margay::portals
