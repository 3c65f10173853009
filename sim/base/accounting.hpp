// The registers of one process: counts of messages sent, delivered, and dropped by reason. The accounting law, at rest,
// for every ordered pair: sent = delivered + sum of dropped by reason.
#pragma once

#include <array>
#include <cstdint>
#include <unordered_map>

#include "portals/base/verdict.hpp"
#include "sim/base/peer_table.hpp"

namespace margay::sim {

// Messages, and bytes of their bodies.
struct WireCounts {
  // Counted since the process joined its job. The bytes of a message that is replaced before it is sent are subtracted
  // again; nothing else decreases a count.
  std::uint64_t messages = 0;
  std::uint64_t bytes = 0;
};

// Messages by DropReason. Indexed by the reason's number; the element of `none` stays 0.
using DropCounts = std::array<std::uint64_t, portals::kDropReasonCount>;

// The reasons why a process that leaves the library needs its coprocessor.
struct Unfinished {
  // Transmissions that the kernel has accepted and not yet returned as finished.
  std::uint64_t transmissions = 0;
  // Answers that the program waits for.
  std::uint64_t owed = 0;
  // Whether one of the counts is not 0.
  [[nodiscard]] bool any() const { return transmissions + owed != 0; }
};

// The counts of one process for each peer. Used under the process lock. Counts for a peer without contact are 0, and
// take no memory of their own.
class Registers {
 public:
  // For a job of `ranks` ranks; memory is allocated per peer at first use.
  explicit Registers(std::uint32_t ranks) : pairs_(ranks) {}

  // Counts a message; returns its number in its ordered pair, from 1.
  std::uint64_t count_sent(std::uint32_t destination) { return ++pairs_[destination].sent; }
  // Counts a message that was deposited, or a get that was answered.
  void count_delivered(std::uint32_t source) { ++pairs_[source].delivered; }
  // Counts for the pair and in the sum over all sources.
  void count_dropped(std::uint32_t source, portals::DropReason reason) {
    ++dropped_[source][static_cast<std::size_t>(reason)];
    ++drops_[static_cast<std::size_t>(reason)];
  }

  // Ranks of the job.
  [[nodiscard]] std::uint32_t ranks() const { return pairs_.size(); }
  // Messages handed to a wire for `destination`.
  [[nodiscard]] std::uint64_t sent(std::uint32_t destination) const { return pairs_.at(destination).sent; }
  // Messages of `source` that were deposited or answered.
  [[nodiscard]] std::uint64_t delivered(std::uint32_t source) const { return pairs_.at(source).delivered; }
  // Messages of `source` that were dropped, by reason.
  [[nodiscard]] DropCounts dropped(std::uint32_t source) const {
    const auto found = dropped_.find(source);
    return found == dropped_.end() ? DropCounts{} : found->second;
  }
  // Changed by the kernel and the device. Each departure from the library reads it, so both counts are kept up to date
  // instead of computed.
  [[nodiscard]] Unfinished& unfinished() { return unfinished_; }
  [[nodiscard]] const Unfinished& unfinished() const { return unfinished_; }
  // Drops by reason, over all sources.
  [[nodiscard]] const DropCounts& drops() const { return drops_; }

 private:
  // This process's counts with one peer, in both directions.
  struct Pair {
    std::uint64_t sent = 0;
    std::uint64_t delivered = 0;
  };
  PeerTable<Pair> pairs_;
  // By source, of sources with a dropped message.
  std::unordered_map<std::uint32_t, DropCounts> dropped_;
  // The sum of dropped_ over all sources, kept beside it, so that reading it costs no search.
  DropCounts drops_{};
  Unfinished unfinished_;
};

}  // namespace margay::sim
