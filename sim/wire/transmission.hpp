// A message being sent, from the kernel's initiator through a wire.
#pragma once

#include <cstdint>

#include "portals/base/header.hpp"
#include "portals/base/region.hpp"
#include "sim/trace/event.hpp"

namespace margay::sim {

// Owned by the sender (the device embeds it in a request). From Wire::send() until it comes off the list of finished
// transmissions, the wire refers to it and to the body's memory, and neither may move or be freed.
struct Transmission {
  // idle: not sent yet, or replaced. stopped: the receiver did not want the remainder. failed: the peer is lost.
  enum class State : std::uint8_t { idle, queued, sent, stopped, failed };

  // The sender fills it in, except `source`, which the initiator sets.
  portals::Header header;
  // header.length bytes, which the wire only reads.
  portals::Region body;
  // Number of this message in its ordered pair of processes: 1, 2, 3 ...
  std::uint64_t sequence = 0;
  // Set by the initiator and the wire; final once the transmission has come off the finished list.
  State state = State::idle;
  // The body's memory may change while it is sent, so the wire sends a copy, and reads each byte once.
  bool may_change = false;
  // The remainder of the body is not wanted.
  bool stop_asked = false;
  // It has come off the list of finished transmissions, and nothing refers to it any more.
  bool given_back = false;
  // The sender's owner tag.
  void* owner = nullptr;
  // The kind of `owner`, for the drainer of finished transmissions.
  std::uint32_t owner_tag_kind = 0;
  // The wire's own while queued.
  Transmission* next = nullptr;
  // The position up to which the body has been sent.
  portals::RegionCursor cursor;
  // Set by the wire when it is finished, for traces: the method that carried the body, and the bytes of it that this
  // process copied.
  TraceBody method = TraceBody::none;
  std::uint64_t copied_bytes = 0;
};

// A queue of transmissions. Intrusive: it allocates nothing, and a transmission is on one list at a time.
class TransmissionList {
 public:
  // Adds the newest. Requires: it is on no list.
  void push(Transmission& transmission) {
    transmission.next = nullptr;
    (last_ == nullptr ? first_ : last_->next) = &transmission;
    last_ = &transmission;
  }
  // The oldest; nullptr when the list is empty.
  [[nodiscard]] Transmission* front() const { return first_; }
  // Removes and returns the oldest; nullptr when the list is empty.
  [[nodiscard]] Transmission* pop() {
    Transmission* taken = first_;
    if (taken != nullptr) {
      first_ = taken->next;
      if (first_ == nullptr) last_ = nullptr;
      taken->next = nullptr;
    }
    return taken;
  }
  // Whether the list has no transmission.
  [[nodiscard]] bool empty() const { return first_ == nullptr; }
  // Puts `instead` in the place of `transmission`; false when that is not on this list. Linear.
  [[nodiscard]] bool replace(const Transmission& transmission, Transmission& instead) {
    for (Transmission *at = first_, *before = nullptr; at != nullptr; before = at, at = at->next) {
      if (at != &transmission) continue;
      instead.next = at->next;
      (before == nullptr ? first_ : before->next) = &instead;
      if (last_ == at) last_ = &instead;
      return true;
    }
    return false;
  }

 private:
  // Both nullptr, or neither.
  Transmission* first_ = nullptr;
  Transmission* last_ = nullptr;
};

}  // namespace margay::sim
