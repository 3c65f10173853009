// Tests of the deadlines of connections, on a virtual clock.
#include "sim/wire/tcp/tcp_connector.hpp"

#include <doctest/doctest.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>

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

}  // namespace margay::sim::test
