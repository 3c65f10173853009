#include "libraries/rmi/thread_fence.hpp"

#include <mutex>

namespace margay::rmi::core {
namespace {

std::mutex mutex;
// The state shared by this process's nodes while there are any.
std::weak_ptr<ThreadFenceState> state_of_process;

}  // namespace

std::shared_ptr<ThreadFenceState> ThreadFenceState::enter(std::uint32_t nodes, Rule rule) {
  const std::lock_guard guard(mutex);
  std::shared_ptr<ThreadFenceState> state = state_of_process.lock();
  if (state == nullptr) {
    state = std::make_shared<ThreadFenceState>(nodes, rule);
    state_of_process = state;
  }
  ++state->entered_;
  return state;
}

bool ThreadFenceState::is_complete() {
  const std::lock_guard guard(mutex);
  if (entered_ != nodes_) return false;
  if (tree.empty()) tree = std::vector<TreeNode>(nodes_);
  return true;
}

std::uint32_t ThreadFence::decide(const Sums& sums) {
  record_wave(rank_, wave_, sums);
  const bool ends = state_->central.decision.ends(wave_, sums);
  return (sense_[is_tree_] ? kSense : 0) | (ends ? kOver : 0);
}

bool ThreadFence::arrive_at_center() {
  ThreadFenceState::Central& center = state_->central;
  // Relaxed: published by the arrival below.
  center.sent.fetch_add(mine_.sent, std::memory_order_relaxed);
  center.executed.fetch_add(mine_.executed, std::memory_order_relaxed);
  center.executed_ever.fetch_add(mine_.executed_ever, std::memory_order_relaxed);
  // Release: pairs with the acquire of the last to arrive, which then sees the counts of all; each arrival continues
  // the release sequence of those before it.
  if (center.missing.fetch_sub(1, std::memory_order_acq_rel) != 1) return false;
  // Relaxed: all have arrived, and the release below publishes the new values.
  const auto take = [](std::atomic<std::uint64_t>& sum) { return sum.exchange(0, std::memory_order_relaxed); };
  const std::uint32_t word = decide({take(center.sent), take(center.executed), take(center.executed_ever)});
  center.missing.store(nodes_, std::memory_order_relaxed);
  // Release: pairs with the acquire in take_release().
  center.release.store(word, std::memory_order_release);
  for (std::uint32_t node = 0; node < nodes_; ++node) {
    if (node != me_) rank_.wake(node);
  }
  leave_wave(word);
  return true;
}

bool ThreadFence::children_ready() const {
  const TreeNode& mine = state_->tree[me_];
  for (std::uint32_t child = 0; child < ThreadFenceState::kArrivalChildren; ++child) {
    if (std::uint64_t{me_} * ThreadFenceState::kArrivalChildren + 1 + child >= nodes_) break;
    // Acquire: pairs with the release in arrive_at_parent(), which publishes the child's sums.
    if (mine.child_ready[child].load(std::memory_order_acquire) == 0) return false;
  }
  return true;
}

bool ThreadFence::arrive_at_parent() {
  TreeNode& mine = state_->tree[me_];
  Sums sums = mine_;
  for (std::uint32_t child = 0; child < ThreadFenceState::kArrivalChildren; ++child) {
    if (std::uint64_t{me_} * ThreadFenceState::kArrivalChildren + 1 + child >= nodes_) break;
    sums += mine.child_sums[child];
    // Relaxed: invariant 1. The child arrives again only after its release, which follows this node's arrival.
    mine.child_ready[child].store(0, std::memory_order_relaxed);
  }
  if (me_ == 0) {
    const std::uint32_t word = decide(sums);
    release_children(word);
    leave_wave(word);
    return true;
  }
  const std::uint32_t parent = (me_ - 1) / ThreadFenceState::kArrivalChildren;
  const std::uint32_t child = (me_ - 1) % ThreadFenceState::kArrivalChildren;
  state_->tree[parent].child_sums[child] = sums;
  // Release: pairs with the acquire in children_ready().
  state_->tree[parent].child_ready[child].store(1, std::memory_order_release);
  rank_.wake(parent);
  return false;
}

bool ThreadFence::take_release() {
  const auto& release = is_tree_ ? state_->tree[me_].release : state_->central.release;
  // Acquire: pairs with the release by the node that decided, or by the parent in the release tree. What all nodes did
  // before the fence is seen after it.
  const std::uint32_t word = release.load(std::memory_order_acquire);
  if ((word & kSense) != (sense_[is_tree_] ? kSense : 0)) return false;
  if (is_tree_) release_children(word);
  leave_wave(word);
  return true;
}

void ThreadFence::release_children(std::uint32_t word) {
  for (std::uint32_t child = 0; child < ThreadFenceState::kReleaseChildren; ++child) {
    const std::uint64_t node = std::uint64_t{me_} * ThreadFenceState::kReleaseChildren + 1 + child;
    if (node >= nodes_) break;
    // Release: pairs with the acquire in take_release().
    state_->tree[node].release.store(word, std::memory_order_release);
    rank_.wake(static_cast<std::uint32_t>(node));
  }
}

}  // namespace margay::rmi::core
