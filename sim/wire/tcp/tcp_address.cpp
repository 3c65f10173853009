#include "sim/wire/tcp/tcp_address.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <array>
#include <charconv>

namespace margay::sim {
namespace {

using portals::Status;

constexpr std::string_view kCardPrefix = "tcp#";
constexpr std::size_t kQuotedBytes = 80;  // of a card in an error sentence

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r\n";
  const std::size_t first = text.find_first_not_of(kBlank);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlank) - first + 1);
}

Status bad_card(std::string_view card, std::string_view why) {
  std::string quoted;
  for (const char c : card.substr(0, kQuotedBytes)) quoted += c >= ' ' && c <= '~' ? c : '?';
  return Status::error("TCP card '" + quoted + "' " + std::string(why) +
                       "; expected tcp#ADDRESS:PORT, e.g. tcp#127.0.0.1:41234");
}

bool any_address(const TcpAddress& address) {
  if (address.family() == AF_INET) {
    return reinterpret_cast<const sockaddr_in&>(address.storage).sin_addr.s_addr == htonl(INADDR_ANY);
  }
  return IN6_IS_ADDR_UNSPECIFIED(&reinterpret_cast<const sockaddr_in6&>(address.storage).sin6_addr) != 0;
}

}  // namespace

Status parse_host(std::string_view text, std::uint16_t port, TcpAddress& address) {
  address = TcpAddress{};
  const std::string host(text.substr(0, kQuotedBytes));
  auto& v4 = reinterpret_cast<sockaddr_in&>(address.storage);
  auto& v6 = reinterpret_cast<sockaddr_in6&>(address.storage);
  if (host.find('\0') != std::string::npos) return Status::error("address with a zero byte in it");
  if (inet_pton(AF_INET, host.c_str(), &v4.sin_addr) == 1) {
    v4.sin_family = AF_INET;
    v4.sin_port = htons(port);
    address.bytes = sizeof v4;
  } else if (inet_pton(AF_INET6, host.c_str(), &v6.sin6_addr) == 1) {
    v6.sin6_family = AF_INET6;
    v6.sin6_port = htons(port);
    address.bytes = sizeof v6;
  } else {
    return Status::error("'" + host + "' is not a numeric IPv4 or IPv6 address; give one, e.g. 127.0.0.1");
  }
  if (any_address(address)) return Status::error("'" + host + "' stands for every address; choose one of this host's");
  return {};
}

std::string address_text(const TcpAddress& address) {
  std::array<char, INET6_ADDRSTRLEN> host{};
  if (address.family() == AF_INET) {
    const auto& v4 = reinterpret_cast<const sockaddr_in&>(address.storage);
    inet_ntop(AF_INET, &v4.sin_addr, host.data(), host.size());
    return std::string(host.data()) + ":" + std::to_string(ntohs(v4.sin_port));
  }
  const auto& v6 = reinterpret_cast<const sockaddr_in6&>(address.storage);
  inet_ntop(AF_INET6, &v6.sin6_addr, host.data(), host.size());
  return "[" + std::string(host.data()) + "]:" + std::to_string(ntohs(v6.sin6_port));
}

std::string card_text(const TcpAddress& address) {
  return std::string(kCardPrefix) + address_text(address);
}

Status parse_card(std::string_view card, TcpAddress& address) {
  std::string_view rest = trimmed(card);
  if (!rest.starts_with(kCardPrefix)) return bad_card(card, "does not begin with tcp#");
  rest.remove_prefix(kCardPrefix.size());
  const std::size_t colon = rest.rfind(':');
  if (colon == std::string_view::npos) return bad_card(card, "has no port");
  std::string_view host = rest.substr(0, colon);
  const std::string_view digits = rest.substr(colon + 1);
  std::uint16_t port = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), port);
  if (error != std::errc{} || end != digits.data() + digits.size() || port == 0) {
    return bad_card(card, "has no port between 1 and 65535");
  }
  const bool bracketed = host.size() >= 2 && host.front() == '[' && host.back() == ']';
  if (bracketed) host = host.substr(1, host.size() - 2);
  if (!bracketed && host.find(':') != std::string_view::npos)
    return bad_card(card, "has an IPv6 address without brackets");
  const Status parsed = parse_host(host, port, address);
  return parsed.ok() ? parsed : bad_card(card, "has no usable address: " + parsed.sentence());
}

}  // namespace margay::sim
