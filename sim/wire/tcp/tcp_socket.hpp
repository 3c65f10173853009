// Operations on sockets, timers and addresses that the parts of the TCP wire share. Internal to sim/wire/tcp.
#pragma once

#include <sys/socket.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "portals/base/status.hpp"
#include "sim/base/clock.hpp"

namespace margay::sim {

// The object of an event in the connector's epoll set. mark_of() packs it into a word: its kind in the upper half, an
// index in the lower half.
enum class ConnectorMark : std::uint32_t { listener, half_open, dial, timer };
[[nodiscard]] inline std::uint64_t mark_of(ConnectorMark kind, std::size_t index) {
  return static_cast<std::uint64_t>(kind) << 32 | static_cast<std::uint32_t>(index);
}

// The text for a failure to monitor a descriptor. ENOSPC and ENOMEM: the operating system's text, with the limit that
// was reached. Other errors, which mean that the program has closed or replaced the descriptor: "Bad file descriptor;
// has the program closed ...".
[[nodiscard]] std::string watch_failure_text(int error_number);
// Whether `loss` reports a failure of this process itself, by watch_failure_text().
[[nodiscard]] bool is_own_failure(std::string_view loss);

// Closes `descriptor` unless it is negative, and makes it -1.
void close_if_open(int& descriptor);
// Disables the delay of small segments, and enables probes of a silent connection: three probes, one each 3 s, after 5
// s of silence. Does not set TCP_USER_TIMEOUT, which ends the connection to a merely stopped peer, whose window is
// closed. tcp_silence detects dead hosts instead.
void tune_socket(int descriptor);

// Number of sent bytes that the peer's operating system has not acknowledged; 0 if that is unknown.
[[nodiscard]] int unacknowledged_bytes(int descriptor);
// Number of bytes that have arrived and that this process has not read; 0 if that is unknown.
[[nodiscard]] int unread_bytes(int descriptor);
// Prepares a connection for long bodies. If both ends are on one host, sets plain Reno as congestion control, because
// there is no congestion within a host. If the system's default is BBR, its pacing would cost a stream a quarter of its
// speed. (BBR makes short messages 3 % faster, so a connection without long bodies keeps it.) Does not change a
// connection between hosts.
void tune_for_long_bodies(int descriptor);
// Arms a timer descriptor once, `in_ns` from now; 0: disarms it.
void arm_timer(int timer, std::uint64_t in_ns);
// Reads the expirations of a timer, so that the descriptor is not readable any more.
void drain_timer(int timer);

// A rank's listening address, as text and as a socket address.

// A numeric IPv4 or IPv6 address and a port. It is never a host name, so no lookup is needed.
struct TcpAddress {
  sockaddr_storage storage{};
  socklen_t bytes = 0;

  [[nodiscard]] const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage); }
  [[nodiscard]] sockaddr* get() { return reinterpret_cast<sockaddr*>(&storage); }
  [[nodiscard]] int family() const { return storage.ss_family; }
};

// Parses "127.0.0.1" or "::1". Fails for an address that is not numeric and for the any-address, because a rank listens
// on one chosen address.
[[nodiscard]] portals::Status parse_host(std::string_view text, std::uint16_t port, TcpAddress& address);
// "127.0.0.1:41234", "[::1]:41234"
[[nodiscard]] std::string address_text(const TcpAddress& address);
// "tcp#127.0.0.1:41234", the form that a rank publishes.
[[nodiscard]] std::string card_text(const TcpAddress& address);
// Parses the form of card_text(). Surrounding blanks are permitted; any other deviation fails with a message that
// quotes the card.
[[nodiscard]] portals::Status parse_card(std::string_view card, TcpAddress& address);

}  // namespace margay::sim
