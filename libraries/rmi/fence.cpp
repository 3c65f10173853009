#include "libraries/rmi/fence.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <string>
#include <utility>

#include "libraries/rmi/tree.hpp"

namespace margay::rmi::core {
namespace {

// The step in which nodes beyond a power of two give their sums away.
constexpr std::uint32_t kFold = 0xffff'ffff;

constexpr char kNotDue[] = "its sums are not due";

}  // namespace

void record_wave(host::Rank& rank, std::uint32_t wave, const Sums& sums) {
  rank.counter(kWaves) += 1;
  if (!rank.recording()) return;
  // Counts of more than 32 bits are cut in the trace.
  rank.record({.number = kWave,
               .detail = wave,
               .a = static_cast<std::uint32_t>(sums.sent),
               .b = static_cast<std::uint32_t>(sums.executed)});
}

void Fence::count(Tree tree) {
  // Fences mostly repeat their tree, so its shape is kept.
  if (tree != tree_ || number_ == 0) {
    tree_ = tree;
    children_ = children_of(tree, me_, size_);
    power_ = std::bit_floor(size_);
  }
  ++number_;
  for (const Message& message : up_) {
    if (message.tree != static_cast<std::uint32_t>(tree_)) refuse_tree(message);
    // The shape of its tree was not known when it arrived.
    if (!is_of_tree(message)) refuse_message(rank_, members_[message.source], "message of a fence", kNotDue);
  }
}

void Fence::refuse_tree(const Message& message) const {
  const std::string mine = std::to_string(members_[me_]), theirs = std::to_string(members_[message.source]);
  const std::string fence = "fence " + std::to_string(number_);
  rank_.abort(1, "node " + mine + " makes " + fence + " by the tree " + name_of(tree_) + ", and node " + theirs +
                     " by " + name_of(static_cast<Tree>(message.tree)) +
                     "; call each rmi_fence by one tree on all nodes, and set MARGAY_RMI_FENCE to one value");
  __builtin_unreachable();  // as in refuse_message()
}

void Fence::arrive(Tree tree, const Sums& mine) {
  count(tree);
  wave_ = 1;
  mine_ = mine;
  over_ = sent_up_ = answered_ = false;
  // Messages of this fence may have arrived before this node did.
  has_activity_ = true;
  // The sums of the fence before must not end this one in wave 2.
  decision_ = Decision(rule_, group_ == 0);
}

std::uint32_t Fence::group_of(std::span<const std::byte> bytes) {
  Message message;
  if (bytes.size() == sizeof message) std::memcpy(&message, bytes.data(), sizeof message);
  return message.group;
}

const char* Fence::take(std::uint32_t source, std::span<const std::byte> bytes) {
  has_activity_ = true;
  Message message;
  if (bytes.size() != sizeof message) return "its length is wrong";
  std::memcpy(&message, bytes.data(), sizeof message);
  const auto member = std::ranges::find(members_, source);
  if (member == members_.end()) return "it is for a group that has not this member";
  message.source = static_cast<std::uint32_t>(member - members_.begin());
  // Fences of threads send no messages.
  if (message.tree > static_cast<std::uint32_t>(Tree::exchange)) return "its tree is unknown";
  if (message.fence == number_ && message.tree != static_cast<std::uint32_t>(tree_)) refuse_tree(message);
  if (message.down != 0) {
    if (!is_answer(message)) return "it answers no wave of this node";
    answered_ = true;
    ends_ = message.ends != 0;
    return nullptr;
  }
  if (!is_due(message)) return kNotDue;
  up_.push_back(message);
  return nullptr;
}

bool Fence::is_answer(const Message& message) const {
  if (over_ || !sent_up_ || answered_ || message.fence != number_ || message.wave != wave_) return false;
  if (tree_ == Tree::exchange) return me_ >= power_ && message.source == me_ - power_;
  return me_ != 0 && message.source == parent_of(tree_, me_);
}

bool Fence::is_due(const Message& message) const {
  const bool is_of_this = !over_ && message.fence == number_;
  // No node is more than one fence ahead of another one, or one wave in a fence. The tree of the next fence is unknown.
  if (!is_of_this && (message.fence != number_ + 1 || message.wave != 1)) return false;
  // Unsigned: an earlier wave is a large difference, and is not due either.
  if (is_of_this && (message.wave - wave_ > 1 || !is_of_tree(message))) return false;
  return std::ranges::none_of(up_, [&](const Message& other) {
    return other.source == message.source && other.fence == message.fence && other.wave == message.wave &&
           other.step == message.step;
  });
}

bool Fence::is_of_tree(const Message& message) const {
  if (tree_ != Tree::exchange) return message.source != 0 && parent_of(tree_, message.source) == me_;
  if (message.step == kFold) return message.source == me_ + power_;
  return me_ < power_ && message.step < 32 && std::uint32_t{1} << message.step < power_ &&
         message.source == (me_ ^ std::uint32_t{1} << message.step);
}

bool Fence::all_children_here() const {
  const auto count = std::ranges::count_if(up_, [this](const Message& each) { return is_of_child(each); });
  return static_cast<std::size_t>(count) == children_.size();
}

void Fence::close_wave() {
  Sums sums = mine_;
  std::erase_if(up_, [&](const Message& each) {
    if (!is_of_child(each)) return false;
    sums += each.sums;
    return true;
  });
  if (me_ != 0) {
    // So that the next round of the wait does not send this wave's sums again.
    sent_up_ = true;
    return send(parent_of(tree_, me_), {.fence = number_, .wave = wave_, .sums = sums});
  }
  answered_ = true;
  ends_ = decide(sums);
}

bool Fence::decide(const Sums& sums) {
  // In an exchange all nodes decide; one of them records.
  if (me_ == 0) record_wave(rank_, wave_, sums);
  return decision_.ends(wave_, sums);
}

bool Fence::take_step(std::uint32_t step) {
  const auto at =
      std::ranges::find_if(up_, [&](const Message& each) { return is_of_child(each) && each.step == step; });
  if (at == up_.end()) return false;
  sums_ += at->sums;
  up_.erase(at);
  return true;
}

bool Fence::exchange() {
  const auto step_message = [this](std::uint32_t step) {
    return Message{.fence = number_, .wave = wave_, .step = step, .sums = sums_};
  };
  // A node without a partner in the hypercube gives its sums away and waits for the answer, in one step more at each
  // end.
  if (me_ >= power_) {
    if (!std::exchange(sent_up_, true)) {
      sums_ = mine_;
      send(me_ - power_, step_message(kFold));
    }
    if (!std::exchange(answered_, false)) return false;
  } else {
    if (!sent_up_) {
      sums_ = mine_;
      // The folded sums must be in before the first exchange, because all later sums contain them.
      if (me_ + power_ < size_ && !take_step(kFold)) return false;
      sent_up_ = true;
      step_ = 0;
      if (power_ > 1) send(me_ ^ 1, step_message(0));
    }
    // step_ is a member: a step whose message is missing ends the loop, and the next call continues with it.
    for (; std::uint32_t{1} << step_ < power_; ++step_) {
      if (!take_step(step_)) return false;
      if (std::uint32_t{2} << step_ < power_) send(me_ ^ (std::uint32_t{2} << step_), step_message(step_ + 1));
    }
    ends_ = decide(sums_);
    if (me_ + power_ < size_) send(me_ + power_, {.fence = number_, .wave = wave_, .down = 1, .ends = ends_ ? 1U : 0U});
  }
  sent_up_ = false;
  ++wave_;
  over_ = ends_;
  return true;
}

void Fence::pass_down(bool ends) {
  // Before wave_ changes: the answer has the number of the wave that it ends.
  for (const std::uint32_t child : children_)
    send(child, {.fence = number_, .wave = wave_, .down = 1, .ends = ends ? 1U : 0U});
  sent_up_ = false;
  ++wave_;
  over_ = ends;
}

void Fence::send(std::uint32_t index, Message message) {
  message.group = group_;
  message.tree = static_cast<std::uint32_t>(tree_);
  wire_.send(Wire::header(members_[index], kControlPortal, match_bits(MessageKind::wave, message.fence)), &message,
             sizeof message);
}

}  // namespace margay::rmi::core
