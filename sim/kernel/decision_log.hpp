// A log of the kernel's decisions: for each message its walk, and its destination or the reason of its drop. A program
// enables the log by keep() and removes decisions by take(); the kernel adds decisions. While enabled it costs a linear
// walk per message.
//
// A decision contains copies, so that it can be reported after its entries are gone. Its addresses only identify
// objects and must not be dereferenced.
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

// Bytes left in `memory` for the message with `header`; nullopt for dynamic and independent blocks, whose room is not a
// single number.
[[nodiscard]] std::optional<std::uint64_t> room_left(const portals::Descriptor& memory, const portals::Options& options,
                                                     const portals::Header& header);

// One entry that the linear walk visited, and the result there.
struct Stop {
  // nullptr: the portal has a descriptor alone, without a match list.
  const portals::MatchEntry* entry = nullptr;
  portals::Passed passed = portals::Passed::no_match;
  // The entry's criteria at that moment.
  portals::Criteria criteria;
  // The link that the walk followed from the entry: the no-match link after no_match and inactive, the no-room link
  // after no_room, the too-small link after too_small. Meaningless if the walk ended at the entry.
  portals::Link link;
  portals::DescriptorType type = portals::DescriptorType::single_block;
  // room_left() at that moment.
  std::optional<std::uint64_t> room_bytes;
};

// One message's decision, with its walk. Fields as in portals::Verdict unless described here.
struct Decision {
  portals::Header header;
  // Number of the message in its ordered pair of processes.
  std::uint64_t sequence = 0;
  WireId wire = WireId::self;
  portals::Outcome outcome = portals::Outcome::drop;
  // Reason of a drop, or of holding.
  portals::DropReason reason = portals::DropReason::none;
  // The message was not dropped, but stays on its wire until there is room.
  bool held = false;
  portals::Saved saved = portals::Saved::nothing;
  bool acknowledge = false;
  // deposit, reply: type of the descriptor that took the message.
  portals::DescriptorType type = portals::DescriptorType::single_block;
  // Offset in the memory of a single or combined block.
  std::uint64_t offset = 0;
  // Bytes of the body that are deposited or replied.
  std::uint64_t bytes = 0;
  // Row of an independent block.
  std::uint32_t row = 0;
  std::vector<Stop> stops;
};

// A bounded queue of decisions, oldest first. Used under the process lock only.
class DecisionLog {
 public:
  // Enables the log, which then keeps the latest `limit` decisions that have not been taken. 0 disables and empties the
  // log, and resets missed().
  void keep(std::size_t limit);
  [[nodiscard]] bool on() const { return limit_ != 0; }
  // Excludes messages to one portal. Each call replaces the previous one.
  void leave_out(portals::PortalIndex portal) { left_out_ = portal; }
  // Whether the decision about a message with `header` is logged.
  [[nodiscard]] bool wants(const portals::Header& header) const { return on() && header.portal != left_out_; }
  // Number of decisions that take() can return.
  [[nodiscard]] std::size_t kept() const { return decisions_.size(); }
  // Removes and returns the oldest decision; nothing when there is none.
  [[nodiscard]] std::optional<Decision> take();
  // Number of decisions that were overwritten before they were taken.
  [[nodiscard]] std::uint64_t missed() const { return missed_; }

  // Called by the kernel; both require wants(header). record_walk() is called before decide() or put_whole(), while the
  // room is still free, with the steps of Delivery::explain() for `header`. record_decision() is called directly after
  // decide() or put_whole().
  void record_walk(const portals::Header& header, std::span<const portals::Step> steps);
  void record_decision(const portals::Header& header, std::uint64_t sequence, WireId wire,
                       const portals::Verdict& verdict, bool held);

 private:
  // See keep(), leave_out() and missed().
  std::size_t limit_ = 0;
  portals::PortalIndex left_out_ = portals::kNoPortal;
  std::uint64_t missed_ = 0;
  std::vector<Stop> stops_;  // of the walk that record_walk() got last
  // Oldest first; at most limit_ elements.
  std::deque<Decision> decisions_;
};

}  // namespace margay::sim
