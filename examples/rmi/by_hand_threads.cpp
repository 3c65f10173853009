// By threads: "an atomic shared variable update as the message, with ordering preserved by busy-waiting" (paper 004,
// 7.1), in two readings; the barrier of the C++ library, and a sum beside a barrier of one counter.
#include <array>
#include <atomic>
#include <barrier>
#include <cstdint>
#include <margay/rmi.hpp>
#include <stdexcept>
#include <thread>

#include "by_hand.hpp"

namespace by_hand {
namespace {

namespace rmi = margay::rmi;

constexpr int kSpins = 2000;  // before a thread gives its processor away, which others may wait for

template <class Condition>
void wait_until(Condition&& holds) {
  for (int spin = 0; !holds(); ++spin) {
    if (spin < kSpins)
      __builtin_ia32_pause();
    else
      std::this_thread::yield();
  }
}

// A cache line of its own.
struct alignas(64) Shared {
  std::atomic<std::int64_t> value = 0;
};

// Each ping is an update, and the last one is awaited: no update waits for the receiver.
void play_counter(int count) {
  static Shared pings, pongs;
  if (rmi::get_node_id() == 0) {
    const std::int64_t before = pongs.value;
    for (int i = 0; i < count; ++i) pings.value.fetch_add(1);
    return wait_until([&] { return pongs.value != before; });
  }
  static thread_local std::int64_t expected = 0;
  expected += count;
  wait_until([&] { return pings.value == expected; });
  pongs.value.fetch_add(1);
}

// Each ping carries a number that the receiver takes before the next one, so that none overtakes or overwrites another.
void play_flag(int count) {
  static Shared ping, pongs;  // ping: 0, or the pings that are left, this one included
  if (rmi::get_node_id() == 0) {
    const std::int64_t before = pongs.value;
    for (std::int64_t left = count; left > 0; --left) {
      wait_until([&] { return ping.value == 0; });
      ping.value = left;
    }
    return wait_until([&] { return pongs.value != before; });
  }
  for (std::int64_t left = count; left > 0; --left) {
    wait_until([&] { return ping.value != 0; });
    if (ping.value != left) throw std::runtime_error("a ping of the threads is lost or out of order");
    ping.value = 0;
  }
  pongs.value.fetch_add(1);
}

void barrier() {
  static std::barrier all(rmi::get_num_nodes());
  all.arrive_and_wait();
}

// A central barrier with sense reversal, whose sense is the number of the round. Sums of three rounds take turns, so
// that one is cleared while nobody adds to it or reads it.
void sum() {
  static Shared arrived, round;
  static std::array<Shared, 3> sums;
  const std::int64_t mine = round.value, nodes = rmi::get_num_nodes();
  std::atomic<std::int64_t>& total = sums[static_cast<std::size_t>(mine % 3)].value;
  total.fetch_add(rmi::get_node_id() + 1);
  if (arrived.value.fetch_add(1) == nodes - 1) {
    arrived.value = 0;
    sums[static_cast<std::size_t>((mine + 1) % 3)].value = 0;
    round.value = mine + 1;
  } else {
    wait_until([&] { return round.value != mine; });
  }
  if (total != nodes * (nodes + 1) / 2) throw std::runtime_error("the threads' sum is wrong");
}

}  // namespace

std::span<const PingPong> ping_pongs() {
  static constexpr std::array<PingPong, 2> kAll{{{"atomic counter", play_counter}, {"atomic flag", play_flag}}};
  return kAll;
}

std::span<const Barrier> barriers() {
  static constexpr std::array<Barrier, 2> kAll{{{"std::barrier", barrier}, {"atomic sum", sum}}};
  return kAll;
}

bool is_by_threads() {
  return true;
}

int run(int argc, char** argv, int (*program)(int, char**)) {
  return rmi::run(argc, argv, program);
}

}  // namespace by_hand
