// The header values that a program chooses for a message, and a message being sent.
#pragma once

#include "portals/base/header.hpp"
#include "sim/wire/transmission.hpp"

namespace margay::sim {

// The values of a message's header that its sender chooses (paper 001, section 1.2). Program and kernel fill in the
// others: kind, source and lengths.
struct HeaderValues {
  // Below Program::size().
  portals::Rank destination = 0;
  // At the destination; 0 to 62.
  portals::PortalIndex portal = 0;
  // Compared by match lists only.
  portals::MatchBits match_bits = 0;
  // Bytes into a descriptor whose offset the sender manages.
  std::uint64_t offset = 0;
  // The portal here that receives the acknowledgment or the reply. kNoPortal: a put without acknowledgment.
  portals::PortalIndex return_portal = portals::kNoPortal;
  // The answer's match bits.
  portals::MatchBits return_match_bits = 0;
  // The answer's offset.
  std::uint64_t return_offset = 0;
  // All twelve bytes of a put arrive. An answer returns bytes 0 to 3 (an acknowledgment 1 to 3, because its byte 0
  // holds the saved parts). Bytes 4 to 11 of an answer hold the number of the answered message.
  portals::UserData user_data{};
};

// The saved parts of the message that `acknowledgment` answers; the number of bytes is its return_length.
[[nodiscard]] inline portals::Saved saved_of(const portals::Header& acknowledgment) {
  return static_cast<portals::Saved>(acknowledgment.user_data[0]);
}

// A put that was started and may still be in flight (Program::start_put), owned by the program. From start_put() until
// done(), neither the Sending nor the body's memory may move or be freed.
class Sending {
 public:
  Sending() = default;
  ~Sending();  // Requires: done()
  Sending(const Sending&) = delete;
  Sending& operator=(const Sending&) = delete;

  // Whether the body's memory may be reused: all of it was sent, or the remainder will not be sent.
  [[nodiscard]] bool done() const { return !unfinished_; }
  // Once done(): the receiver could not be reached.
  [[nodiscard]] bool failed() const { return transmission_.state == Transmission::State::failed; }
  // Once done(): it was stopped before all of the body was sent.
  [[nodiscard]] bool stopped() const { return transmission_.state == Transmission::State::stopped; }

 private:
  friend class Program;
  // The kernel's from start_put() until done().
  Transmission transmission_;
  bool unfinished_ = false;
};

}  // namespace margay::sim
