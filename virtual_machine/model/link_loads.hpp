// The load of a machine's channels (links, and ports of nodes) over time: bytes, busy and waiting time by buckets.
//
// All channels share the width of the buckets. It begins at kFirstBucketNs, and doubles when a message ends behind the
// last bucket, so that a run of any length has at most kBuckets of them. A channel keeps the buckets in which it has a
// load, in their order. A message costs a few operations on each of its channels, and one for each bucket that it
// spans.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace margay::virtual_machine {

// The kinds of channels. A link leads from a switch to another, an injection port from a node to its switch, and an
// ejection port from the switch to the node.
enum class ChannelKind : std::uint8_t { link, injection, ejection };
inline constexpr std::size_t kChannelKinds = 3;

// Belongs to one thread.
class LinkLoads {
 public:
  static constexpr std::uint32_t kBuckets = 256;
  static constexpr std::uint64_t kFirstBucketNs = 1024;

  // The channels of a network, by kind.
  using Counts = std::array<std::uint32_t, kChannelKinds>;

  // A channel: its network's number in the machine, its kind, and its number among those of the kind.
  struct Place {
    std::uint32_t network;
    ChannelKind kind;
    std::uint32_t number;
  };

  // A message on a channel: a number for the pair of nodes between which it travels, and the times at which its head
  // arrives at the channel, at which the channel is free for it, and at which its last byte leaves the channel.
  // Requires: head_ns <= from_ns <= to_ns.
  struct Crossing {
    std::uint64_t pair;
    std::uint64_t head_ns;
    std::uint64_t from_ns;
    std::uint64_t to_ns;
    std::uint64_t bytes;
  };

  // A part of a channel's load.
  struct Bucket {
    std::uint32_t number;
    std::uint64_t bytes = 0;
    std::uint64_t busy_ns = 0;
    // The time for which heads of messages waited for those of other pairs of nodes. Several wait at a time, so it may
    // exceed the bucket's width. A message that waits for one of its own pair, such as the segment before, meets no
    // contention.
    std::uint64_t blocked_ns = 0;
  };

  // A message that is still on the channel: its pair of nodes, the time at which it leaves, and whether it is the last
  // one of the pair on the channel.
  struct Waiting {
    std::uint64_t pair;
    std::uint64_t to_ns;
    bool is_last_of_pair;
  };

  struct Load {
    std::uint64_t messages = 0;
    // The greatest number of pairs of nodes whose messages waited for the channel or crossed it at a time; 1: it was
    // free of contention.
    std::uint32_t most_at_once = 0;
    // Ascending by their numbers.
    std::vector<Bucket> buckets;
    // In the order in which they cross.
    std::vector<Waiting> queue;
  };

  // `channels`: by network. `begin_ns`: the beginning of the first bucket.
  LinkLoads(std::span<const Counts> channels, std::uint64_t begin_ns);

  // Adds a message. Requires: head_ns >= begin_ns(); the messages of a channel are added in the order in which they
  // cross it.
  void record(const Place& place, const Crossing& crossing);

  [[nodiscard]] std::uint64_t begin_ns() const { return begin_ns_; }
  [[nodiscard]] std::uint64_t bucket_ns() const { return std::uint64_t{1} << width_bits_; }
  [[nodiscard]] const Load& load(const Place& place) const;

 private:
  // Adds a quantity of [from_ns, to_ns], in proportion to the time, to each bucket of the interval.
  void spread(Load& load, std::uint64_t from_ns, std::uint64_t to_ns, std::uint64_t quantity,
              std::uint64_t Bucket::*member) const;
  void double_width();
  // Puts a message into the channel's queue. Returns when the last message of another pair before it leaves; 0: none.
  static std::uint64_t enter(Load& load, const Crossing& crossing);

  std::uint64_t begin_ns_;
  std::uint32_t width_bits_;
  // By network and kind.
  std::vector<std::array<std::vector<Load>, kChannelKinds>> loads_;
};

}  // namespace margay::virtual_machine
