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
//
// A wave goes from the leaves to node 0, and its result back; or all nodes exchange their sums and each decides the
// same by itself (Tree::exchange; each node beyond the greatest power of two adds its sums to those of another one). A
// node takes part in it while it waits in the fence, with all of its buffers sent, and outside of a method.
//
// Messages of a wave: 2 * (nodes - 1) in a tree, in a depth of twice the tree's; nodes * log2(nodes) in an exchange, in
// a depth of log2(nodes). Each has 48 bytes. Used inside only.
//
// A group has a fence of its own among its members, named by their indices in it. Its sums are those of requests of
// members to members, of both parities, so that wave 1 never ends it.
//
// An example of wave 2. Node B sends A a request, arrives and reports 1 sent. A and D have arrived with 0. A now
// executes the request and sends two, to C and D; C executes its one, arrives and reports 1 executed. The sums of all
// requests are equal, and D's request is still on its way: the paper's rule ends here. By rule 1 the two requests of A
// have the other parity, because A had arrived, and A's execution came after its arrival: 1 sent and 0 executed, so
// wave 2 follows.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "libraries/rmi/wire.hpp"
#include "margay/host.hpp"
#include "margay/rmi/node.hpp"

namespace margay::rmi::core {

// Counts that a wave sums. Counts of 64 bits, since start(), so they never wrap. Methods that run after the count
// change them; a wave has a snapshot of each node.
struct Sums {
  // Of wave 1: of this fence's parity. Of others, and of a group's fence: all.
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

// How a fence finds that no request is left. `safe` is the rule above. `paper` is the paper's, which ends a fence too
// early if requests send others (tests/libraries/rmi/seeds.cpp shows it): for lessons and tests only.
enum class Rule : std::uint8_t { safe, paper };

// The decision on one fence, by the sums of its waves in order. No messages: fences of threads use it, too, and in an
// exchange each node has its own, which agree because the sums do.
class Decision {
 public:
  // `parity`: whether wave 1 sums requests by parity, and may end the fence.
  explicit Decision(Rule rule = Rule::safe, bool parity = true) : rule_(rule), parity_(parity) {}
  // Whether the fence ends with this wave. Once for each wave, from 1.
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

// Counts a wave with these sums, and records it in the trace. Called by one node for each wave, so that a job's sum
// counts it once.
void record_wave(host::Rank& rank, std::uint32_t wave, const Sums& sums);

class Fence {
  // A message of a wave, up and down; all of its 48 bytes come from another node, and take() checks them. Numbers of
  // fences and waves begin at 1. Up: `sums` of the sender and the nodes below it. Down: `ends` is node 0's decision.
  struct Message {
    std::uint32_t fence = 0;
    std::uint32_t wave = 0;
    std::uint32_t down = 0;
    std::uint32_t ends = 0;
    std::uint32_t step = 0;    // of an exchange
    std::uint32_t source = 0;  // the sender's index, set by the receiver
    std::uint32_t group = 0;
    std::uint32_t tree = 0;  // the sender's, for this fence
    Sums sums{};
  };

 public:
  static constexpr std::size_t kMessageBytes = sizeof(Message);
  // Of a group: its number, its nodes by their indices, and this node's index. Group 0 is all nodes. One for each group
  // of a node, for all of its fences by messages. `rank` and `wire` outlive it. Wave 1 ends no other group's fence,
  // because a request's parity is that of its sender's fences of all nodes.
  Fence(host::Rank& rank, Wire& wire, Rule rule, std::uint32_t group, const std::vector<std::uint32_t>& members,
        std::uint32_t index)
      : rank_(rank),
        wire_(wire),
        group_(group),
        members_(members),
        me_(index),
        size_(static_cast<std::uint32_t>(members.size())),
        rule_(rule) {}

  // Arrives at the next fence with this node's counts for wave 1: those of the fence's parity, but with Rule::paper
  // and in a group all, as in later waves. Requires: the one before is over. Sends nothing yet. Inside.
  void arrive(Tree tree, const Sums& mine);
  // The part of arrive() that counts the fence. A fence of threads calls it alone, so that fences have equal numbers on
  // all nodes, and a node that makes this one by messages is detected. Ends the job if a node that is ahead has begun
  // this fence by another tree. Requires: the one before is over. Inside.
  void count(Tree tree);
  // The group that a message of portal 50 is for; 0: all nodes.
  [[nodiscard]] static std::uint32_t group_of(std::span<const std::byte> bytes);
  // Takes a message of portal 50. Returns nullptr, or why the node `source` cannot have sent it. Then the fence is
  // unchanged, and the caller ends the job. Ends the job itself if the node makes the present fence by another tree,
  // because both would wait forever. A node that is ahead may send sums of its next fence before this node arrives
  // there; they are kept.
  [[nodiscard]] const char* take(std::uint32_t source, std::span<const std::byte> bytes);
  // Takes part in the waves as far as messages have arrived. `counts`: returns this node's present counts. Returns
  // whether the fence is over. Inside.
  template <typename Counts>
  [[nodiscard]] bool advance(Counts&& counts) {
    // Each round of the wait comes here, mostly without a new message.
    if (!std::exchange(has_activity_, false) && size_ != 1) return over_;
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
  // Whether a message may be node 0's answer to this wave, and whether sums may be the ones that are missing. Both
  // check the sender as well as the numbers, so that damage or a different tree is detected instead of counted.
  [[nodiscard]] bool is_answer(const Message& message) const;
  // Whether sums may be of this fence or the next one, and are the first of their step. Bounds the kept messages: no
  // node is more than a fence or a wave ahead of another one.
  [[nodiscard]] bool is_due(const Message& message) const;
  // Ends the job: the sender of this message makes the same fence by another tree.
  [[noreturn]] void refuse_tree(const Message& message) const;
  // Whether sums are those of a child, or of a partner in their step, by this fence's tree.
  [[nodiscard]] bool is_of_tree(const Message& message) const;
  // Whether sums are those of a child or partner, for this wave.
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
  // Decides on a wave by its sums: whether the fence ends. Node 0 also records the wave.
  [[nodiscard]] bool decide(const Sums& sums);
  // Begins the next wave, or ends the fence, here and at the children.
  void pass_down(bool ends);
  // Sends a message of 48 bytes to a member's portal 50.
  void send(std::uint32_t index, Message message);

  host::Rank& rank_;
  Wire& wire_;
  const std::uint32_t group_;
  const std::vector<std::uint32_t> members_;
  // This node's index, and the number of members.
  const std::uint32_t me_, size_;
  // The rule of the environment.
  const Rule rule_;
  // The present or last fence and its wave; numbers are equal on all nodes, because fences are collective.
  std::uint32_t number_ = 0;
  std::uint32_t wave_ = 0;
  Tree tree_ = Tree::hypercube;
  // Of tree_, computed when the tree changes; unused by Tree::exchange.
  std::vector<std::uint32_t> children_;
  Sums mine_;
  // Of Tree::exchange: the sums so far, the steps done, and the greatest power of two of nodes.
  Sums sums_{};
  std::uint32_t step_ = 0;
  std::uint32_t power_ = 1;
  bool over_ = true;
  bool has_activity_ = false;  // since advance() was called last
  bool sent_up_ = false;       // this wave's sums are on the way to the parent
  bool answered_ = false;      // node 0's answer to this wave is here
  bool ends_ = false;          // and it is the end
  Decision decision_;
  // Messages of children, of this wave and of later ones.
  std::vector<Message> up_;
};

}  // namespace margay::rmi::core
