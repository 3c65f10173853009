// A state of the model of window locks (tests/sim/shm/window_lock_model_test.cpp).
#pragma once

#include <algorithm>

#include "tests/sim/window_lock_steps.hpp"

namespace margay::sim::test {

inline constexpr std::uint32_t kRemote = 2;  // the member that uses messages, if one does
inline constexpr std::uint32_t kDevice = kLockMembers;

// `inside` and the following states: it has the lock. The last two are of the remote member.
enum LockPhase : std::uint8_t { idle, awake, asleep, inside, has_put, flushing };
enum LockMessage : std::uint8_t { none, ask_shared, ask_exclusive, put, flush, unlock, granted, flushed };

template <std::size_t kRoom>
struct Channel {
  std::array<std::uint8_t, kRoom> messages{};

  void send(std::uint8_t message) {
    const auto room = std::ranges::find(messages, std::uint8_t{none});
    REQUIRE(room != messages.end());
    *room = message;
  }
  std::uint8_t take() {
    const std::uint8_t first = messages[0];
    std::shift_left(messages.begin(), messages.end(), 1);
    messages.back() = none;
    return first;
  }
  [[nodiscard]] bool has(std::uint8_t message) const { return std::ranges::find(messages, message) != messages.end(); }
};

// Bytes without padding. Masks are of members or actors.
struct LockWorld {
  SmallLock lock;
  std::array<std::uint8_t, kLockMembers> phase{};
  std::array<std::uint8_t, kLockMembers> wish{};   // kind
  std::array<std::uint8_t, kLockMembers> order{};  // of requests, 1 is the earliest unfinished one
  std::uint8_t dead = 0;
  std::uint8_t bells = 0;
  std::array<std::uint8_t, kLockActors> to_notify{};  // notifications to send
  std::array<std::uint8_t, kLockActors> to_bury{};    // members to withdraw
  Channel<8> to_device;
  Channel<4> to_origin;
  std::uint8_t device_waits = 0;  // the remote member is one of Window::waiting
  std::uint8_t deaths_left = 0;
};
static_assert(sizeof(LockWorld) == sizeof(SmallLock) + 3 * kLockMembers + 2 + 2 * kLockActors + 12 + 2);

}  // namespace margay::sim::test
