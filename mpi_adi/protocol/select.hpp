// Which protocol a message takes, and why. Paper 001, section 2: "A two-level protocol was decided upon at the outset
// to provide low latency for shorter messages and high bandwidth for larger ones."
#pragma once

#include "mpi_adi/device/parts.hpp"

namespace margay::mpi_adi {

// How the message travels; synchronous, ready and buffered are variants of these.
enum class SendShape : std::uint8_t {
  short_message,  // header and body, over when the kernel has them
  long_message,   // header and body, the receiver pulls the body when it was not saved
  rendezvous,     // header only, the receiver pulls
  ready_long,     // header and body, straight into the receive that must be there
};

struct ProtocolChoice {
  SendShape shape = SendShape::short_message;
  sim::TraceProtocol protocol = sim::TraceProtocol::none;  // the name that traces and reports use
  sim::TraceChoice reason = sim::TraceChoice::none;
};

// `short_limit`: the wire's, in bytes.
[[nodiscard]] ProtocolChoice select_protocol(SendMode mode, std::uint64_t bytes, std::uint64_t short_limit,
                                             DeviceOptions::LongProtocol long_protocol);
[[nodiscard]] inline ProtocolChoice select_protocol(const DeviceParts& parts, SendMode mode, std::uint64_t bytes,
                                                    std::uint32_t peer) {
  return select_protocol(mode, bytes, parts.short_limit(peer), parts.options.long_protocol);
}

}  // namespace margay::mpi_adi
