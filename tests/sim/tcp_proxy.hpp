// A proxy between two TCP wires, for tests. It listens on a port of its own and forwards bytes in both directions, in
// pieces that the test sets; it can flip a bit of a byte, or break the connection. The test's thread drives it, in
// turn with the wires.
#pragma once

#include <arpa/inet.h>
#include <doctest/doctest.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "sim/wire/tcp/tcp_socket.hpp"

namespace margay::sim::test {

class TcpProxy {
 public:
  struct Behaviour {
    std::function<std::size_t()> piece = [] { return std::size_t{65'536}; };  // the length of the next piece
    std::uint64_t flip_at = ~std::uint64_t{0};   // offset in the bytes to the real port; all ones: never
    std::uint64_t close_at = ~std::uint64_t{0};  // after that many of them
    bool reset = false;                          // close_at breaks off with a reset instead of an end of stream
    bool silent = false;                         // forwards nothing for now
  };

  explicit TcpProxy(const std::string& card) {
    REQUIRE(parse_card(card, target_).ok());
    REQUIRE(parse_host("127.0.0.1", 0, own_).ok());
    listener_ = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    REQUIRE(bind(listener_, own_.get(), own_.bytes) == 0);
    REQUIRE(listen(listener_, 16) == 0);
    own_.bytes = sizeof own_.storage;
    REQUIRE(getsockname(listener_, own_.get(), &own_.bytes) == 0);
  }
  TcpProxy(const TcpProxy&) = delete;
  TcpProxy& operator=(const TcpProxy&) = delete;
  ~TcpProxy() {
    for (Pair& pair : pairs_) hang_up(pair);
    close(listener_);
  }

  Behaviour behaviour;
  [[nodiscard]] std::string card() const { return card_text(own_); }
  [[nodiscard]] std::uint64_t carried() const { return carried_; }

  void turn() {
    const int came = accept4(listener_, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (came >= 0) {
      Pair pair{came, socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
      REQUIRE(connect(pair.there, target_.get(), target_.bytes) == 0);
      for (const int end : {pair.here, pair.there}) {
        const int yes = 1;
        setsockopt(end, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
        fcntl(end, F_SETFL, O_NONBLOCK);
      }
      pairs_.push_back(pair);
    }
    if (behaviour.silent) return;
    for (Pair& pair : pairs_) {
      for (int i = 0; i < 64 && pair.here >= 0; ++i) {
        carry(pair, pair.here, pair.there, true);
        if (pair.here >= 0) carry(pair, pair.there, pair.here, false);
      }
    }
  }

 private:
  struct Pair {
    int here = -1;
    int there = -1;
  };

  void hang_up(Pair& pair) {
    for (int* end : {&pair.here, &pair.there}) {
      if (*end < 0) continue;
      if (behaviour.reset) {
        const linger hard{1, 0};
        setsockopt(*end, SOL_SOCKET, SO_LINGER, &hard, sizeof hard);
      }
      close(*end);
      *end = -1;
    }
  }

  // Forwards one piece; blocking on output, which loopback's buffers make short.
  void carry(Pair& pair, int from, int to, bool forward) {
    std::vector<char> bytes(behaviour.piece());
    const ssize_t got = recv(from, bytes.data(), bytes.size(), MSG_DONTWAIT);
    if (got < 0 && errno == EAGAIN) return;
    if (got <= 0) return hang_up(pair);
    if (forward) {
      const std::uint64_t at = carried_;
      carried_ += static_cast<std::uint64_t>(got);
      if (behaviour.flip_at >= at && behaviour.flip_at < carried_) bytes[behaviour.flip_at - at] ^= 0x10;
    }
    for (ssize_t sent = 0; sent < got;) {
      const ssize_t now = send(to, bytes.data() + sent, static_cast<std::size_t>(got - sent), MSG_NOSIGNAL);
      if (now > 0) sent += now;
      if (now < 0 && errno == EAGAIN) {
        if (relieve) relieve();
        continue;
      }
      if (now < 0) return hang_up(pair);
    }
    if (forward && carried_ >= behaviour.close_at) hang_up(pair);
  }

  TcpAddress target_;
  TcpAddress own_;
  int listener_ = -1;
  std::vector<Pair> pairs_;
  std::uint64_t carried_ = 0;

 public:
  std::function<void()> relieve;  // called while the far end accepts no more bytes
};

}  // namespace margay::sim::test
