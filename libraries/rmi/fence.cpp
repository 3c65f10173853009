#include "libraries/rmi/fence.hpp"

#include <algorithm>
#include <cstring>

#include "libraries/rmi/tree.hpp"

namespace margay::rmi::core {

void Fence::arrive(Tree tree, const Sums& mine) {
  if (tree != tree_ || number_ == 0) {
    tree_ = tree;
    children_ = children_of(tree, me_, rank_.size());
  }
  ++number_;
  wave_ = 1;
  mine_ = mine;
  over_ = sent_up_ = answered_ = false;
  decision_ = {};
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
  rank_.counter(kWaves) += 1;
  if (rank_.recording()) {
    rank_.record({.number = kWave, .bytes = sums.executed_ever, .detail = sums.sent, .a = wave_, .b = number_});
  }
  answered_ = true;
  ends_ = decision_.ends(wave_, sums);
}

void Fence::pass_down(bool ends) {
  for (const std::uint32_t child : children_)
    send(child, {.fence = number_, .wave = wave_, .down = 1, .ends = ends ? 1U : 0U});
  sent_up_ = false;
  ++wave_;
  over_ = ends;
}

void Fence::send(std::uint32_t node, const Message& message) {
  wire_.send(Wire::header(node, kControlPortal, match_bits(MessageKind::wave, message.fence)), &message,
             sizeof message);
}

}  // namespace margay::rmi::core
