// A message that is being sent: the record that the kernel's initiator and a wire share.
#pragma once

#include <cstdint>

#include "portals/base/header.hpp"
#include "portals/base/region.hpp"
#include "sim/base/message_number.hpp"
#include "sim/trace/event.hpp"

namespace margay::sim {

// A message that is being sent. The sender owns it; the device embeds it in a request. From Wire::send() until the
// transmission comes off the list of finished ones, the wire refers to the transmission and to the body's memory, and
// neither may move or be freed.
struct Transmission {
  // idle: not sent yet, or replaced. stopped: the receiver did not want the remainder. failed: the peer is lost.
  enum class State : std::uint8_t { idle, queued, sent, stopped, failed };

  // The sender fills in the header, except `source`, which the initiator sets.
  portals::Header header;
  // The body: header.length bytes, which the wire only reads.
  portals::Region body;
  // Number of this message in its ordered pair of processes (sim/base/message_number.hpp): 1, 2, 3 ...
  std::uint64_t sequence = 0;
  // The way that it takes. Set by the sender; the initiator asserts that it is open.
  WayCode way = kUsualWay;
  // Set by the initiator and the wire; final once the transmission has come off the finished list.
  State state = State::idle;
  // The body's memory may change while it is sent, so a wire that computes a checksum sends a copy, and reads each byte
  // once.
  bool may_change = false;
  // The receiver does not want the remainder of the body; see Wire::stop().
  bool stop_asked = false;
  // The transmission has come off the list of finished ones, or has been replaced, and nothing refers to it any more.
  bool given_back = false;
  // The sender's owner tag, for the drainer of finished transmissions.
  void* owner = nullptr;
  // The kind of `owner`.
  std::uint32_t owner_tag_kind = 0;
  // The next transmission on the same TransmissionList.
  Transmission* next = nullptr;
  // The position up to which the body has been sent.
  portals::RegionCursor cursor;
  // For traces: the method that carried the body, and the bytes of the body that this process copied. Final when the
  // transmission is finished.
  TraceBody method = TraceBody::none;
  std::uint64_t copied_bytes = 0;
};

// A queue of transmissions. Intrusive: the queue allocates nothing, and a transmission is on one list at a time.
class TransmissionList {
 public:
  // Adds a transmission at the end. Requires: it is on no list.
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
  // Puts `instead` in the place of `transmission`; false: `transmission` is not on this list. Linear.
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
  // The oldest and the newest; both nullptr when the list is empty.
  Transmission* first_ = nullptr;
  Transmission* last_ = nullptr;
};

}  // namespace margay::sim
