// Tests of faults of a connection, over both backends, with real sockets and a proxy between them: all messages arrive,
// or the loss is reported with its cause, and nothing hangs.
#include <poll.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <random>
#include <thread>

#include "tests/sim/tcp_proxy.hpp"
#include "tests/sim/tcp_set.hpp"
#include "tests/sim/wire_contract.hpp"

namespace margay::sim::test {
namespace {

using namespace std::chrono_literals;

// Rank 0 reaches rank 1 through the proxy.
class MiddleSet final : public WireSet {
 public:
  explicit MiddleSet(TcpBackendChoice backend) : finished_(2) {
    std::vector<std::string> cards;
    for (std::uint32_t rank = 0; rank < 2; ++rank) {
      wires_.push_back(std::make_unique<TcpWire>(tcp_settings(rank, 2, backend), finished_[rank]));
      REQUIRE(wires_.back()->open().ok());
      cards.push_back(wires_.back()->card());
    }
    proxy_ = std::make_unique<TcpProxy>(cards[1]);
    REQUIRE(wires_[1]->set_cards(cards).ok());
    cards[1] = proxy_->card();
    REQUIRE(wires_[0]->set_cards(cards).ok());
  }
  [[nodiscard]] std::uint32_t ranks() const override { return 2; }
  [[nodiscard]] TcpWire& wire(std::uint32_t rank) override { return *wires_[rank]; }
  [[nodiscard]] TransmissionList& finished(std::uint32_t rank) override { return finished_[rank]; }
  void turn() override { proxy_->turn(); }
  [[nodiscard]] TcpProxy& proxy() { return *proxy_; }

 private:
  std::vector<TransmissionList> finished_;
  std::vector<std::unique_ptr<TcpWire>> wires_;
  std::unique_ptr<TcpProxy> proxy_;
};

struct MiddleRig {
  explicit MiddleRig(TcpBackendChoice backend)
      : rig(
            [&](std::uint32_t) {
              auto made = std::make_unique<MiddleSet>(backend);
              set = made.get();
              return made;
            },
            2) {
    set->proxy().relieve = [this] { rig[0].round(), rig[1].round(); };
  }
  MiddleSet* set = nullptr;
  Rig rig;
};

// The dialing side's bytes before its first frame.
constexpr std::uint64_t kFirstFrameAt = kHelloBytes + kProofBytes;

constexpr std::size_t kMixed[] = {0, 8, 300, 5000, 65'536, 65'537, 400'000, 1};

void send_mixed(Endpoint& from) {
  for (std::uint64_t i = 1; i <= std::size(kMixed); ++i) from.send(1, numbered(i), pattern_body(i, kMixed[i - 1]));
}

bool all_mixed_arrived(Endpoint& at) {
  return at.received.size() == std::size(kMixed) && at.received.back().state == Received::State::complete;
}

void check_mixed(Endpoint& at) {
  for (std::uint64_t i = 1; i <= std::size(kMixed); ++i) CHECK(body_is(at.received[i - 1], i, kMixed[i - 1]));
}

TEST_CASE("tcp faults: pieces of any size give the same result") {
  with_each_backend([](TcpBackendChoice backend) {
    for (const std::size_t most : {1U, 13U, 1000U, 70'000U}) {
      MiddleRig middle(backend);
      std::mt19937_64 random(most);
      middle.set->proxy().behaviour.piece = [&] { return most == 1 ? 1 : 1 + random() % most; };
      const std::size_t last = most == 1 ? 4 : std::size(kMixed);  // single bytes are slow
      for (std::uint64_t i = 1; i <= last; ++i) middle.rig[0].send(1, numbered(i), pattern_body(i, kMixed[i - 1]));
      Endpoint& receiver = middle.rig[1];
      REQUIRE(middle.rig.until([&] {
        return receiver.received.size() == last && receiver.received.back().state == Received::State::complete;
      }));
      for (std::uint64_t i = 1; i <= last; ++i) CHECK(body_is(receiver.received[i - 1], i, kMixed[i - 1]));
      REQUIRE(middle.rig.until([&] { return middle.rig.all_idle(); }));
    }
  });
}

TEST_CASE("tcp faults: a flipped byte is found within two seconds and both ends are notified") {
  with_each_backend([](TcpBackendChoice backend) {
    for (const std::uint64_t after : {7U, 12U, 20U, 32U, 48U, 62U, 5000U, 20'000U, 140'000U, 200'000U, 499'000U}) {
      const std::uint64_t at = kFirstFrameAt + after;
      CAPTURE(at);
      MiddleRig middle(backend);
      middle.set->proxy().behaviour.flip_at = at;
      send_mixed(middle.rig[0]);
      REQUIRE(middle.rig.until([&] { return !middle.rig[1].lost.empty() && !middle.rig[0].lost.empty(); }));
      CHECK_EQ(middle.rig[1].lost[0], 0);
      CHECK_EQ(middle.rig[0].lost[0], 1);
      for (const Received& got : middle.rig[1].received) {
        if (got.state == Received::State::complete) CHECK(body_is(got, got.sequence, kMixed[got.sequence - 1]));
        CHECK(got.state != Received::State::coming);
      }
      CHECK(middle.rig.all_idle());
      CHECK_EQ(middle.rig[0].transmissions_done, middle.rig[0].outgoing.size());
    }
  });
}

TEST_CASE("tcp faults: an end or a reset anywhere is reported to both within two seconds") {
  with_each_backend([](TcpBackendChoice backend) {
    for (const bool reset : {false, true}) {
      for (const std::uint64_t after : {1U, 42U, 1000U, 70'000U, 141'000U, 300'000U}) {
        const std::uint64_t at = kFirstFrameAt + after;
        CAPTURE(at);
        MiddleRig middle(backend);
        middle.set->proxy().behaviour.close_at = at;
        middle.set->proxy().behaviour.reset = reset;
        middle.set->proxy().behaviour.piece = [] { return 1000; };
        send_mixed(middle.rig[0]);
        REQUIRE(middle.rig.until([&] { return !middle.rig[1].lost.empty() && !middle.rig[0].lost.empty(); }));
        for (const Received& got : middle.rig[1].received) CHECK(got.state != Received::State::coming);
        // No message is accepted for a lost peer, and a queued transmission fails.
        CHECK_FALSE(middle.rig[0].wire().try_send(1, numbered(99), portals::Region()));
        Outgoing& late = middle.rig[0].queue(1, numbered(100), pattern_body(1, 10));
        middle.rig[0].round();
        CHECK(late.transmission.state == Transmission::State::failed);
        CHECK_EQ(middle.rig[0].lost.size(), 1);
      }
    }
  });
}

TEST_CASE("tcp faults: a silent link that recovers loses nothing") {
  with_each_backend([](TcpBackendChoice backend) {
    MiddleRig middle(backend);
    middle.set->proxy().behaviour.piece = [] { return 500; };
    send_mixed(middle.rig[0]);
    REQUIRE(middle.rig.until([&] { return middle.rig[1].received.size() >= 2; }));
    middle.set->proxy().behaviour.silent = true;
    CHECK_FALSE(middle.rig.until([&] { return all_mixed_arrived(middle.rig[1]); }, 300ms));
    middle.set->proxy().behaviour.silent = false;
    REQUIRE(middle.rig.until([&] { return all_mixed_arrived(middle.rig[1]); }));
    check_mixed(middle.rig[1]);
    CHECK(middle.rig[0].lost.empty());
  });
}

TEST_CASE("tcp faults: without a process that listens at the card's address the peer is lost") {
  with_each_backend([](TcpBackendChoice backend) {
    TransmissionList finished;
    TcpWire wire(tcp_settings(0, 2, backend), finished);
    REQUIRE(wire.open().ok());
    REQUIRE(wire.set_cards({"", "tcp#127.0.0.1:1"}).ok());
    Endpoint endpoint(wire, finished, 2);
    endpoint.queue(1, numbered(1), pattern_body(1, 100'000));
    for (int i = 0; i < 60'000 && endpoint.lost.empty(); ++i) endpoint.round(), std::this_thread::sleep_for(1ms);
    CHECK(endpoint.lost == std::vector<std::uint32_t>{1});
    CHECK_EQ(endpoint.transmissions_done, 1);
    CHECK(wire.idle());
  });
}

TEST_CASE("tcp faults: another job's rank is rejected") {
  with_each_backend([](TcpBackendChoice backend) {
    TransmissionList finished[2];
    TcpWire ours(tcp_settings(0, 2, backend), finished[0]);
    TcpWire::Settings other = tcp_settings(1, 2, backend);
    other.secret = secret_of(2);
    TcpWire theirs(other, finished[1]);
    REQUIRE(ours.open().ok());
    REQUIRE(theirs.open().ok());
    REQUIRE(ours.set_cards({ours.card(), theirs.card()}).ok());
    Endpoint here(ours, finished[0], 2);
    Endpoint there(theirs, finished[1], 2);
    here.send(1, numbered(1), pattern_body(1, 8));
    for (int i = 0; i < 2000 && here.lost.empty(); ++i) here.round(), there.round();
    CHECK(here.lost == std::vector<std::uint32_t>{1});
    CHECK(there.received.empty());
    CHECK_EQ(theirs.connections(), 0);
  });
}

TEST_CASE("tcp faults: strangers on the listener are rejected, and do not keep the ranks out") {
  with_each_backend([](TcpBackendChoice backend) {
    Rig rig([backend](std::uint32_t ranks) { return std::make_unique<TcpSet>(ranks, backend); }, 2);
    auto& wire = static_cast<TcpWire&>(rig[1].wire());
    TcpAddress address;
    REQUIRE(parse_card(wire.card(), address).ok());
    std::vector<int> strangers;
    for (std::size_t i = 0; i < kHalfOpenMax + 20; ++i) {
      const int stranger = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
      REQUIRE(connect(stranger, address.get(), address.bytes) == 0);
      if (i % 3 == 0) REQUIRE(send(stranger, "GET / HTTP/1.0\r\n\r\n", 18, MSG_NOSIGNAL) == 18);
      strangers.push_back(stranger);
    }
    rig.drive_without(0, 50);
    rig[0].send(1, numbered(1), pattern_body(1, 70'000));
    // There are more strangers than the connector's table has room for: two rounds of a second each.
    REQUIRE(rig.until([&] { return rig[1].received.size() == 1; }));
    CHECK(rig[1].lost.empty());
    for (const int stranger : strangers) close(stranger);
  });
}

TEST_CASE("tcp faults: if both dial at once, one connection remains") {
  with_each_backend([](TcpBackendChoice backend) {
    for (int round = 0; round < 20; ++round) {
      Rig rig([backend](std::uint32_t ranks) { return std::make_unique<TcpSet>(ranks, backend); }, 2);
      rig[0].send(1, numbered(1), pattern_body(1, 10));
      rig[1].send(0, numbered(2), pattern_body(2, 20));
      REQUIRE(rig.until([&] { return rig[0].received.size() == 1 && rig[1].received.size() == 1 && rig.all_idle(); }));
      for (std::uint32_t rank = 0; rank < 2; ++rank) {
        const auto& wire = static_cast<TcpWire&>(rig[rank].wire());
        CHECK_EQ(wire.connections(), 1);
        CHECK_FALSE(wire.listening());  // all possible peers are connected
        CHECK(rig[rank].lost.empty());
      }
    }
  });
}

// In two threads, so that the steps of the two handshakes meet in every order.
TEST_CASE("tcp faults: both dial at once, in threads of their own") {
  with_each_backend([](TcpBackendChoice backend) {
    for (int round = 0; round < 150; ++round) {
      TcpSet set(2, backend);
      bool done[2] = {false, false};
      const auto drive = [&](std::uint32_t rank) {
        Endpoint endpoint(set.wire(rank), set.finished(rank), 2);
        endpoint.send(1 - rank, numbered(1), pattern_body(1, 10));
        const auto end = std::chrono::steady_clock::now() + kGuard;
        while ((endpoint.received.empty() || !endpoint.wire().idle()) && std::chrono::steady_clock::now() < end) {
          if (!endpoint.round()) std::this_thread::yield();
        }
        done[rank] = endpoint.received.size() == 1 && endpoint.lost.empty();
      };
      std::thread other(drive, 1);
      drive(0);
      other.join();
      REQUIRE(done[0]);
      REQUIRE(done[1]);
    }
  });
}

TEST_CASE("tcp: messages that a leaving rank has handed to its kernel arrive, though it leaves bytes unread") {
  with_each_backend([](TcpBackendChoice backend) {
    TcpSet* set = nullptr;
    Rig rig(
        [&](std::uint32_t ranks) {
          auto made = std::make_unique<TcpSet>(ranks, backend);
          set = made.get();
          return made;
        },
        2);
    rig[0].send(1, numbered(1), pattern_body(1, 10));
    REQUIRE(rig.until([&] { return rig[1].received.size() == 1; }));
    rig[1].send(0, numbered(1), pattern_body(1, 50'000));  // rank 0 never polls
    rig[1].wire().push();
    std::uint64_t sent = 1;
    while (sent < 30) {  // more than the receiving socket accepts while rank 1 does not poll
      rig[0].queue(1, numbered(sent + 1), pattern_body(sent + 1, 60'000));
      ++sent;
      rig[0].wire().push();
    }
    set->close(0);
    const auto end = std::chrono::steady_clock::now() + kGuard;
    while (rig[1].received.size() < sent && std::chrono::steady_clock::now() < end) rig[1].round();
    CHECK_EQ(rig[1].received.size(), sent);
    CHECK(rig[1].lost.empty());
  });
}

TEST_CASE("tcp: a rank that leaves in order flushes first, and is not lost") {
  with_each_backend([](TcpBackendChoice backend) {
    TcpSet* set = nullptr;
    Rig rig(
        [&](std::uint32_t ranks) {
          auto made = std::make_unique<TcpSet>(ranks, backend);
          set = made.get();
          return made;
        },
        2);
    rig[0].send(1, numbered(1), pattern_body(1, 10));
    REQUIRE(rig.until([&] { return rig[1].received.size() == 1; }));
    for (std::uint64_t i = 2; i <= 50; ++i) rig[0].send(1, numbered(i), pattern_body(i, 30));
    set->close(0);
    const auto end = std::chrono::steady_clock::now() + kGuard;
    while (rig[1].received.size() < 50 && std::chrono::steady_clock::now() < end) rig[1].round();
    CHECK_EQ(rig[1].received.size(), 50);
    for (int i = 0; i < 200; ++i) rig[1].round();
    CHECK(rig[1].lost.empty());
    // It is lost to a rank that still has a message for it.
    Outgoing& late = rig[1].queue(0, numbered(1), pattern_body(1, 100));
    for (int i = 0; i < 200; ++i) rig[1].round();
    CHECK(late.transmission.state == Transmission::State::failed);
    CHECK(rig[1].lost == std::vector<std::uint32_t>{0});
  });
}

TEST_CASE("tcp faults: without free descriptors both sides name the limit") {
  with_each_backend([](TcpBackendChoice backend) {
    rlimit before{};
    REQUIRE(getrlimit(RLIMIT_NOFILE, &before) == 0);
    for (const std::uint32_t short_of : {0U, 1U}) {  // the rank that dials; the rank that accepts
      Rig rig([backend](std::uint32_t ranks) { return std::make_unique<TcpSet>(ranks, backend); }, 2);
      // Leaves the dialing side one descriptor if the accepting side is to run out.
      std::vector<int> fill;
      rlimit low = before;
      low.rlim_cur = 200;
      REQUIRE(setrlimit(RLIMIT_NOFILE, &low) == 0);
      for (int next = dup(0); next >= 0; next = dup(0)) fill.push_back(next);
      if (short_of == 1) close(fill.back()), fill.pop_back();
      rig[0].queue(1, numbered(1), pattern_body(1, 100'000));
      std::string losses[2];
      const auto end = std::chrono::steady_clock::now() + kGuard;
      while ((losses[0].empty() || (short_of == 1 && losses[1].empty())) && std::chrono::steady_clock::now() < end) {
        for (std::uint32_t rank = 0; rank < 2; ++rank) {
          rig[rank].wire().push();
          Arrival arrival;
          while (rig[rank].wire().poll(arrival)) {
            REQUIRE(arrival.kind == Arrival::Kind::lost);
            losses[rank] = arrival.loss;
          }
        }
      }
      for (const int descriptor : fill) close(descriptor);
      REQUIRE(setrlimit(RLIMIT_NOFILE, &before) == 0);
      CHECK(losses[short_of].find("RLIMIT_NOFILE of this process is 200") != std::string::npos);
      if (short_of == 1) CHECK(losses[0].find("no file descriptor left") != std::string::npos);
      CHECK(rig[0].outgoing[0].transmission.state == Transmission::State::failed);
    }
  });
}

// The owner polls, then the coprocessor while the owner computes.
TEST_CASE("tcp: a second thread drives the wire while the first one computes") {
  with_each_backend([](TcpBackendChoice backend) {
    Rig rig([backend](std::uint32_t ranks) { return std::make_unique<TcpSet>(ranks, backend); }, 2);
    rig[0].send(1, numbered(1), pattern_body(1, 10));
    REQUIRE(rig.until([&] { return rig[1].received.size() == 1; }));
    double longest_s = 0;
    std::thread coprocessor;
    for (std::uint64_t i = 2; i <= 20; ++i) {
      const std::size_t bytes = i % 3 == 0 ? 300'000 : 50;
      bool arrived = false;
      coprocessor = std::thread([&] {
        const auto begin = std::chrono::steady_clock::now();
        rig[0].send(1, numbered(i), pattern_body(i, bytes));
        arrived = rig.until(
            [&] { return rig[1].received.size() == i && rig[1].received.back().state == Received::State::complete; },
            kGuard);
        longest_s =
            std::max(longest_s, std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
      });
      const auto end = std::chrono::steady_clock::now() + 20ms;
      volatile std::uint64_t computed = 0;
      while (std::chrono::steady_clock::now() < end)
        computed = computed + 1;  // no system call: the clock is in the vDSO
      coprocessor.join();
      REQUIRE(arrived);
      CHECK(body_is(rig[1].received.back(), i, bytes));
      REQUIRE(rig.until([&] { return rig.all_idle(); }));  // the owner polls again
    }
    if (std::getenv("TIMED_TESTS") != nullptr) CHECK(longest_s < 0.5);
  });
}

TEST_CASE("tcp: a sleeper on the wait descriptor is woken by a message") {
  with_each_backend([](TcpBackendChoice backend) {
    Rig rig([backend](std::uint32_t ranks) { return std::make_unique<TcpSet>(ranks, backend); }, 2);
    rig[0].send(1, numbered(1), pattern_body(1, 10));
    REQUIRE(rig.until([&] { return rig[1].received.size() == 1 && rig.all_idle(); }));
    for (std::uint64_t i = 2; i <= 12; ++i) {
      while (rig[1].wire().prepare_wait()) rig[1].round();
      pollfd sleeper{rig[1].wire().wait_descriptor(), POLLIN, 0};
      CHECK_EQ(poll(&sleeper, 1, 5), 0);  // no spurious wakeup
      while (rig[1].wire().prepare_wait()) rig[1].round();
      std::thread sender([&] {
        std::this_thread::sleep_for(5ms);
        rig[0].send(1, numbered(i), pattern_body(i, 40));
        rig[0].round();
      });
      CHECK_EQ(poll(&sleeper, 1, 60'000), 1);
      sender.join();
      REQUIRE(rig.until([&] { return rig[1].received.size() == i; }));
    }
  });
}

TEST_CASE("tcp cards: an invalid card is an error that quotes it") {
  TcpAddress address;
  for (const char* good : {"tcp#127.0.0.1:41234", "  tcp#10.0.0.1:1 \n", "tcp#[::1]:65535"})
    CHECK(parse_card(good, address).ok());
  for (const char* bad : {"", "tcp#", "127.0.0.1:4", "tcp#127.0.0.1", "tcp#127.0.0.1:", "tcp#127.0.0.1:0",
                          "tcp#127.0.0.1:65536", "tcp#127.0.0.1:4x", "tcp#localhost:4", "tcp#0.0.0.0:4", "tcp#[::]:4",
                          "tcp#::1:4", "tcp#[::1:4", "tcp#127.0.0.1:-4", "tcp#999.0.0.1:4", "tcp#127.0.0.1 :4"}) {
    CAPTURE(bad);
    const portals::Status status = parse_card(bad, address);
    CHECK_FALSE(status.ok());
    CHECK(status.sentence().find("tcp#ADDRESS:PORT") != std::string::npos);
  }
  TransmissionList finished;
  TcpWire wire(tcp_settings(0, 3, TcpBackendChoice::epoll), finished);
  REQUIRE(wire.open().ok());
  const portals::Status status = wire.set_cards({"", "tcp#127.0.0.1:9"});
  REQUIRE_FALSE(status.ok());
  CHECK(status.sentence().find("rank 2") != std::string::npos);
}

TEST_CASE("tcp backends: one is requested by name, and a reason is given") {
  TcpBackendChoice choice = TcpBackendChoice::automatic;
  CHECK(parse_backend("epoll", choice).ok());
  CHECK(choice == TcpBackendChoice::epoll);
  CHECK_FALSE(parse_backend("select", choice).ok());
  TransmissionList finished;
  TcpWire wire(tcp_settings(0, 2, TcpBackendChoice::automatic), finished);
  REQUIRE(wire.open().ok());
  CHECK_FALSE(wire.backend_reason().empty());
}

}  // namespace
}  // namespace margay::sim::test
