#include "command/run/stream/poller.hpp"

#include <sys/epoll.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <string>

namespace margay::command {

using portals::Status;

Poller::~Poller() {
  if (epoll_ >= 0) ::close(epoll_);
}

Status Poller::open() {
  epoll_ = ::epoll_create1(EPOLL_CLOEXEC);
  return epoll_ >= 0 ? Status() : Status::error(std::string("epoll: ") + std::strerror(errno));
}

bool Poller::watch(int descriptor, Event event, bool for_writing) {
  epoll_event wanted{};
  wanted.events = for_writing ? EPOLLOUT : EPOLLIN;
  // Kind and index fit in epoll's user data, so no table of descriptors is needed.
  wanted.data.u64 = (std::uint64_t{static_cast<std::uint32_t>(event.kind)} << 32) | event.index;
  // EPERM marks a regular file. EEXIST means that the descriptor is registered already, which suffices.
  return ::epoll_ctl(epoll_, EPOLL_CTL_ADD, descriptor, &wanted) == 0 || errno == EEXIST;
}

void Poller::remove(int descriptor) {
  ::epoll_ctl(epoll_, EPOLL_CTL_DEL, descriptor, nullptr);
}

void Poller::wait(int timeout_ms, std::vector<Event>& events) {
  std::array<epoll_event, 64> ready;
  events.clear();
  // After a signal the count is -1 and no event is returned; the caller's loop asks again.
  const int count = ::epoll_wait(epoll_, ready.data(), static_cast<int>(ready.size()), timeout_ms);
  for (int i = 0; i < count; ++i) {
    const std::uint64_t data = ready[static_cast<std::size_t>(i)].data.u64;
    events.push_back({static_cast<EventKind>(data >> 32), static_cast<std::uint32_t>(data)});
  }
}

std::int64_t signed_monotonic_ns() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

}  // namespace margay::command
