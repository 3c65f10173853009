// A thin layer over epoll: each descriptor has a kind and an index that its events return.
#pragma once

#include <cstdint>
#include <vector>

#include "portals/base/status.hpp"

namespace margay::command {

// The owner of a descriptor. signal: the launcher's signals. output, error, pmi: bytes from the rank `index`. sink:
// destination `index` has room. input: the launcher's standard input. input_pipe: reader `index` has room for input.
enum class EventKind : std::uint32_t { signal, output, error, pmi, sink, input, input_pipe };

// A ready descriptor.
struct Event {
  EventKind kind = EventKind::signal;
  std::uint32_t index = 0;
};

// Owns the epoll descriptor. Level-triggered.
class Poller {
 public:
  Poller() = default;
  Poller(const Poller&) = delete;
  Poller& operator=(const Poller&) = delete;
  ~Poller();

  // To be called once, before all others. Error: no descriptor.
  [[nodiscard]] portals::Status open();
  // Adds a descriptor. False if epoll does not accept it (a regular file), which then counts as always ready.
  bool watch(int descriptor, Event event, bool for_writing = false);
  // Removes a descriptor; no effect if it was not added.
  void remove(int descriptor);
  // Waits for events, at most `timeout_ms` (-1: without limit), and returns up to 64 in `events`; none on a signal.
  void wait(int timeout_ms, std::vector<Event>& events);

 private:
  int epoll_ = -1;
};

// Nanoseconds of CLOCK_MONOTONIC; signed, because callers compute differences and use negative values for "not set".
[[nodiscard]] std::int64_t signed_monotonic_ns();

}  // namespace margay::command
