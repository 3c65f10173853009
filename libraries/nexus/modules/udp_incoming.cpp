#include "libraries/nexus/modules/udp_incoming.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace margay::nexus::core {

UdpAccepted UdpIncoming::accept(const UdpFrame& frame) {
  for (Incomplete& one : incomplete_) {
    if (one.number == frame.number) return accept_part(one, frame);
  }
  if (!window_.is_new(frame.number)) {
    ++repeated_;
    return UdpAccepted::repeated;
  }
  window_.note(frame.number);
  if (frame.parts == 1) {
    message_ = frame.part_bytes;
    return UdpAccepted::complete;
  }
  if (incomplete_.size() == kIncompleteMost) incomplete_.pop_front();
  Incomplete& message = incomplete_.emplace_back();
  message.number = frame.number;
  message.bytes.resize(frame.message_bytes);
  message.has.resize(frame.parts);
  message.missing = frame.parts;
  return accept_part(message, frame);
}

UdpAccepted UdpIncoming::accept_part(Incomplete& message, const UdpFrame& frame) {
  // A sender that gives one number to two messages is wrong; the first one counts.
  if (message.bytes.size() != frame.message_bytes || message.has[frame.part]) {
    ++repeated_;
    return UdpAccepted::repeated;
  }
  message.has[frame.part] = true;
  std::memcpy(message.bytes.data() + udp_part_begin(frame.part), frame.part_bytes.data(), frame.part_bytes.size());
  if (--message.missing != 0) return UdpAccepted::waiting;
  finished_ = std::move(message);
  message_ = finished_.bytes;
  std::erase_if(incomplete_, [&](const Incomplete& one) { return one.number == frame.number; });
  return UdpAccepted::complete;
}

void UdpIncoming::end_at(std::uint64_t total) {
  total_ = std::max(total_, total);
  ended_ = true;
}

MessageLaw UdpIncoming::law() const {
  MessageLaw law = law_;
  const std::uint64_t begun = std::max(window_.end(), total_);
  // A message that is incomplete is not lost yet, unless its sender has ended.
  const std::uint64_t open = ended_ ? 0 : incomplete_.size();
  law.lost = begun - std::min(begun, law.arrived() + open);
  return law;
}

}  // namespace margay::nexus::core
