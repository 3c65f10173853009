// The sending side of the kernel: from a header and a body to a wire.
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

class Initiator {
 public:
  // All references outlive it.
  Initiator(portals::ProcessId me, const Routes& routes, TransmissionList& finished, Registers& registers,
            Recorder& recorder);
  Initiator(const Initiator&) = delete;
  Initiator& operator=(const Initiator&) = delete;

  // From now on what each wire (WireId) takes is counted there, where others may look on. Requires: nothing was counted
  // yet; `counts` has one for each wire in use, and outlives this.
  void count_wires_in(std::span<WireCounts> counts) {
    MARGAY_ASSERT(counts_ == own_counts_.data() && registers_.unfinished().transmissions == 0);
    MARGAY_ASSERT(std::ranges::all_of(
        routes_.wires(), [&](const Wire* wire) { return static_cast<std::size_t>(wire->id()) < counts.size(); }));
    counts_ = counts.data();
  }

  // See Kernel.
  [[nodiscard]] bool try_send(const portals::Header& header, const portals::Region& body);
  void send(Transmission& transmission);
  void stop(Transmission& transmission);
  [[nodiscard]] bool replace(Transmission& transmission, Transmission& instead);

  // See Wire, of the one that reaches `peer`.
  [[nodiscard]] TraceBody body_taken(std::uint32_t peer) const { return routes_[peer]->body_taken(); }

  // The number that the next message to `peer` will have in its ordered pair.
  [[nodiscard]] std::uint64_t next_sequence(std::uint32_t peer) const { return registers_.sent(peer) + 1; }
  void gave_back() {
    MARGAY_ASSERT(registers_.unfinished().transmissions != 0);
    --registers_.unfinished().transmissions;
  }
  void mark_gone(std::uint32_t rank, std::string_view reason, bool had_left) {
    gone_.insert_or_assign(rank, Gone{std::string(reason.empty() ? "lost" : reason), had_left});
  }
  // How many ranks are gone: no message comes from them or reaches them any more. Lost: without having left in order,
  // so that a receive from any source may have waited for them.
  [[nodiscard]] std::uint32_t losses() const { return static_cast<std::uint32_t>(gone_.size()); }
  [[nodiscard]] bool gone(std::uint32_t rank) const { return !gone_.empty() && gone_.contains(rank); }
  [[nodiscard]] bool lost(std::uint32_t rank) const { return gone(rank) && !gone_.at(rank).had_left; }
  // Why, as a sentence's end; empty for a rank that is not gone.
  [[nodiscard]] std::string loss(std::uint32_t rank) const { return gone(rank) ? gone_.at(rank).why : std::string(); }
  // Messages and bytes handed to a wire.
  [[nodiscard]] const WireCounts& counts(portals::Kind kind) const { return kinds_[static_cast<std::size_t>(kind)]; }
  [[nodiscard]] const WireCounts& counts(WireId id) const { return counts_[static_cast<std::size_t>(id)]; }

 private:
  // `way`: of the body, where that is known (TraceEvent::reason).
  void count(const portals::Header& header, WireId wire, std::uint8_t way, std::uint64_t stamp);
  [[gnu::noinline]] void tell_sent(const portals::Header& header, WireId wire, std::uint8_t way, std::uint64_t sequence,
                                   std::uint64_t stamp);

  portals::ProcessId me_;
  const Routes& routes_;
  TransmissionList& finished_;
  Registers& registers_;
  Recorder& recorder_;
  struct Gone {
    std::string why;
    bool had_left = false;  // in order, before
  };
  std::unordered_map<std::uint32_t, Gone> gone_;  // by rank
  std::array<WireCounts, kWireCount> own_counts_{};
  WireCounts* counts_ = own_counts_.data();  // by wire
  std::array<WireCounts, portals::kKindCount> kinds_{};
};

}  // namespace margay::sim
