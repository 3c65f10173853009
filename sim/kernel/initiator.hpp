// The sending side of the kernel: it hands a header and a body to the wire that reaches the peer, counts them, and
// records the peers that are unreachable.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>

#include "portals/base/assert.hpp"
#include "sim/base/accounting.hpp"
#include "sim/kernel/routes.hpp"
#include "sim/trace/recorder.hpp"
#include "sim/wire/wire.hpp"

namespace margay::sim {

// The sending side of one process's kernel, which owns it. Used under the process lock only. Other processes may read
// the counters that count_wires_in() places in shared memory.
class Initiator {
 public:
  // `me` goes into the header of every transmission; `finished` is the list to which the wires add finished
  // transmissions. All references outlive the initiator.
  Initiator(portals::ProcessId me, const Routes& routes, TransmissionList& finished, Registers& registers,
            Recorder& recorder);
  Initiator(const Initiator&) = delete;
  Initiator& operator=(const Initiator&) = delete;

  // Places the counters of messages and bytes per wire (WireId) in `counts`, where other processes may read them.
  // Requires: nothing has been counted yet; `counts` has an element for each wire in use, and outlives the initiator.
  void count_wires_in(std::span<WireCounts> counts) {
    MARGAY_ASSERT(counts_ == own_counts_.data() && registers_.unfinished().transmissions == 0);
    MARGAY_ASSERT(std::ranges::all_of(
        routes_.wires(), [&](const Wire* wire) { return static_cast<std::size_t>(wire->id()) < counts.size(); }));
    counts_ = counts.data();
  }

  // As the functions of class Kernel with the same names. A message is counted when it is handed to its wire. A message
  // to a peer that is unreachable is not counted. Requires: the way is open.
  [[nodiscard]] bool try_send(const portals::Header& header, const portals::Region& body, WayCode way = kUsualWay);
  void send(Transmission& transmission);
  // No effect on a transmission that is not queued.
  void stop(Transmission& transmission);
  [[nodiscard]] bool replace(Transmission& transmission, Transmission& instead);

  // Wire::body_taken() of the wire that reaches `peer`.
  [[nodiscard]] TraceBody body_taken(std::uint32_t peer, WayCode way = kUsualWay) const {
    return routes_.by(peer, way)->body_taken();
  }

  // The number of the next message to `peer` in its ordered pair.
  [[nodiscard]] std::uint64_t next_sequence(std::uint32_t peer, WayCode way = kUsualWay) const {
    return registers_.next(peer, way);
  }
  // Records that a transmission has been returned to its owner.
  void gave_back() {
    MARGAY_ASSERT(registers_.unfinished().transmissions != 0);
    --registers_.unfinished().transmissions;
  }
  // Marks a peer as unreachable, for `reason`. `had_left`: the peer had sent a goodbye, so its end is regular. Later
  // sends to the peer fail.
  void mark_unreachable(std::uint32_t rank, std::string_view reason, bool had_left) {
    Loss loss{std::string(reason.empty() ? "lost" : reason), had_left};
    if (unreachable_.insert_or_assign(rank, std::move(loss)).second) ++losses_;
  }
  // Another process is at `rank` now.
  void forget_loss(std::uint32_t rank) { unreachable_.erase(rank); }
  // Unreachable ranks: no message reaches them, and none arrives from them. losses(): how many became so. is_lost():
  // whether `rank` is unreachable without a goodbye. In that case a receive from any source may be waiting for a
  // message that will not arrive.
  [[nodiscard]] std::uint32_t losses() const { return losses_; }
  [[nodiscard]] bool is_unreachable(std::uint32_t rank) const {
    return !unreachable_.empty() && unreachable_.contains(rank);
  }
  [[nodiscard]] bool is_lost(std::uint32_t rank) const {
    return is_unreachable(rank) && !unreachable_.at(rank).had_left;
  }
  // The reason of mark_unreachable(), as the end of a sentence; empty for a rank that is reachable.
  [[nodiscard]] std::string loss(std::uint32_t rank) const {
    return is_unreachable(rank) ? unreachable_.at(rank).why : std::string();
  }
  // The end of a further way: later sends by it fail, while the peer may still be reachable by its usual way.
  void mark_way_lost(std::uint32_t rank, WayCode way, std::string_view reason) {
    lost_ways_.insert_or_assign(message_number(way, rank), reason.empty() ? "lost" : reason);
  }
  // Whether no message reaches `rank` by this way any more. A rank that is unreachable has lost all ways.
  [[nodiscard]] bool is_way_lost(std::uint32_t rank, WayCode way) const {
    return is_unreachable(rank) || (!lost_ways_.empty() && lost_ways_.contains(message_number(way, rank)));
  }
  // The reason, as the end of a sentence; empty for a way that is not lost.
  [[nodiscard]] std::string way_loss(std::uint32_t rank, WayCode way) const {
    const auto found = lost_ways_.find(message_number(way, rank));
    return found != lost_ways_.end() ? found->second : loss(rank);
  }
  // Messages and bytes handed to wires, by kind of message or by wire.
  [[nodiscard]] const WireCounts& counts(portals::Kind kind) const { return kinds_[static_cast<std::size_t>(kind)]; }
  [[nodiscard]] const WireCounts& counts(WireId id) const { return counts_[static_cast<std::size_t>(id)]; }

 private:
  // Counts a message that is handed to a wire, and records its departure while tracing. `method`: the method that
  // carried the body, as TraceEvent::reason has it, if the method is known. `stamp`: time of the departure.
  void count(const portals::Header& header, const Wire& wire, WayCode way, std::uint8_t method, std::uint64_t stamp);
  // Records a message's departure in the trace.
  [[gnu::noinline]] void record_sent(const portals::Header& header, WireId wire, std::uint8_t method,
                                     std::uint64_t sequence, std::uint64_t stamp);

  // Constant after construction.
  portals::ProcessId me_;
  const Routes& routes_;
  TransmissionList& finished_;
  // The kernel's registers, shared with Target.
  Registers& registers_;
  Recorder& recorder_;
  // The end of a peer: its reason, and whether the peer had sent a goodbye.
  struct Loss {
    // The reason, as the end of a sentence, for example "connection reset".
    std::string why;
    bool had_left = false;
  };
  // By rank. Empty in a job without losses, so is_unreachable() costs one test.
  std::unordered_map<std::uint32_t, Loss> unreachable_;
  std::uint32_t losses_ = 0;
  // By way and rank.
  std::unordered_map<std::uint64_t, std::string> lost_ways_;
  // The memory of the counters until count_wires_in().
  std::array<WireCounts, kWireCount> own_counts_{};
  // By wire; own_counts_ until count_wires_in().
  WireCounts* counts_ = own_counts_.data();
  // By kind of message.
  std::array<WireCounts, portals::kKindCount> kinds_{};
};

}  // namespace margay::sim
