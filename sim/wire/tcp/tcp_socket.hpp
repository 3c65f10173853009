// Sockets and their addresses: small operations that the TCP wire's parts share. Internal to sim/wire/tcp.
#pragma once

#include <sys/socket.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "portals/base/status.hpp"
#include "sim/base/clock.hpp"

namespace margay::sim {

// What an event of the connector's epoll set is about: the kind in the upper half of the word, an index in the lower.
enum class ConnectorMark : std::uint32_t { listener, half_open, dial, timer };
[[nodiscard]] inline std::uint64_t mark_of(ConnectorMark kind, std::size_t index) {
  return static_cast<std::uint64_t>(kind) << 32 | static_cast<std::uint32_t>(index);
}

// What the kernel says of a descriptor that is not what it was when it was made: "Bad file descriptor; has the program
// closed ...". Other errors: the kernel's words, with the limit that was reached.
[[nodiscard]] std::string watch_failure_text(int error_number);
// Whether a connection was lost, in these words, by this very process.
[[nodiscard]] bool is_own_failure(std::string_view loss);

// Closes `descriptor` unless it is negative, and makes it -1.
void close_if_open(int& descriptor);
// No delay for small segments; a silent connection asks after its peer (5 s, then 3 times each 3 s). No
// TCP_USER_TIMEOUT: with it a merely stopped peer, whose window is closed, is declared dead (tcp_silence does better).
void tune_socket(int descriptor);

// Bytes that were given to a connection and that its peer's kernel has not acknowledged; 0 where that is not known.
[[nodiscard]] int unacknowledged_bytes(int descriptor);
// Bytes that have come and that this process has not fetched.
[[nodiscard]] int unread_bytes(int descriptor);
// Long bodies will leave by this connection. Between two ends on one host nothing is ever congested, so the kernel's
// plain Reno serves as congestion control there: where the system's is BBR, its pacing costs a stream a quarter of its
// speed. (It makes short messages 3 % faster, so a connection without long bodies keeps it.) Between hosts: nothing.
void tune_for_long_bodies(int descriptor);
// One shot in `in_ns` from now; 0: never.
void arm_timer(int timer, std::uint64_t in_ns);
void drain_timer(int timer);

// Where a rank listens, as text and as a socket address.

// A numeric IPv4 or IPv6 address and a port; never a name, so that nothing is ever looked up.
struct TcpAddress {
  sockaddr_storage storage{};
  socklen_t bytes = 0;

  [[nodiscard]] const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage); }
  [[nodiscard]] sockaddr* get() { return reinterpret_cast<sockaddr*>(&storage); }
  [[nodiscard]] int family() const { return storage.ss_family; }
};

// "127.0.0.1", "::1". Errors: not a numeric address; the any-address (a rank listens on one chosen address).
[[nodiscard]] portals::Status parse_host(std::string_view text, std::uint16_t port, TcpAddress& address);
// "127.0.0.1:41234", "[::1]:41234"
[[nodiscard]] std::string address_text(const TcpAddress& address);
// "tcp#127.0.0.1:41234", what a rank publishes.
[[nodiscard]] std::string card_text(const TcpAddress& address);
// The reverse. Surrounding blanks are allowed; anything else that is odd is an error that quotes the card.
[[nodiscard]] portals::Status parse_card(std::string_view card, TcpAddress& address);

}  // namespace margay::sim
