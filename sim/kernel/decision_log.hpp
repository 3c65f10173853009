// What the kernel decided about each message and why, kept for a program that asks. Off until keep(); it costs a walk
// per message then. The kernel writes, the program takes: down by call, up by poll.
//
// Everything is copied, so that a decision can be told after its entries are gone; addresses in it are identities only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <vector>

#include "portals/deliver.hpp"
#include "sim/wire/wire.hpp"

namespace margay::sim {

// Bytes that are left in `memory` for the message; nothing where no one number says it (dynamic and independent
// blocks).
[[nodiscard]] std::optional<std::uint64_t> room_left(const portals::Descriptor& memory, const portals::Options& options,
                                                     const portals::Header& header);

// One stop of the linear walk.
struct Stop {
  const portals::MatchEntry* entry = nullptr;  // nullptr: the portal's own descriptor, without a match list
  portals::Passed passed = portals::Passed::no_match;
  portals::Criteria criteria;  // of the entry
  portals::Link link;          // of the entry: where the walk went on after inactive, no_match, no_room, too_small
  portals::DescriptorType type = portals::DescriptorType::single_block;
  std::optional<std::uint64_t> room_bytes;  // room_left()
};

struct Decision {
  portals::Header header;
  std::uint64_t sequence = 0;  // of the message in its ordered pair of processes
  WireId wire = WireId::self;
  portals::Outcome outcome = portals::Outcome::drop;
  portals::DropReason reason = portals::DropReason::none;  // of a drop, or of holding
  bool held = false;                                       // not dropped: left on the wire until there is room
  portals::Saved saved = portals::Saved::nothing;
  bool acknowledge = false;
  portals::DescriptorType type =
      portals::DescriptorType::single_block;  // deposit, reply: of the descriptor that took it
  std::uint64_t offset = 0;                   // where in it: single and combined blocks
  std::uint64_t bytes = 0;                    // of the body, deposited or replied
  std::uint32_t row = 0;                      // independent block: the buffer
  std::vector<Stop> stops;
};

class DecisionLog {
 public:
  // Keeps the latest `limit` decisions that were not taken yet; 0 switches off and forgets.
  void keep(std::size_t limit);
  [[nodiscard]] bool on() const { return limit_ != 0; }
  // Messages to this portal are not worth keeping.
  void leave_out(portals::PortalIndex portal) { left_out_ = portal; }
  [[nodiscard]] bool wants(const portals::Header& header) const { return on() && header.portal != left_out_; }
  [[nodiscard]] std::size_t kept() const { return decisions_.size(); }
  // The oldest decision, taken off; nothing when there is none.
  [[nodiscard]] std::optional<Decision> take();
  // Decisions that were overwritten before they were taken.
  [[nodiscard]] std::uint64_t missed() const { return missed_; }

  // The kernel's side. walked(): before decide() takes the room, with the steps of Delivery::explain() for `header`.
  // decided(): right after it. Requires: wants().
  void walked(const portals::Header& header, std::span<const portals::Step> steps);
  void decided(const portals::Header& header, std::uint64_t sequence, WireId wire, const portals::Verdict& verdict,
               bool held);

 private:
  std::size_t limit_ = 0;
  portals::PortalIndex left_out_ = portals::kNoPortal;
  std::uint64_t missed_ = 0;
  std::vector<Stop> stops_;  // of the walk under way
  std::deque<Decision> decisions_;
};

}  // namespace margay::sim
