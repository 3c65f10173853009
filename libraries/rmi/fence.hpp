// The fence of one node: a tree that sums the requests of all nodes until none is left (paper, 6.5).
//
// The paper ends the fence "as soon as the sum equals zero", which is unsafe: a request that a node executes after its
// arrival may send others, which the sum does not have. Here it takes one wave if nothing ran after an arrival, and
// otherwise two or more:
// 1. A request has the parity of the fence that its sender arrives at next. Wave 1 sums, of that parity, the requests
//    that were sent, and those that were executed before the executing node arrived. If both sums are equal, no method
//    ran after an arrival, so no request is left.
// 2. Later waves sum all requests ever sent and executed. The fence ends when a wave finds as many sent as the wave
//    before it found executed (Mattern's four counters): then nothing was on the way in between.
// A wave goes from the leaves to node 0, and its result back; or all nodes exchange their sums and decide the same,
// each by itself (Tree::exchange; nodes beyond a power of two fold theirs into another one's). A node takes part in it
// while it waits in the fence, with all of its buffers sent, and outside of a method.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "libraries/rmi/wire.hpp"
#include "margay/host.hpp"
#include "margay/rmi/node.hpp"

namespace margay::rmi::core {

// Counts that a wave sums.
struct Sums {
  // Of wave 1: of this fence's parity. Of others: all.
  std::uint64_t sent = 0;
  std::uint64_t executed = 0;
  // All, in each wave.
  std::uint64_t executed_ever = 0;
  Sums& operator+=(const Sums& other) {
    sent += other.sent;
    executed += other.executed;
    executed_ever += other.executed_ever;
    return *this;
  }
};

// How a fence finds that no request is left: `safe` is the rule above; `paper` is the paper's, which ends a fence too
// early if requests send others (tests/libraries/rmi/seeds.cpp shows it). For lessons and tests only.
enum class Rule : std::uint8_t { safe, paper };

// The decision of node 0 on one fence, without any message.
class Decision {
 public:
  // `parity`: whether wave 1 sums requests by parity, and may end the fence.
  explicit Decision(Rule rule = Rule::safe, bool parity = true) : rule_(rule), parity_(parity) {}
  // Whether the fence ends with this wave.
  [[nodiscard]] bool ends(std::uint32_t wave, const Sums& sums) {
    if (rule_ == Rule::paper) return sums.sent == sums.executed;
    const bool ends = wave == 1 ? parity_ && sums.sent == sums.executed : sums.sent == executed_before_;
    executed_before_ = sums.executed_ever;
    return ends;
  }

 private:
  Rule rule_;
  bool parity_;
  std::uint64_t executed_before_ = 0;
};

// Counts a wave with these sums, which this node has decided on, and records it in the trace.
void record_wave(host::Rank& rank, std::uint32_t wave, const Sums& sums);

class Fence {
  // A message of a wave, up and down.
  struct Message {
    std::uint32_t fence = 0;
    std::uint32_t wave = 0;
    std::uint32_t down = 0;
    std::uint32_t ends = 0;
    std::uint32_t step = 0;    // of an exchange
    std::uint32_t source = 0;  // the sender's place, set by the receiver
    std::uint32_t group = 0;
    std::uint32_t unused = 0;
    Sums sums{};
  };

 public:
  static constexpr std::size_t kMessageBytes = sizeof(Message);
  // Of a group: its number, its nodes by their places, and this node's place. Group 0 is all nodes. Wave 1 ends no
  // other group's fence, because a request's parity is that of its sender's fences of all nodes.
  Fence(host::Rank& rank, Wire& wire, Rule rule, std::uint32_t group, const std::vector<std::uint32_t>& members,
        std::uint32_t place)
      : rank_(rank),
        wire_(wire),
        group_(group),
        members_(members),
        me_(place),
        size_(static_cast<std::uint32_t>(members.size())),
        rule_(rule) {}

  // Arrives at the next fence with this node's counts for wave 1: of Rule::paper, and of groups but 0, all, as in later
  // waves. Requires: the one before is over. Inside.
  void arrive(Tree tree, const Sums& mine);
  // The group that a message of portal 50 is for; 0: all nodes.
  [[nodiscard]] static std::uint32_t group_of(std::span<const std::byte> bytes);
  // Takes a message of portal 50. Returns nullptr, or why `source`, a node's number, cannot have sent it.
  [[nodiscard]] const char* take(std::uint32_t source, std::span<const std::byte> bytes);
  // Takes part in the waves as far as messages have arrived. `counts`: returns this node's present counts. Returns
  // whether the fence is over. Inside.
  template <typename Counts>
  [[nodiscard]] bool advance(Counts&& counts) {
    // Each round of the wait comes here, mostly without a new message.
    if (!std::exchange(has_news_, false) && size_ != 1) return over_;
    while (!over_) {
      // Alone, no message separates the waves.
      if (size_ == 1 && wave_ > 1) {
        const Sums now = counts();
        if (now.sent != now.executed) return false;
      }
      if (tree_ == Tree::exchange) {
        if (!sent_up_ && wave_ > 1) mine_ = counts();
        if (!exchange()) return false;
        continue;
      }
      if (answered_) {
        answered_ = false;
        pass_down(ends_);
        continue;
      }
      if (sent_up_ || !all_children_here()) return false;
      if (wave_ > 1) mine_ = counts();
      close_wave();
    }
    return true;
  }

 private:
  // Whether a message may be an answer to this wave, or one of sums.
  [[nodiscard]] bool is_answer(const Message& message) const;
  [[nodiscard]] bool is_due(const Message& message) const;
  // Whether sums are those of a child or partner, for this fence's tree.
  [[nodiscard]] bool is_of_tree(const Message& message) const;
  // Whether sums are those of a child, for this wave.
  [[nodiscard]] bool is_of_child(const Message& message) const {
    return message.fence == number_ && message.wave == wave_ && is_of_tree(message);
  }
  // Waves after the first one need the same counts again, so a child's message of the next fence may be early.
  [[nodiscard]] bool all_children_here() const;
  // Sends the sums of this node and its children up, or decides.
  void close_wave();
  // Goes on in a wave of Tree::exchange. Returns whether it is over; false: it waits for a message.
  [[nodiscard]] bool exchange();
  // Adds the message of this wave's step to the sums, if it is here.
  [[nodiscard]] bool take_step(std::uint32_t step);
  // Records the result of a wave, and decides.
  [[nodiscard]] bool decide(const Sums& sums);
  // Begins the next wave, or ends the fence, here and at the children.
  void pass_down(bool ends);
  void send(std::uint32_t place, Message message);

  host::Rank& rank_;
  Wire& wire_;
  const std::uint32_t group_;
  const std::vector<std::uint32_t> members_;
  // This node's place, and the number of places.
  const std::uint32_t me_, size_;
  const Rule rule_;
  std::uint32_t number_ = 0;
  std::uint32_t wave_ = 0;
  Tree tree_ = Tree::hypercube;
  std::vector<std::uint32_t> children_;
  Sums mine_;
  // Of Tree::exchange: the sums so far, the steps done, and the greatest power of two of nodes.
  Sums sums_{};
  std::uint32_t step_ = 0;
  std::uint32_t power_ = 1;
  bool over_ = true;
  bool has_news_ = false;  // since advance() was called last
  bool sent_up_ = false;   // this wave's sums are on the way to the parent
  bool answered_ = false;  // node 0's answer to this wave is here
  bool ends_ = false;      // and it is the end
  Decision decision_;
  // Messages of children, of this wave and of later ones.
  std::vector<Message> up_;
};

}  // namespace margay::rmi::core
