#include "sim/wire/tcp/tcp_socket.hpp"

#include <linux/sockios.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <ctime>
#include <string_view>

#include "sim/wire/tcp/tcp_address.hpp"

namespace margay::sim {
namespace {

constexpr std::uint64_t kSecondNs = 1'000'000'000;
constexpr int kKeepIdleS = 5;
constexpr int kKeepIntervalS = 3;
constexpr int kKeepCount = 3;
// TCP_RTO_MAX_MS (Linux 6.15), which older headers lack: data that are lost, and a window that is closed, are asked
// about at least so often, so that a silent host shows within seconds, however long the window was closed before.
constexpr int kTcpRtoMaxMs = 44;
constexpr int kAskAgainMs = 3000;

// A refused option costs speed or time to notice a dead host, never correctness.
void set_option(int descriptor, int level, int option, int value) {
  static_cast<void>(setsockopt(descriptor, level, option, &value, sizeof value));
}

bool within_host(int descriptor) {
  TcpAddress own;
  TcpAddress peer;
  own.bytes = peer.bytes = sizeof own.storage;
  if (getsockname(descriptor, own.get(), &own.bytes) != 0 || getpeername(descriptor, peer.get(), &peer.bytes) != 0) {
    return false;
  }
  if (own.family() != peer.family()) return false;
  if (own.family() == AF_INET6) {
    const auto& one = reinterpret_cast<const sockaddr_in6&>(own.storage);
    const auto& other = reinterpret_cast<const sockaddr_in6&>(peer.storage);
    return std::memcmp(&one.sin6_addr, &other.sin6_addr, sizeof one.sin6_addr) == 0;
  }
  return reinterpret_cast<const sockaddr_in&>(own.storage).sin_addr.s_addr ==
         reinterpret_cast<const sockaddr_in&>(peer.storage).sin_addr.s_addr;
}

constexpr std::string_view kNoWatches =
    " (this user's limit of descriptors that are watched, /proc/sys/fs/epoll/max_user_watches)";
constexpr std::string_view kNoMemory = " (the kernel's memory, or that of this control group)";
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
  set_option(descriptor, IPPROTO_TCP, TCP_NODELAY, 1);
  set_option(descriptor, SOL_SOCKET, SO_KEEPALIVE, 1);
  set_option(descriptor, IPPROTO_TCP, TCP_KEEPIDLE, kKeepIdleS);
  set_option(descriptor, IPPROTO_TCP, TCP_KEEPINTVL, kKeepIntervalS);
  set_option(descriptor, IPPROTO_TCP, TCP_KEEPCNT, kKeepCount);
  set_option(descriptor, IPPROTO_TCP, kTcpRtoMaxMs, kAskAgainMs);
}

void tune_for_long_bodies(int descriptor) {
  constexpr std::string_view kPlain = "reno";  // in every kernel, and allowed to everybody
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

}  // namespace margay::sim
