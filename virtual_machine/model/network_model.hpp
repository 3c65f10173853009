// The time that messages take on a machine, with contention for its ports and links.
//
// A message is one packet with cut-through switching: its head crosses latency_ns, and hop_ns for each link; its bytes
// follow at the least bandwidth of the path. Each port of a node and each link is a channel with the time at which it
// becomes free. A message reserves each channel of its route, in their order, for bytes / bandwidth from the moment at
// which its head has arrived and the channel is free. A message costs O(hops) operations. Times are whole nanoseconds,
// so the result depends on the sequence of calls alone.
//
// Approximations:
//   - Messages use a channel one after another, in the order of the calls. A machine interleaves their packets, and
//     serves the head that arrives first. The last of several messages ends at the right time, the others too early or
//     too late.
//   - Switches have room for a blocked message. In a wormhole-routed machine a blocked message also occupies the links
//     behind its head, so with heavy contention such a machine is slower than this model.
//   - A message that arrives from a slower channel reserves the next channel only for its bytes at full speed, and
//   other
//     messages may use the gaps. So the channel's load is right, but the order of messages on it is not.
//   - Networks of a machine do not share bandwidth with each other, nor with memory.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "virtual_machine/model/fabric.hpp"
#include "virtual_machine/model/link_loads.hpp"
#include "virtual_machine/model/machine.hpp"

namespace margay::virtual_machine {

// The transport between ranks of a node, in place of a network's number.
inline constexpr std::uint32_t kInMemory = std::numeric_limits<std::uint32_t>::max();
// Longer bodies travel in segments of this length, behind their header.
inline constexpr std::uint64_t kSegmentBytes = std::uint64_t{64} * 1024;
// The arrival of a message that a failed link has lost.
inline constexpr std::uint64_t kLost = std::numeric_limits<std::uint64_t>::max();
// Messages are shorter than this.
inline constexpr std::uint64_t kMessageBytesMost = std::uint64_t{1} << 40;

// One message. All times are of the clock of transfer()'s at_ns.
struct Transfer {
  // The network's number in the machine, or kInMemory.
  std::uint32_t network = kInMemory;
  // Links between switches.
  std::uint32_t hops = 0;
  // The sender's processor has done its part, and continues.
  std::uint64_t sender_free_ns = 0;
  // The last byte has left the sender's memory, which may change.
  std::uint64_t buffer_free_ns = 0;
  // The last byte is in the memory of the receiver's node: a poll of the receiver that begins now finds it.
  std::uint64_t arrival_ns = 0;
  // Processor time that the receiver then spends on it, after the poll.
  std::uint64_t receive_overhead_ns = 0;
  // The time for which its head waited for busy channels, in total; 0: no contention.
  std::uint64_t blocked_ns = 0;
};

// A port or a link, and its load so far. free_ns: the time from which another message may use it. busy_ns: the sum of
// all reservations. bytes: the sum of the messages' lengths.
struct Channel {
  std::uint64_t free_ns = 0;
  std::uint64_t busy_ns = 0;
  std::uint64_t bytes = 0;
};

// The time of a byte in units of 2^-32 ns, which gives the time of many bytes without a division and with the same
// result on every machine.
class ByteTime {
 public:
  // Requires: at least 1000 bytes a second; kUnlimited: no time.
  explicit ByteTime(double bytes_per_s);
  // Rounded to the nearest nanosecond. Requires: bytes < kMessageBytesMost.
  [[nodiscard]] std::uint64_t ns(std::uint64_t bytes) const;

 private:
  // 2^-32 ns for each byte; 0: unlimited bandwidth.
  std::uint64_t per_byte_;
};

// The networks of a machine on which a world of ranks runs, and their load. Belongs to one thread.
class NetworkModel {
 public:
  // Requires: check_ranks(machine, ranks) is ok.
  NetworkModel(Machine machine, std::uint32_t ranks);

  // Sends a message of rank `from` to rank `to`, which may be itself, and reserves the channels of its route. Call it
  // in the order of at_ns: a message queues behind those of earlier calls, even if it is sent before them. Messages of
  // a pair arrive in the order of their calls. Requires: bytes < kMessageBytesMost.
  Transfer transfer(std::uint32_t from, std::uint32_t to, std::uint64_t bytes, std::uint64_t at_ns) {
    return transfer_by(network_between(from, to), from, to, bytes, at_ns);
  }
  // The same by a given network, or kInMemory. Requires: it reaches the rank; kInMemory: both are on one node.
  Transfer transfer_by(std::uint32_t network, std::uint32_t from, std::uint32_t to, std::uint64_t bytes,
                       std::uint64_t at_ns);
  // The time from the send call of `from` until the program of `to` has the message, if no other message is on the way
  // and `to` polls when it arrives: what a ping-pong measures one way. Reserves nothing.
  [[nodiscard]] std::uint64_t idle_time_ns(std::uint32_t from, std::uint32_t to, std::uint64_t bytes) const;

  [[nodiscard]] const Machine& machine() const { return machine_; }
  [[nodiscard]] std::uint32_t ranks() const { return ranks_; }
  // The nodes of the machine; if it has as many as needed, those that have ranks.
  [[nodiscard]] std::uint32_t nodes() const { return nodes_; }
  // By the machine's placement.
  [[nodiscard]] std::uint32_t node_of(std::uint32_t rank) const;
  // 0 if all nodes form one partition.
  [[nodiscard]] std::uint32_t partition_of(std::uint32_t node) const;
  // The network that carries messages between two ranks, or kInMemory if they are on one node.
  [[nodiscard]] std::uint32_t network_between(std::uint32_t from, std::uint32_t to) const;
  // Whether any two ranks of this world exchange messages over the network: ranks poll no others.
  [[nodiscard]] bool is_in_use(std::uint32_t network) const;
  // Links between switches on the way; 0 inside a node.
  [[nodiscard]] std::uint32_t hops(std::uint32_t from, std::uint32_t to) const;

  // Of a network, by its number in the machine: its switches and links, and the loads of its links (by the fabric's
  // numbers) and of its nodes' ports (by node). The views are valid as long as the model.
  [[nodiscard]] const Fabric& fabric(std::uint32_t network) const { return lanes_[network].fabric; }
  [[nodiscard]] std::span<const Channel> links(std::uint32_t network) const { return lanes_[network].links; }
  [[nodiscard]] std::span<const Channel> injections(std::uint32_t network) const { return lanes_[network].injections; }
  [[nodiscard]] std::span<const Channel> ejections(std::uint32_t network) const { return lanes_[network].ejections; }

  // The channels of each network, for LinkLoads.
  [[nodiscard]] std::vector<LinkLoads::Counts> channel_counts() const;
  // From `at_ns` on, the link of the first network between two neighbouring switches carries no message, in both
  // directions. A message whose route has it is lost: its arrival_ns is kLost.
  void fail_link(std::uint32_t from_switch, std::uint32_t to_switch, std::uint64_t at_ns);

  // Where to record the load over time; nullptr, as at first: nowhere. `loads` must have channel_counts(), begin before
  // all messages, and outlive the model's last message.
  void record_to(LinkLoads* loads) { loads_ = loads; }

 private:
  // A network of this world: its fabric, the times of a byte on its three kinds of channels, and the channels. Ports
  // are indexed by node, links by the fabric's numbers.
  struct Lane {
    Lane(const Network& network, std::uint32_t nodes);
    Fabric fabric;
    ByteTime link_time;
    ByteTime injection_time;
    ByteTime ejection_time;
    std::vector<Channel> links;
    std::vector<Channel> injections;
    std::vector<Channel> ejections;
  };
  // The first network that carries messages between two nodes, of one partition or of two.
  // A message on its way.
  struct Passage;
  // Takes a message over a channel, which it reserves for `takes_ns`.
  void cross(Passage& passage, const LinkLoads::Place& place, Channel& channel, std::uint64_t takes_ns);
  [[nodiscard]] std::uint32_t network_for(bool is_inside_partition) const;
  // Whether route_ has a link that has failed by then.
  [[nodiscard]] bool is_cut(std::uint32_t network, std::uint64_t at_ns) const;
  // A message inside a node.
  [[nodiscard]] Transfer copy(std::uint64_t bytes, std::uint64_t at_ns) const;

  Machine machine_;
  std::uint32_t ranks_;
  std::uint32_t nodes_;
  ByteTime memory_time_;
  std::vector<Lane> lanes_;
  // The route of the current call; kept for its memory.
  std::vector<std::uint32_t> route_;
  LinkLoads* loads_ = nullptr;
  // The links of the first network that fail, with the times.
  std::vector<std::pair<std::uint32_t, std::uint64_t>> failing_;
};

}  // namespace margay::virtual_machine
