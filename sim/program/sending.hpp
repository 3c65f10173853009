// What a program says about a message that it sends, and a message on its way out.
#pragma once

#include "portals/base/header.hpp"
#include "sim/wire/transmission.hpp"

namespace margay::sim {

// The values of a message's header that are its sender's to choose (paper 001, section 1.2). The kernel fills in
// the others: kind, source and length.
struct HeaderValues {
  portals::Rank destination = 0;
  portals::PortalIndex portal = 0;    // there; 0 to 62
  portals::MatchBits match_bits = 0;  // looked at by match lists only
  std::uint64_t offset = 0;           // bytes into a descriptor whose offset the sender manages
  // Here: where the acknowledgment or the reply goes. kNoPortal: a put that wants no acknowledgment.
  portals::PortalIndex return_portal = portals::kNoPortal;
  portals::MatchBits return_match_bits = 0;  // the answer's match bits
  std::uint64_t return_offset = 0;           // the answer's offset
  // Of a put: all twelve bytes arrive. An answer brings back bytes 0 to 3 (an acknowledgment 1 to 3, since byte 0 says
  // what was saved); its other eight hold the number of the message that it answers.
  portals::UserData user_data{};
};

// What was saved of the message that `acknowledgment` answers; the bytes saved are its return_length.
[[nodiscard]] inline portals::Saved saved_of(const portals::Header& acknowledgment) {
  return static_cast<portals::Saved>(acknowledgment.user_data[0]);
}

// A put that was started and may still be on its way (Program::start_put). The program's own object. From start_put()
// until done() it, and the body's memory, must stay where they are.
class Sending {
 public:
  Sending() = default;
  ~Sending();  // Requires: done()
  Sending(const Sending&) = delete;
  Sending& operator=(const Sending&) = delete;

  // The body's memory may be used again: all of it was sent, or the remainder will not be.
  [[nodiscard]] bool done() const { return !under_way_; }
  // Once done(): the receiver could not be reached.
  [[nodiscard]] bool failed() const { return transmission_.state == Transmission::State::failed; }
  // Once done(): it was stopped before all of the body had gone.
  [[nodiscard]] bool stopped() const { return transmission_.state == Transmission::State::stopped; }

 private:
  friend class Program;
  Transmission transmission_;
  bool under_way_ = false;
};

}  // namespace margay::sim
