// A message on its way out, from the kernel's initiator through a wire.
#pragma once

#include <cstdint>

#include "portals/base/header.hpp"
#include "portals/base/region.hpp"
#include "sim/trace/event.hpp"

namespace margay::sim {

// Owned by the sender (the device embeds it in a request). From Wire::send() until it comes off the TransmissionList of
// finished ones, the wire refers to it and to the body's memory: both must stay where they are.
struct Transmission {
  enum class State : std::uint8_t { idle, queued, sent, stopped, failed };

  portals::Header header;
  portals::Region body;        // header.length bytes; read only
  std::uint64_t sequence = 0;  // of this message in its ordered pair of processes: 1, 2, 3 ...
  State state = State::idle;
  bool may_change = false;       // others write the body's memory meanwhile: what is sent is a copy, and one look at it
  bool stop_asked = false;       // the remainder of the body is not wanted
  bool given_back = false;       // it came off the list of finished ones: nobody refers to it any more
  void* owner = nullptr;         // the sender's own mark
  std::uint32_t owner_kind = 0;  // what `owner` is, for whoever drains the finished ones
  // Wire's own while queued:
  Transmission* next = nullptr;
  portals::RegionCursor cursor;  // how far the body has been carried
  // Told by the wire when it is finished, for a trace: how the body left, and how much of it this process copied.
  TraceBody way = TraceBody::none;
  std::uint64_t copied_bytes = 0;
};

// First in, first out; intrusive, so a transmission is on one list at a time.
class TransmissionList {
 public:
  void push(Transmission& transmission) {
    transmission.next = nullptr;
    (last_ == nullptr ? first_ : last_->next) = &transmission;
    last_ = &transmission;
  }
  [[nodiscard]] Transmission* front() const { return first_; }
  [[nodiscard]] Transmission* pop() {
    Transmission* taken = first_;
    if (taken != nullptr) {
      first_ = taken->next;
      if (first_ == nullptr) last_ = nullptr;
      taken->next = nullptr;
    }
    return taken;
  }
  [[nodiscard]] bool empty() const { return first_ == nullptr; }
  // Puts `instead` in the place of `transmission`; false: it is not on this list. A walk.
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
  Transmission* first_ = nullptr;
  Transmission* last_ = nullptr;
};

}  // namespace margay::sim
