// The law of a method that may lose messages: sent = delivered + dropped + passed + lost, for each sender and receiver.
// The kernel's accounting law does not cover such messages, because they pass no portal.
#pragma once

#include <cstdint>

namespace margay::nexus::core {

// The fate of a message that has arrived.
enum class MessageFate : std::uint8_t { delivered, dropped, passed };

// Counts of messages. A receiver has one for each sender, and the sender gets a copy of it at the end.
struct MessageLaw {
  std::uint64_t delivered = 0;
  // Arrived, but not delivered: the receiver had no use for it.
  std::uint64_t dropped = 0;
  // Arrived by multicast, but addressed to other contexts only.
  std::uint64_t passed = 0;
  // Not arrived, or not completely. Before the sender's total is known: the gaps in the numbers so far.
  std::uint64_t lost = 0;
  void count(MessageFate fate) {
    ++(fate == MessageFate::delivered ? delivered : fate == MessageFate::dropped ? dropped : passed);
  }
  // Those that have arrived.
  [[nodiscard]] std::uint64_t arrived() const { return delivered + dropped + passed; }
  [[nodiscard]] std::uint64_t sum() const { return arrived() + lost; }
};

}  // namespace margay::nexus::core
