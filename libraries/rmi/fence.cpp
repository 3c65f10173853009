#include "libraries/rmi/fence.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "libraries/rmi/tree.hpp"

namespace margay::rmi::core {
namespace {

// The step in which nodes beyond a power of two give their sums away.
constexpr std::uint32_t kFold = 0xffff'ffff;

}  // namespace

void Fence::arrive(Tree tree, const Sums& mine) {
  if (tree != tree_ || number_ == 0) {
    tree_ = tree;
    children_ = children_of(tree, me_, size_);
    power_ = std::bit_floor(size_);
  }
  ++number_;
  wave_ = 1;
  mine_ = mine;
  over_ = sent_up_ = answered_ = false;
  decision_ = Decision(group_ == 0);
}

std::uint32_t Fence::group_of(std::span<const std::byte> bytes) {
  Message message;
  if (bytes.size() == sizeof message) std::memcpy(&message, bytes.data(), sizeof message);
  return message.group;
}

void Fence::take(std::uint32_t /*source*/, std::span<const std::byte> bytes) {
  if (bytes.size() != sizeof(Message)) return;
  Message message;
  std::memcpy(&message, bytes.data(), sizeof message);
  if (message.down == 0) {
    up_.push_back(message);
  } else if (message.fence == number_ && message.wave == wave_) {
    answered_ = true;
    ends_ = message.ends != 0;
  }
}

bool Fence::all_children_here() const {
  const auto count =
      std::ranges::count_if(up_, [this](const Message& each) { return each.fence == number_ && each.wave == wave_; });
  return static_cast<std::size_t>(count) == children_.size();
}

void Fence::close_wave() {
  Sums sums = mine_;
  std::erase_if(up_, [&](const Message& each) {
    if (each.fence != number_ || each.wave != wave_) return false;
    sums += each.sums;
    return true;
  });
  if (me_ != 0) {
    sent_up_ = true;
    return send(parent_of(tree_, me_), {.fence = number_, .wave = wave_, .sums = sums});
  }
  answered_ = true;
  ends_ = decide(sums);
}

bool Fence::decide(const Sums& sums) {
  if (me_ == 0) rank_.counter(kWaves) += 1;
  if (me_ == 0 && rank_.recording()) {
    // Counts of more than 32 bits are cut in the trace.
    rank_.record({.number = kWave,
                  .detail = wave_,
                  .a = static_cast<std::uint32_t>(sums.sent),
                  .b = static_cast<std::uint32_t>(sums.executed)});
  }
  return decision_.ends(wave_, sums);
}

bool Fence::take_step(std::uint32_t step) {
  const auto at = std::ranges::find_if(
      up_, [&](const Message& each) { return each.fence == number_ && each.wave == wave_ && each.step == step; });
  if (at == up_.end()) return false;
  sums_ += at->sums;
  up_.erase(at);
  return true;
}

bool Fence::exchange() {
  const auto step_message = [this](std::uint32_t step) {
    return Message{.fence = number_, .wave = wave_, .step = step, .sums = sums_};
  };
  if (me_ >= power_) {
    if (!std::exchange(sent_up_, true)) {
      sums_ = mine_;
      send(me_ - power_, step_message(kFold));
    }
    if (!std::exchange(answered_, false)) return false;
  } else {
    if (!sent_up_) {
      sums_ = mine_;
      if (me_ + power_ < size_ && !take_step(kFold)) return false;
      sent_up_ = true;
      step_ = 0;
      if (power_ > 1) send(me_ ^ 1, step_message(0));
    }
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
  for (const std::uint32_t child : children_)
    send(child, {.fence = number_, .wave = wave_, .down = 1, .ends = ends ? 1U : 0U});
  sent_up_ = false;
  ++wave_;
  over_ = ends;
}

void Fence::send(std::uint32_t place, Message message) {
  message.group = group_;
  wire_.send(Wire::header(members_[place], kControlPortal, match_bits(MessageKind::wave, message.fence)), &message,
             sizeof message);
}

}  // namespace margay::rmi::core
