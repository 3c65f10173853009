// The messages of one sender by datagrams: their parts are put together, repetitions are ignored, and each message is
// counted once, as delivered, dropped or lost. No I/O. One thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include "libraries/nexus/modules/message_law.hpp"
#include "libraries/nexus/modules/number_window.hpp"
#include "libraries/nexus/modules/udp_frame.hpp"

namespace margay::nexus::core {

// What accept() has done with a frame. `waiting`: other parts of its message are missing. `complete`: message() is
// available. `repeated`: the part arrived before, or its message is given up.
enum class UdpAccepted : std::uint8_t { waiting, complete, repeated };

class UdpIncoming {
 public:
  // The most messages of a sender of which only some parts have arrived. The oldest is given up, and is lost, when a
  // further one begins: a bound on memory.
  static constexpr std::size_t kIncompleteMost = 8;

  // Takes a frame of kind `data` of this sender. Requires: it is decoded and verified.
  [[nodiscard]] UdpAccepted accept(const UdpFrame& frame);
  // After `complete`: the whole message, in the frame's memory or this object's. Valid until the next accept().
  [[nodiscard]] std::span<const std::byte> message() const { return message_; }
  // Counts the complete message. One call for each `complete`.
  void count(MessageFate fate) { law_.count(fate); }
  // The sender's total: from now on, what has not arrived is lost. A smaller total than before is ignored.
  void end_at(std::uint64_t total);

  [[nodiscard]] MessageLaw law() const;
  [[nodiscard]] std::uint64_t repeated() const { return repeated_; }

 private:
  // A message of which some parts have arrived.
  struct Incomplete {
    std::uint64_t number = 0;
    std::vector<std::byte> bytes;
    std::vector<bool> has;
    std::size_t missing = 0;
  };

  [[nodiscard]] UdpAccepted accept_part(Incomplete& message, const UdpFrame& frame);

  NumberWindow window_;
  std::deque<Incomplete> incomplete_;  // at most kIncompleteMost, oldest first
  Incomplete finished_;                // owner of message_, unless that is the frame's memory
  std::span<const std::byte> message_;
  MessageLaw law_;  // `lost` is computed
  std::uint64_t total_ = 0;
  bool ended_ = false;
  std::uint64_t repeated_ = 0;
};

}  // namespace margay::nexus::core
