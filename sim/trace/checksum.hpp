// The checksum of a closed trace file (docs/trace_format.md, Checksum): it covers everything that a reader reads.
#pragma once

#include <sodium.h>

#include <cstddef>
#include <cstdint>
#include <span>

#include "sim/trace/format.hpp"

namespace margay::sim {

// The process that closed the file: its rank, or the launcher after the rank's death.
enum class TraceCloser : std::uint8_t { rank, launcher };

// An incremental computation of one file's checksum. BLAKE2b, cut to 64 bits: it detects damage, not forgery.
class TraceChecksum {
 public:
  // Begins with the header of a file closed by `closer`. Its checksum field is ignored, and so is the rank's closed
  // flag.
  TraceChecksum(TraceHeader header, TraceCloser closer);
  // Adds the names, then the definitions, then the ring's events, oldest first, in pieces of any size.
  void add(std::span<const std::byte> bytes);
  // The result; never 0, which means "none" in the file. Call once.
  [[nodiscard]] std::uint64_t value();

 private:
  // libsodium's; value() ends it.
  crypto_generichash_state state_;
};

}  // namespace margay::sim
