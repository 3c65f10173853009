// The choice of a message's protocol, and its reason. Paper 001, section 2: "A two-level protocol was decided upon at
// the outset to provide low latency for shorter messages and high bandwidth for larger ones."
#pragma once

#include "mpi_adi/device/parts.hpp"

namespace margay::mpi_adi {

// The shapes of a message's transfer. Standard, synchronous and buffered sends use the first three, ready sends the
// first and the last. Within a node a short message is up to 16 KiB, over TCP up to 64 KiB (sim/base/limits).
enum class SendShape : std::uint8_t {
  short_message,  // header and body; complete when the kernel has taken them
  long_message,   // header and body; the receiver pulls the body if it was not saved
  rendezvous,     // header only; the receiver always pulls the body
  ready_long,     // header and body, straight into the receive that must be posted
};

// The chosen shape, with its name and its reason for reports.
struct ProtocolChoice {
  SendShape shape = SendShape::short_message;
  sim::TraceProtocol protocol = sim::TraceProtocol::none;  // the name that traces and reports use
  sim::TraceChoice reason = sim::TraceChoice::none;        // why it was chosen, for the trace
};

// Selects the shape by send mode and size. A message of at most `short_limit` bytes, the wire's limit, is short. A
// longer ready message is ready_long, which needs no acknowledgment. All other messages take `long_protocol`. Pure.
[[nodiscard]] ProtocolChoice select_protocol(SendMode mode, std::uint64_t bytes, std::uint64_t short_limit,
                                             DeviceOptions::LongProtocol long_protocol);
// The same with the device's options and the limit of the wire to `peer`.
[[nodiscard]] inline ProtocolChoice select_protocol(const DeviceParts& parts, SendMode mode, std::uint64_t bytes,
                                                    std::uint32_t peer) {
  return select_protocol(mode, bytes, parts.short_limit(peer), parts.options.long_protocol);
}

}  // namespace margay::mpi_adi
