// The law of a method that may lose messages: sent = delivered + dropped + lost, for each sender and receiver. The
// kernel's accounting law does not cover such messages, because they pass no portal.
#pragma once

#include <cstdint>

namespace margay::nexus {

// Counts of messages. A receiver has one for each sender, and the sender gets a copy of it at the end.
struct MessageLaw {
  std::uint64_t delivered = 0;
  // Arrived, but not delivered: the receiver had no use for it.
  std::uint64_t dropped = 0;
  // Not arrived, or not completely. Before the sender's total is known: the gaps in the numbers so far.
  std::uint64_t lost = 0;
  [[nodiscard]] std::uint64_t sum() const { return delivered + dropped + lost; }
};

}  // namespace margay::nexus
