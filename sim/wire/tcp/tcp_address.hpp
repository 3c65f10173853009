// Where a rank listens, as text and as a socket address.
#pragma once

#include <sys/socket.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "portals/base/status.hpp"

namespace margay::sim {

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
