// The checksum of a closed trace file (docs/trace_format.md, Checksum). It covers all bytes that a reader uses.
#pragma once

#include <sodium.h>

#include <cstddef>
#include <cstdint>
#include <span>

#include "sim/trace/format.hpp"

namespace margay::sim {

// The process that closed the file: its rank, or the launcher after the rank had ended.
enum class TraceCloser : std::uint8_t { rank, launcher };

// An incremental computation of one file's checksum. BLAKE2b, cut to 64 bits: it detects damage, not forgery.
class TraceChecksum {
 public:
  // Begins with the header of a file that `closer` closed. The field for this checksum counts as 0. In the rank's
  // checksum, kTraceFlagClosed counts as set.
  TraceChecksum(TraceHeader header, TraceCloser closer);
  // Adds bytes, in pieces of any size, in this order: the names, the definitions, the ring's events, oldest first.
  void add(std::span<const std::byte> bytes);
  // The result. Never 0, because 0 means "none" in the file. To be called once.
  [[nodiscard]] std::uint64_t value();

 private:
  // libsodium's state of the computation; value() ends it.
  crypto_generichash_state state_;
};

}  // namespace margay::sim
