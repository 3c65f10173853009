// Tests of the deadlines of connections, on a virtual clock, and of numbers that begin anew.
#include "sim/wire/tcp/tcp_connector.hpp"

#include <doctest/doctest.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <functional>
#include <optional>
#include <vector>

#include "tests/sim/tcp_set.hpp"

namespace margay::sim::test {
namespace {

class ForeignClient {
 public:
  explicit ForeignClient(const TcpAddress& address) : socket_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    REQUIRE(connect(socket_, address.get(), address.bytes) == 0);
  }
  ~ForeignClient() { close(socket_); }
  ForeignClient(const ForeignClient&) = delete;
  ForeignClient& operator=(const ForeignClient&) = delete;
  // Whether the other side has closed the connection.
  [[nodiscard]] bool dropped() const {
    std::array<char, 256> bytes;
    ssize_t got = 1;
    while (got > 0) got = recv(socket_, bytes.data(), bytes.size(), MSG_DONTWAIT);
    return got == 0 || errno != EAGAIN;
  }

 private:
  int socket_;
};

}  // namespace

TEST_CASE("tcp connector: a silent peer is dropped after a second of the connector's clock") {
  const JobSecret secret = secret_of(1);
  VirtualClock clock(kHalfOpenNs);
  TcpConnector connector({{7, 0}, {false, true}}, secret, clock);
  REQUIRE(connector.listen("127.0.0.1").ok());
  const ForeignClient first(connector.local());
  connector.progress();
  clock.advance_ns(kHalfOpenNs - 1);
  const ForeignClient second(connector.local());
  connector.progress();
  CHECK_FALSE(first.dropped());
  clock.advance_ns(1);
  const ForeignClient third(connector.local());
  connector.progress();
  CHECK(first.dropped());
  CHECK_FALSE(second.dropped());
}

namespace {

// Two connectors of different jobs. The right one is number 2 at the left, and the left one is number 1 at the right.
struct GuestConnectors {
  GuestConnectors() {
    REQUIRE(left.listen("127.0.0.1").ok());
    REQUIRE(right.listen("127.0.0.1").ok());
  }
  void dial() { left.dial(2, {200, 0}, right.local()); }
  // Drives both until the left one has no dial any more, or `done`.
  void drive(const std::function<bool()>& done = [] { return false; }) {
    const auto end = std::chrono::steady_clock::now() + kGuard;
    while (left.dialing() && !done() && std::chrono::steady_clock::now() < end) {
      for (TcpConnector* connector : {&left, &right}) {
        pollfd ready{connector->descriptor(), POLLIN, 0};
        if (poll(&ready, 1, 1) == 1) connector->progress();
      }
    }
  }

  JobSecret key = secret_of(3);
  int asked = 0;
  TcpConnector left{
      {{100, 0}, std::vector<bool>(4, true), [](const sim::Endpoint&) { return std::nullopt; }}, key, real_clock()};
  TcpConnector right{{{200, 0},
                      std::vector<bool>(4, true),
                      [this](const sim::Endpoint& endpoint) -> std::optional<std::uint32_t> {
                        ++asked;
                        return endpoint == sim::Endpoint{100, 0} ? std::optional<std::uint32_t>(1) : std::nullopt;
                      }},
                     key,
                     real_clock()};
};

}  // namespace

TEST_CASE("tcp connector: a forgotten number begins anew, in each state") {
  TcpConnector::Outcome outcome;
  {
    GuestConnectors pair;
    pair.dial();
    CHECK(pair.left.dialing());
    pair.left.forget(2);
    CHECK_FALSE(pair.left.dialing());
    CHECK_FALSE(pair.left.take(outcome));
  }
  GuestConnectors pair;
  // Connected: the outcomes of both sides wait, and are discarded with their connection.
  for (int round = 1; round <= 3; ++round) {
    pair.dial();
    pair.drive();
    CHECK_EQ(pair.asked, round);
    CHECK(pair.left.listening());
    CHECK(pair.right.listening());
    pair.left.forget(2);
    pair.right.forget(1);
    CHECK_FALSE(pair.left.take(outcome));
    CHECK_FALSE(pair.right.take(outcome));
  }
  // Failed.
  pair.left.dial(2, {200, 0}, TcpAddress());
  REQUIRE(pair.left.take(outcome));
  CHECK_FALSE(outcome.failure.empty());
  pair.dial();
  CHECK_FALSE(pair.left.dialing());
  pair.left.forget(2);
  pair.dial();
  pair.drive();
  REQUIRE(pair.left.take(outcome));
  REQUIRE_GE(outcome.descriptor, 0);
  CHECK_EQ(outcome.peer, 2);
  close(outcome.descriptor);
  REQUIRE(pair.right.take(outcome));
  REQUIRE_GE(outcome.descriptor, 0);
  CHECK_EQ(outcome.peer, 1);
  close(outcome.descriptor);
}

TEST_CASE("tcp connector: a connection that ends before its deadline does not delay wake_at()") {
  const JobSecret secret = secret_of(1);
  TcpConnector connector({{7, 0}, {false, true}}, secret, real_clock());
  REQUIRE(connector.listen("127.0.0.1").ok());
  const auto is_ready = [&connector] {
    pollfd ready{connector.descriptor(), POLLIN, 0};
    return poll(&ready, 1, std::chrono::milliseconds(kGuard).count()) == 1;
  };
  {
    const ForeignClient client(connector.local());
    REQUIRE(is_ready());
    connector.progress();
  }
  const std::uint64_t wake_ns = real_clock().now_ns() + kHalfOpenNs + kHalfOpenNs / 10;
  connector.wake_at(wake_ns);
  // The end of the client, perhaps its former deadline, and then the time.
  while (real_clock().now_ns() < wake_ns) {
    REQUIRE(is_ready());
    connector.progress();
  }
}

TEST_CASE("tcp connector: a process that expects another one at the address is never asked about") {
  GuestConnectors pair;
  pair.left.dial(2, {200, 3}, pair.right.local());
  TcpConnector::Outcome outcome;
  pair.drive();
  REQUIRE(pair.left.take(outcome));
  CHECK_LT(outcome.descriptor, 0);
  CHECK_EQ(pair.asked, 0);
}

}  // namespace margay::sim::test
