// The checksum of a closed trace file (docs/trace_format.md, Checksum): of all that a reader reads.
#pragma once

#include <sodium.h>

#include <cstddef>
#include <cstdint>
#include <span>

#include "sim/trace/format.hpp"

namespace margay::sim {

enum class TraceCloser : std::uint8_t { rank, launcher };

class TraceChecksum {
 public:
  // Begins with the header as it is to lie in a file closed by `closer`; the checksum in it does not matter, of the
  // rank's whether it says closed neither.
  TraceChecksum(TraceHeader header, TraceCloser closer);
  // Then the names, the definitions, and the ring's events, oldest first; in pieces of any size.
  void add(std::span<const std::byte> bytes);
  // Never 0. Call once.
  [[nodiscard]] std::uint64_t value();

 private:
  crypto_generichash_state state_;
};

}  // namespace margay::sim
