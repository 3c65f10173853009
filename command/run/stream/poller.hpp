// A thin epoll: descriptors with a kind and a number of the caller's.
#pragma once

#include <cstdint>
#include <vector>

#include "portals/base/status.hpp"

namespace margay::command {

enum class EventKind : std::uint32_t { kSignal, kOutput, kError, kPmi, kSink, kInput, kInputPipe };

struct Event {
  EventKind kind = EventKind::kSignal;
  std::uint32_t index = 0;
};

class Poller {
 public:
  Poller() = default;
  Poller(const Poller&) = delete;
  Poller& operator=(const Poller&) = delete;
  ~Poller();

  [[nodiscard]] portals::Status open();
  // False when epoll does not take this descriptor (a regular file): it is always ready.
  bool watch(int descriptor, Event event, bool for_writing = false);
  void forget(int descriptor);
  // Waits for events, at most `timeout_ms` (-1: for ever), and gives them in `events`.
  void wait(int timeout_ms, std::vector<Event>& events);

 private:
  int epoll_ = -1;
};

// Nanoseconds of CLOCK_MONOTONIC, signed: watches compute with differences and with "not yet" below zero.
[[nodiscard]] std::int64_t signed_monotonic_ns();

}  // namespace margay::command
