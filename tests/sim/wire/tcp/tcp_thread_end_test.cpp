#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include "tests/sim/tcp_set.hpp"
#include "tests/sim/wire_contract.hpp"

namespace margay::sim::test {
namespace {

// The number of operations that wait in the kernel, for all threads.
int armed(const Wire& wire) {
  std::ifstream reported("/proc/self/fdinfo/" + std::to_string(wire.wait_descriptor()));
  int operations = 0;
  bool listed = false;
  for (std::string line; std::getline(reported, line);) {
    if (line.starts_with("PollList")) {
      listed = true;
    } else if (listed && line.find("op=") == std::string::npos) {
      listed = false;
    }
    operations += listed && line.find("op=") != std::string::npos;
  }
  return operations;
}

void in_a_thread(const std::function<void()>& work) {
  std::thread(work).join();
}

}  // namespace

// The kernel cancels the armed operations of an ended thread in a worker, on a busy machine seconds after data arrived.
TEST_CASE("tcp: a thread that ends leaves no operation in the kernel, and others continue") {
  if (!probe_uring().ok()) return;
  Rig rig([](std::uint32_t ranks) { return std::make_unique<TcpSet>(ranks, TcpBackendChoice::uring); }, 2);
  std::uint64_t sent = 0;
  const auto exchange = [&](std::size_t bytes) {
    ++sent;
    for (std::uint32_t rank = 0; rank < 2; ++rank) rig[rank].send(1 - rank, numbered(sent), pattern_body(sent, bytes));
    REQUIRE(rig.until([&] { return rig[0].received.size() == sent && rig[1].received.size() == sent; }));
  };
  for (int round = 0; round < 20; ++round) {
    in_a_thread([&] {
      exchange(10);
      exchange(200'000);
      rig.drive_without(2, 2);
      CHECK(armed(rig[0].wire()) > 0);
      for (std::uint32_t rank = 0; rank < 2; ++rank) {
        rig[rank].wire().thread_ends();
        CHECK_EQ(armed(rig[rank].wire()), 0);
      }
    });
  }
  exchange(10);
  for (std::uint32_t rank = 0; rank < 2; ++rank) {
    for (std::uint64_t i = 0; i < sent; ++i) {
      const Received& message = rig[rank].received[i];
      CHECK_EQ(message.sequence, i + 1);
      CHECK(message.body == pattern_body(i + 1, message.body.size()));
    }
  }
}

// The thread's socket is full, so a part of the body waits in the kernel.
TEST_CASE("tcp: other threads continue the sends of a thread that ends") {
  if (!probe_uring().ok()) return;
  Rig rig([](std::uint32_t ranks) { return std::make_unique<TcpSet>(ranks, TcpBackendChoice::uring); }, 2);
  rig[0].send(1, numbered(1), pattern_body(1, 10));
  REQUIRE(rig.until([&] { return rig[1].received.size() == 1; }));
  constexpr std::size_t kBytes = std::size_t{32} << 20;
  const auto all_came = [&] { return rig[1].received.back().state == Received::State::complete; };
  for (std::uint64_t message = 2; message < 6; ++message) {
    rig[0].wire().thread_ends();  // this thread does not poll until the other has ended
    in_a_thread([&] {
      rig[0].send(1, numbered(message), pattern_body(message, kBytes));
      rig.drive_without(1, 20);
      rig[0].wire().thread_ends();
      CHECK_EQ(armed(rig[0].wire()), 0);
    });
    REQUIRE(rig.until([&] { return rig[1].received.size() == message && all_came(); }));
    CHECK(rig[1].received.back().body == pattern_body(message, kBytes));
  }
}

}  // namespace margay::sim::test
