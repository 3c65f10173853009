#include "sim/wire/tcp_socket.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <ctime>

namespace margay::sim {
namespace {

constexpr std::uint64_t kSecondNs = 1'000'000'000;
constexpr int kKeepIdleS = 5;
constexpr int kKeepIntervalS = 3;
constexpr int kKeepCount = 3;

// A refused option costs speed or time to notice a dead host, never correctness.
void set_option(int descriptor, int level, int option, int value) {
  static_cast<void>(setsockopt(descriptor, level, option, &value, sizeof value));
}

}  // namespace

void close_if_open(int& descriptor) {
  if (descriptor >= 0) close(descriptor);
  descriptor = -1;
}

void tune_socket(int descriptor) {
  set_option(descriptor, IPPROTO_TCP, TCP_NODELAY, 1);
  set_option(descriptor, SOL_SOCKET, SO_KEEPALIVE, 1);
  set_option(descriptor, IPPROTO_TCP, TCP_KEEPIDLE, kKeepIdleS);
  set_option(descriptor, IPPROTO_TCP, TCP_KEEPINTVL, kKeepIntervalS);
  set_option(descriptor, IPPROTO_TCP, TCP_KEEPCNT, kKeepCount);
}

void arm_timer(int timer, std::uint64_t at_ns) {
  itimerspec when{};
  when.it_value.tv_sec = static_cast<time_t>(at_ns / kSecondNs);
  when.it_value.tv_nsec = static_cast<long>(at_ns % kSecondNs);
  timerfd_settime(timer, TFD_TIMER_ABSTIME, &when, nullptr);
}

void drain_timer(int timer) {
  std::uint64_t expirations = 0;
  static_cast<void>(!read(timer, &expirations, sizeof expirations));
}

}  // namespace margay::sim
