#include "sim/wire/tcp/tcp_socket.hpp"

#include <arpa/inet.h>
#include <linux/sockios.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <ctime>
#include <string_view>

namespace margay::sim {

namespace {

constexpr std::uint64_t kSecondNs = 1'000'000'000;
// Keepalive probes: the first after 5 s of silence, then one each 3 s. After three probes without an answer the
// connection is lost.
constexpr int kKeepIdleS = 5;
constexpr int kKeepIntervalS = 3;
constexpr int kKeepCount = 3;
// TCP_RTO_MAX_MS (Linux 6.15), which older headers lack: the longest interval between retransmissions, and between
// probes of a closed window. It is short, so that a silent host is detected within seconds, however long the window was
// closed before.
constexpr int kTcpRtoMaxMs = 44;
constexpr int kAskAgainMs = 3000;

// A refused option costs speed, or time to detect a dead host, but never correctness.
void set_option(int descriptor, int level, int option, int value) {
  static_cast<void>(setsockopt(descriptor, level, option, &value, sizeof value));
}

// Whether both ends have the same address.
bool within_host(int descriptor) {
  TcpAddress own;
  TcpAddress peer;
  own.bytes = peer.bytes = sizeof own.storage;
  if (getsockname(descriptor, own.get(), &own.bytes) != 0 || getpeername(descriptor, peer.get(), &peer.bytes) != 0) {
    return false;
  }
  // The addresses of different families cannot be compared.
  if (own.family() != peer.family()) return false;
  if (own.family() == AF_INET6) {
    const auto& one = reinterpret_cast<const sockaddr_in6&>(own.storage);
    const auto& other = reinterpret_cast<const sockaddr_in6&>(peer.storage);
    return std::memcmp(&one.sin6_addr, &other.sin6_addr, sizeof one.sin6_addr) == 0;
  }
  return reinterpret_cast<const sockaddr_in&>(own.storage).sin_addr.s_addr ==
         reinterpret_cast<const sockaddr_in&>(peer.storage).sin_addr.s_addr;
}

// The endings of watch_failure_text(). By them is_own_failure() recognises a loss by a failure of this process.
constexpr std::string_view kNoWatches =
    " (this user's limit of descriptors that are watched, /proc/sys/fs/epoll/max_user_watches)";
constexpr std::string_view kNoMemory =
    " (the operating system's memory, or the limit of this control group, is used up)";
constexpr std::string_view kClosed = "; has the program closed file descriptors that it did not open?";

}  // namespace

std::string watch_failure_text(int error_number) {
  std::string text = std::strerror(error_number);
  switch (error_number) {
    case ENOSPC:
      return text.append(kNoWatches);
    case ENOMEM:
      return text.append(kNoMemory);
    default:
      return text.append(kClosed);
  }
}

bool is_own_failure(std::string_view loss) {
  return loss.ends_with(kNoWatches) || loss.ends_with(kNoMemory) || loss.ends_with(kClosed);
}

void close_if_open(int& descriptor) {
  if (descriptor >= 0) close(descriptor);
  descriptor = -1;
}

int unread_bytes(int descriptor) {
  int bytes = 0;
  return ioctl(descriptor, FIONREAD, &bytes) == 0 ? bytes : 0;
}

int unacknowledged_bytes(int descriptor) {
  int bytes = 0;
  return ioctl(descriptor, SIOCOUTQ, &bytes) == 0 ? bytes : 0;
}

void tune_socket(int descriptor) {
  // No delay, because the wire gathers short messages itself.
  set_option(descriptor, IPPROTO_TCP, TCP_NODELAY, 1);
  set_option(descriptor, SOL_SOCKET, SO_KEEPALIVE, 1);
  set_option(descriptor, IPPROTO_TCP, TCP_KEEPIDLE, kKeepIdleS);
  set_option(descriptor, IPPROTO_TCP, TCP_KEEPINTVL, kKeepIntervalS);
  set_option(descriptor, IPPROTO_TCP, TCP_KEEPCNT, kKeepCount);
  set_option(descriptor, IPPROTO_TCP, kTcpRtoMaxMs, kAskAgainMs);
}

void tune_for_long_bodies(int descriptor) {
  // Reno is in every Linux kernel, and permitted to every user.
  constexpr std::string_view kPlain = "reno";
  if (!within_host(descriptor)) return;
  static_cast<void>(setsockopt(descriptor, IPPROTO_TCP, TCP_CONGESTION, kPlain.data(), kPlain.size()));
}

void arm_timer(int timer, std::uint64_t in_ns) {
  itimerspec when{};
  when.it_value.tv_sec = static_cast<time_t>(in_ns / kSecondNs);
  when.it_value.tv_nsec = static_cast<long>(in_ns % kSecondNs);
  timerfd_settime(timer, 0, &when, nullptr);
}

void drain_timer(int timer) {
  std::uint64_t expirations = 0;
  static_cast<void>(!read(timer, &expirations, sizeof expirations));
}

namespace {

using portals::Status;

constexpr std::string_view kCardPrefix = "tcp#";
// The most bytes of a card or an address that an error message quotes.
constexpr std::size_t kQuotedBytes = 80;

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r\n";
  const std::size_t first = text.find_first_not_of(kBlank);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlank) - first + 1);
}

Status bad_card(std::string_view card, std::string_view why) {
  std::string quoted;
  // A card may have any content, and control characters must not reach a terminal.
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
  // inet_pton() would stop at a zero byte and accept the part before it.
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
  // The last colon, because an IPv6 address contains others.
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
