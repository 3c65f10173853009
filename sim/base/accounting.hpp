// The registers of one process: what it sent, what arrived, what was dropped and why. The accounting law, at rest, for
// every ordered pair: sent = delivered + sum of dropped by reason.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "portals/deliver.hpp"

namespace margay::sim {

using DropCounts = std::array<std::uint64_t, portals::kDropReasonCount>;

class Registers {
 public:
  explicit Registers(std::uint32_t ranks) : sent_(ranks), delivered_(ranks), dropped_(ranks) {}

  // The number of this message in its ordered pair, from 1.
  std::uint64_t count_sent(std::uint32_t destination) { return ++sent_[destination]; }
  void count_delivered(std::uint32_t source) { ++delivered_[source]; }
  void count_dropped(std::uint32_t source, portals::DropReason reason) {
    ++dropped_[source][static_cast<std::size_t>(reason)];
    ++drops_[static_cast<std::size_t>(reason)];
  }

  [[nodiscard]] std::uint32_t ranks() const { return static_cast<std::uint32_t>(sent_.size()); }
  [[nodiscard]] std::uint64_t sent(std::uint32_t destination) const { return sent_[destination]; }
  [[nodiscard]] std::uint64_t delivered(std::uint32_t source) const { return delivered_[source]; }
  [[nodiscard]] const DropCounts& dropped(std::uint32_t source) const { return dropped_[source]; }
  // The status registers: drops by reason, over all sources.
  [[nodiscard]] const DropCounts& drops() const { return drops_; }

 private:
  std::vector<std::uint64_t> sent_;
  std::vector<std::uint64_t> delivered_;
  std::vector<DropCounts> dropped_;
  DropCounts drops_{};
};

}  // namespace margay::sim
