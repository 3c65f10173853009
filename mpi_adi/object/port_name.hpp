// The name of a port, by which processes without a common communicator find each other (MPI 4.0, 11.9.1). Pure.
//
//   margay-port:2:JOB:PLACE:KEY:ADDRESS:CHECK
//   margay-port:2:00c0ffee00c0ffee:3:0123456789abcdef:127.0.0.1,41234:89abcdef
//
// All numbers but the place have their full width in lower-case hexadecimal digits. ADDRESS is that at which the
// process accepts connections of other jobs: host, comma, TCP port; or `-` if it accepts none. Users pass names by
// files and command lines, so a name has no white space and no character that a shell interprets. CHECK detects a
// damaged or truncated name; it does not protect against a name that was made on purpose (a port's key is random).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "portals/base/status.hpp"

namespace margay::mpi_adi {

// A port's name, decoded.
struct PortName {
  std::uint64_t job = 0;    // the job's identity (sim::Job::job_id)
  std::uint32_t place = 0;  // sim::Endpoint::place of the process that has opened the port
  std::uint64_t key = 0;    // random; identifies the port in that process
  std::string address;      // "127.0.0.1,41234", at most kPortAddressBytesMax; empty: not reachable from other jobs
  friend bool operator==(const PortName&, const PortName&) = default;
};

// The name as text; parse_port_name() decodes it again.
[[nodiscard]] std::string port_name_text(const PortName& name);
// The longest text of a name, without its zero: the fields, their separators, and a place of ten digits. The longest
// address is one of IPv6 with an interface.
inline constexpr std::size_t kPortAddressBytesMax = 72;
inline constexpr std::size_t kPortNameBytesMax = 12 + 1 + 16 + 10 + 16 + kPortAddressBytesMax + 8 + 5;
// Decodes a name, which may be any text. Fails, with the reason, unless it is exactly a text of port_name_text().
[[nodiscard]] portals::Status parse_port_name(std::string_view text, PortName& out);

// The address of a port's name, from the card of a TCP wire ("tcp#127.0.0.1:41234", "tcp#[::1]:41234"), and back. Empty
// for a text that is none.
[[nodiscard]] std::string port_address_of_card(std::string_view card);
[[nodiscard]] std::string card_of_port_address(std::string_view address);

}  // namespace margay::mpi_adi
