// The fences of nodes that are threads of one process (paper, 6.5): a central one with sense reversal, and the tree of
// Algorithm 11 of Mellor-Crummey and Scott ("Algorithms for scalable synchronization on shared-memory multiprocessors",
// 1991). Both carry the sums of termination detection (fence.hpp) through memory that the threads share, and no
// messages. A node polls while it waits.
//
// Central: each node adds its counts to common sums and arrives at a counter. The last one decides, and reverses the
// sense, for which the others wait.
// Tree: a node waits for its four children in the arrival tree, adds their sums to its own, and passes the result to
// its parent. Node 0 decides. Each node then releases its two children in another, binary tree. A node waits only for
// words of its own, which its children and its parent there write.
//
// Invariants
//  1. A node arrives at a wave only after the wave before has released it, so sums and counters of one wave are never
//     overwritten by the next.
//  2. Memory that one node writes for another, such as sums, is plain. It is published by the atomic word after it.
//
// Why plain memory is safe: a word is written only by the node that is due, and read by another one only after the
// acquire of the atomic word that follows it. The atomic words are the only ones that two nodes touch at the same time.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "libraries/rmi/fence.hpp"
#include "margay/host.hpp"
#include "margay/rmi/node.hpp"

namespace margay::rmi::core {

// The memory of these fences, common to the nodes of one process. Owned by its nodes together; it ends with the last
// one.
class ThreadFenceState {
 public:
  // The state of this process in a job of so many nodes; made by the first node that asks, ended by the last one.
  // `rule`: equal on all nodes.
  [[nodiscard]] static std::shared_ptr<ThreadFenceState> enter(std::uint32_t nodes, Rule rule);
  // For enter().
  ThreadFenceState(std::uint32_t nodes, Rule rule)
      : central{.missing = nodes, .decision = Decision(rule)}, nodes_(nodes) {}
  // Whether all nodes of the job have entered, so that the memory may be used. Makes the tree's memory. Constant after
  // the job's barrier that follows their entries.
  [[nodiscard]] bool is_complete();

  // A line of the processor's cache in bytes. Words that different nodes poll lie in different lines.
  static constexpr std::size_t kLine = 64;
  // The widths of the trees of Algorithm 11: four children on arrival, two on release.
  static constexpr std::size_t kArrivalChildren = 4, kReleaseChildren = 2;

  // What all nodes write.
  struct alignas(kLine) Central {
    std::atomic<std::uint32_t> missing{0};  // nodes that have not arrived
    std::atomic<std::uint64_t> sent{0}, executed{0}, executed_ever{0};
    // Of the node that decides: the last one to arrive, or node 0 in the tree.
    Decision decision;
    // What all nodes poll, in a line of its own.
    alignas(kLine) std::atomic<std::uint32_t> release{0};
  };
  // The words of one node. Its children in the arrival tree set child_ready after child_sums, and the node itself
  // clears it; its parent in the release tree writes `release`.
  struct alignas(kLine) TreeNode {
    std::array<std::atomic<std::uint8_t>, kArrivalChildren> child_ready{};
    std::array<Sums, kArrivalChildren> child_sums{};
    // In a line of its own, because another node writes it.
    alignas(kLine) std::atomic<std::uint32_t> release{0};
  };
  Central central;
  std::vector<TreeNode> tree;  // empty until is_complete() is true

 private:
  const std::uint32_t nodes_;
  std::uint32_t entered_ = 0;  // under the mutex of enter(), as the making of the tree
};

// One node's part. Used by its thread alone, inside (host::Call). No function throws or waits: the caller waits, and
// polls (node.hpp, serve_until()).
class ThreadFence {
 public:
  ThreadFence(host::Rank& rank, Rule rule)
      : rank_(rank), me_(rank.rank()), nodes_(rank.size()), state_(ThreadFenceState::enter(rank.size(), rule)) {}

  // Determines whether all nodes of the job are threads of this process. Requires: all nodes have been made, as after
  // the barrier of Node::open().
  void poll() { possible_ = state_->is_complete(); }
  // The result.
  [[nodiscard]] bool possible() const { return possible_; }

  // Arrives at a fence with this node's counts for wave 1. Requires: the one before is over; possible().
  void arrive(Tree tree, const Sums& mine) {
    is_tree_ = tree == Tree::mcs;
    wave_ = 1;
    mine_ = mine;
    over_ = arrived_ = false;
  }
  // Takes part in the waves as far as possible. `counts`: returns this node's present counts. Returns whether the fence
  // is over; after each other wave once false, so that the node executes requests in between.
  template <typename Counts>
  [[nodiscard]] bool advance(Counts&& counts) {
    if (over_) return true;
    bool released = false;
    if (!arrived_) {
      if (is_tree_ && !children_ready()) return false;
      if (wave_ > 1) mine_ = counts();
      arrived_ = true;
      released = is_tree_ ? arrive_at_parent() : arrive_at_center();
    }
    if (!released && !take_release()) return false;
    arrived_ = false;
    ++wave_;
    return over_;
  }

 private:
  using TreeNode = ThreadFenceState::TreeNode;
  // The bits of the word that releases nodes from a wave: its sense, and whether the fence is over. The sense
  // alternates from wave to wave, so that the word of the last wave is not taken for this one's, and the word needs no
  // reset between them.
  static constexpr std::uint32_t kSense = 1, kOver = 2;

  // Whether the children in the arrival tree have arrived, so that their sums may be read.
  [[nodiscard]] bool children_ready() const;
  // Both arrive at the wave. They return true if this node is the one that decides, and has released the others.
  [[nodiscard]] bool arrive_at_parent();
  [[nodiscard]] bool arrive_at_center();
  // Whether this node is released from the wave at which it has arrived. Then releases its own children in the tree.
  // Sees all that the other nodes did before they arrived.
  [[nodiscard]] bool take_release();
  // Decides on the wave with the sums of all nodes, and records it. Returns the word that releases them. Called by one
  // node for each wave.
  [[nodiscard]] std::uint32_t decide(const Sums& sums);
  // Releases and wakes the children in the release tree, which may sleep.
  void release_children(std::uint32_t word);
  // The end of a wave for this node: the next one has the other sense.
  void leave_wave(std::uint32_t word) {
    sense_[is_tree_] = !sense_[is_tree_];
    over_ = (word & kOver) != 0;
  }

  host::Rank& rank_;
  const std::uint32_t me_;
  const std::uint32_t nodes_;
  const std::shared_ptr<ThreadFenceState> state_;
  // The result of poll(); whether the present fence is Tree::mcs; whether it is over.
  bool possible_ = false;
  bool is_tree_ = false;
  bool over_ = true;
  bool arrived_ = false;  // at the present wave
  std::uint32_t wave_ = 0;
  Sums mine_;
  // The sense of the next release, of the central fence and of the tree.
  std::array<bool, 2> sense_{true, true};
};

}  // namespace margay::rmi::core
