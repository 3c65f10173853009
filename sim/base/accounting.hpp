// The registers of one process: counts of messages sent, delivered, and dropped by reason. The accounting law, at rest,
// for every ordered pair and each way between its ranks: sent = delivered + sum of dropped by reason.
#pragma once

#include <array>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "portals/base/verdict.hpp"
#include "sim/base/message_number.hpp"
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

// The counts of one process for each peer and way. Used under the process lock. Counts for a peer without contact are
// 0, and take no memory of their own.
class Registers {
 public:
  // For a job of `ranks` ranks; memory is allocated per peer at first use. `has_ways`: some peers are reached by other
  // ways than the usual one.
  explicit Registers(std::uint32_t ranks, bool has_ways = false) : usual_(ranks) {
    for (std::size_t way = 1; has_ways && way < kWayCodes; ++way) others_.emplace_back(ranks);
  }

  // Counts a message; returns its number in its ordered pair.
  std::uint64_t count_sent(std::uint32_t destination, WayCode way = kUsualWay) {
    return message_number(way, ++counted(way)[destination].sent);
  }
  // Counts a message that was deposited, or a get that was answered.
  void count_delivered(std::uint32_t source, WayCode way = kUsualWay) { ++counted(way)[source].delivered; }
  // Counts for the pair and in the sum over all sources.
  void count_dropped(std::uint32_t source, portals::DropReason reason, WayCode way = kUsualWay) {
    ++dropped_[key(source, way)][static_cast<std::size_t>(reason)];
    ++drops_[static_cast<std::size_t>(reason)];
  }

  // Continues the counts of an earlier process in this one's place, so that the law holds for both together.
  void resume(std::uint32_t peer, std::uint64_t sent, std::uint64_t delivered, const DropCounts& dropped,
              WayCode way = kUsualWay) {
    counted(way)[peer] = {sent, delivered};
    if (dropped != DropCounts{}) dropped_[key(peer, way)] = dropped;
  }

  // Ranks of the job.
  [[nodiscard]] std::uint32_t ranks() const { return usual_.size(); }
  // Whether there are other ways than the usual ones.
  [[nodiscard]] bool has_ways() const { return !others_.empty(); }
  // The number of the next message to `destination`.
  [[nodiscard]] std::uint64_t next(std::uint32_t destination, WayCode way = kUsualWay) const {
    return message_number(way, sent(destination, way) + 1);
  }
  // Messages handed to a wire for `destination`.
  [[nodiscard]] std::uint64_t sent(std::uint32_t destination, WayCode way = kUsualWay) const {
    return read(way, destination).sent;
  }
  // Messages of `source` that were deposited or answered.
  [[nodiscard]] std::uint64_t delivered(std::uint32_t source, WayCode way = kUsualWay) const {
    return read(way, source).delivered;
  }
  // Messages of `source` that were dropped, by reason.
  [[nodiscard]] DropCounts dropped(std::uint32_t source, WayCode way = kUsualWay) const {
    const auto found = dropped_.find(key(source, way));
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
  [[nodiscard]] static std::uint64_t key(std::uint32_t source, WayCode way) { return message_number(way, source); }
  // The usual way costs one comparison more than a table without ways.
  [[nodiscard]] PeerTable<Pair>& counted(WayCode way) { return way == kUsualWay ? usual_ : others_[way - 1U]; }
  [[nodiscard]] Pair read(WayCode way, std::uint32_t peer) const {
    if (way == kUsualWay) return usual_.at(peer);
    return others_.empty() ? Pair{} : others_[way - 1U].at(peer);
  }

  PeerTable<Pair> usual_;
  // By way, without the usual one; empty without ways.
  std::vector<PeerTable<Pair>> others_;
  // By source and way, of sources with a dropped message.
  std::unordered_map<std::uint64_t, DropCounts> dropped_;
  // The sum of dropped_ over all sources, kept beside it, so that reading it costs no search.
  DropCounts drops_{};
  Unfinished unfinished_;
};

}  // namespace margay::sim
