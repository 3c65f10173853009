// Tests of wires between processes of different jobs, on both backends with real sockets: the wire contract, numbers
// that differ on the two sides, numbers that are used again, and strangers.
#include <algorithm>
#include <chrono>
#include <map>
#include <string_view>
#include <thread>

#include "tests/sim/tcp_proxy.hpp"
#include "tests/sim/tcp_set.hpp"
#include "tests/sim/wire_contract.hpp"

namespace margay::sim::test {
namespace {

using Identity = sim::Endpoint;

constexpr std::uint32_t kNumbers = 8;

TcpWire::Settings guest_settings(const Identity& self, std::uint32_t world, TcpBackendChoice backend) {
  TcpWire::Settings settings;
  settings.job = self.job;
  settings.rank = self.place;
  settings.world = world;
  settings.secret = secret_of(3);
  settings.backend = backend;
  settings.guests = true;
  settings.place = self.place;
  return settings;
}

// Processes of as many jobs. Each has the same number in all of them, as the contract demands.
class GuestSet final : public WireSet {
 public:
  GuestSet(std::uint32_t ranks, TcpBackendChoice backend) : finished_(ranks) {
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      TcpWire::Settings settings = guest_settings({100 + rank, rank}, ranks, backend);
      settings.guest_of = [](const Identity& endpoint) { return endpoint.place; };
      wires_.push_back(std::make_unique<TcpWire>(settings, finished_[rank]));
      REQUIRE(wires_.back()->open().ok());
    }
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      for (std::uint32_t other = 0; other < ranks; ++other) {
        if (other == rank) continue;
        REQUIRE(wires_[rank]->add_guest(other, {100 + other, other}, wires_[other]->card()).ok());
      }
    }
  }
  [[nodiscard]] std::uint32_t ranks() const override { return static_cast<std::uint32_t>(wires_.size()); }
  [[nodiscard]] Wire& wire(std::uint32_t rank) override { return *wires_[rank]; }
  [[nodiscard]] TransmissionList& finished(std::uint32_t rank) override { return finished_[rank]; }

 private:
  std::vector<TransmissionList> finished_;
  std::vector<std::unique_ptr<TcpWire>> wires_;
};

// One process with its wire of guests. `numbers` stands for its launcher.
struct Host {
  Host(const Identity& identity, TcpBackendChoice backend, int key = 3, bool opened = true) : self(identity) {
    TcpWire::Settings settings = guest_settings(self, kNumbers, backend);
    settings.secret = secret_of(key);
    settings.guest_of = [this](const Identity& endpoint) { return answer(endpoint); };
    wire = std::make_unique<TcpWire>(settings, finished);
    if (opened) REQUIRE(wire->open().ok());
    messages = std::make_unique<Endpoint>(*wire, finished, kNumbers);
  }
  // Assigns `number` to `other`, whose address is known.
  void add(std::uint32_t number, const Host& other) { add(number, other, other.wire->card()); }
  void add(std::uint32_t number, const Host& other, const std::string& card) {
    numbers[other.self] = number;
    const portals::Status added = wire->add_guest(number, other.self, card);
    REQUIRE_MESSAGE(added.ok(), added.sentence());
  }
  std::optional<std::uint32_t> answer(const Identity& endpoint) {
    ++asked;
    const auto found = numbers.find(endpoint);
    if (found == numbers.end() || !wire->add_guest(found->second, endpoint, "").ok()) return std::nullopt;
    return found->second;
  }

  const Identity self;
  std::map<Identity, std::uint32_t> numbers;
  int asked = 0;  // calls of answer()
  // Destroyed in the reverse order: the wire first.
  TransmissionList finished;
  std::unique_ptr<Endpoint> messages;
  std::unique_ptr<TcpWire> wire;
};

bool drive(std::initializer_list<Host*> hosts, const std::function<bool()>& done, TcpProxy* proxy = nullptr) {
  const auto end = std::chrono::steady_clock::now() + kGuard;
  while (!done()) {
    bool moved = false;
    for (Host* host : hosts) {
      if (host->wire != nullptr) moved |= host->messages->round();
    }
    if (proxy != nullptr) proxy->turn();
    if (!moved) std::this_thread::yield();
    if (std::chrono::steady_clock::now() > end) return done();
  }
  return true;
}

// Sends a message each way, and checks it. `at`: the number by which the other side is known.
void exchange(Host& left, std::uint32_t left_at, Host& right, std::uint32_t right_at, std::size_t bytes,
              TcpProxy* proxy = nullptr) {
  left.messages->received.clear();
  right.messages->received.clear();
  left.messages->send(left_at, numbered(bytes + 1), pattern_body(bytes + 1, bytes));
  right.messages->send(right_at, numbered(bytes + 2), pattern_body(bytes + 2, bytes));
  const auto arrived = [](const Host& host) {
    return host.messages->received.size() == 1 && host.messages->received[0].state == Received::State::complete;
  };
  REQUIRE(drive(
      {&left, &right}, [&] { return arrived(left) && arrived(right) && left.wire->idle() && right.wire->idle(); },
      proxy));
  for (const auto& [host, at, number] :
       {std::tuple{&left, left_at, bytes + 2}, std::tuple{&right, right_at, bytes + 1}}) {
    const Received& got = host->messages->received[0];
    CHECK_EQ(got.peer, at);
    CHECK_EQ(got.header.source.rank, at);
    CHECK_EQ(got.header.destination.rank, host->self.place);
    CHECK(body_is(got, number, bytes));
  }
}

// The reason of the next loss at `host`; other arrivals are consumed.
std::string next_loss(Host& host, Host* other = nullptr) {
  const auto end = std::chrono::steady_clock::now() + kGuard;
  while (std::chrono::steady_clock::now() < end) {
    host.wire->push();
    Arrival arrival;
    while (host.wire->poll(arrival)) {
      if (arrival.kind == Arrival::Kind::lost) return std::string(arrival.loss);
      if (arrival.kind == Arrival::Kind::whole) host.wire->consume();
    }
    if (other != nullptr) other->messages->round();
  }
  return {};
}

bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

TEST_CASE("wire contract: guests") {
  with_each_backend([](TcpBackendChoice backend) {
    run_wire_contract([backend](std::uint32_t ranks) { return std::make_unique<GuestSet>(ranks, backend); });
  });
}

TEST_CASE("guests: each side has its own number for the other, in messages of every length") {
  with_each_backend([](TcpBackendChoice backend) {
    Host left({100, 3}, backend);
    Host right({200, 5}, backend);
    CHECK(left.wire->id() == WireId::guest);
    left.add(6, right);
    // The number is known only when the left side connects, and without an address.
    right.numbers[left.self] = 1;
    left.messages->send(6, numbered(1), pattern_body(1, 10));
    REQUIRE(drive({&left, &right}, [&] { return right.messages->received.size() == 1; }));
    CHECK_EQ(right.messages->received[0].peer, 1);
    for (const std::size_t bytes : {0U, 8U, 5000U, 65'536U, 65'537U, 3'000'000U}) exchange(left, 6, right, 1, bytes);
    CHECK_EQ(right.asked, 1);
    CHECK_EQ(left.asked, 0);
    for (const Host* host : {&left, &right}) {
      CHECK_EQ(host->wire->connections(), 1);
      CHECK(host->messages->lost.empty());
      CHECK(host->wire->listening());
    }
  });
}

TEST_CASE("guests: if both dial at once, one connection remains, and the listeners stay open") {
  with_each_backend([](TcpBackendChoice backend) {
    // The lower endpoint has the lower or the higher place, and the lower or the higher number.
    struct Case {
      Identity left, right;
      std::uint32_t left_at, right_at;
    };
    for (const Case& one :
         {Case{{100, 3}, {200, 5}, 6, 1}, Case{{100, 5}, {200, 3}, 1, 6}, Case{{9, 2}, {8, 2}, 4, 4}}) {
      for (int round = 0; round < 10; ++round) {
        Host left(one.left, backend);
        Host right(one.right, backend);
        left.add(one.left_at, right);
        right.add(one.right_at, left);
        exchange(left, one.left_at, right, one.right_at, 20);
        exchange(left, one.left_at, right, one.right_at, 100'000);
        for (const Host* host : {&left, &right}) {
          CHECK_EQ(host->wire->connections(), 1);
          CHECK(host->wire->listening());
          CHECK(host->messages->lost.empty());
        }
      }
    }
  });
}

// In two threads, so that the steps of the two handshakes meet in every order.
TEST_CASE("guests: both dial at once, in threads of their own") {
  with_each_backend([](TcpBackendChoice backend) {
    for (int round = 0; round < 60; ++round) {
      Host left({100, 3}, backend);
      Host right({200, 5}, backend);
      left.add(6, right);
      right.add(1, left);
      bool done[2] = {false, false};
      const auto run = [&done](Host& host, std::uint32_t at, int index) {
        host.messages->send(at, numbered(1), pattern_body(1, 10));
        done[index] = drive({&host}, [&] { return host.messages->received.size() == 1 && host.wire->idle(); }) &&
                      host.messages->lost.empty();
      };
      std::thread other(run, std::ref(right), 1, 1);
      run(left, 6, 0);
      other.join();
      REQUIRE(done[0]);
      REQUIRE(done[1]);
    }
  });
}

TEST_CASE("guests: a process without a number is dropped, and served when it has one") {
  with_each_backend([](TcpBackendChoice backend) {
    Host left({100, 3}, backend);
    Host right({200, 5}, backend);
    left.add(6, right);
    left.messages->send(6, numbered(1), pattern_body(1, 10));
    REQUIRE(drive({&left, &right}, [&] { return right.asked >= 2; }));
    CHECK_EQ(right.wire->connections(), 0);
    right.numbers[left.self] = 1;
    REQUIRE(drive({&left, &right}, [&] { return right.messages->received.size() == 1; }));
    CHECK(left.messages->lost.empty());
  });
}

// Number 6 belongs to one process until its connection ends, and then to another one.
TEST_CASE("guests: a number is used again after its process has left or was killed") {
  with_each_backend([](TcpBackendChoice backend) {
    for (const bool killed : {false, true}) {
      CAPTURE(killed);
      Host here({100, 3}, backend);
      Host first({200, 5}, backend);
      Host second({300, 0}, backend);
      Host bystander({300, 1}, backend);
      TcpProxy proxy(first.wire->card());
      here.add(6, first, killed ? proxy.card() : first.wire->card());
      first.numbers[here.self] = 1;
      here.add(7, bystander);
      bystander.add(2, here);
      for (int i = 0; i < 3; ++i) {
        here.messages->send(6, numbered(1), pattern_body(1, 10));
        REQUIRE(drive(
            {&here, &first}, [&] { return first.messages->received.size() == static_cast<std::size_t>(i) + 1; },
            &proxy));
      }
      exchange(here, 6, first, 1, 70'000, &proxy);
      exchange(here, 7, bystander, 2, 100);
      CHECK_FALSE(here.wire->has_ended(6));
      CHECK_FALSE(here.wire->add_guest(6, second.self, second.wire->card()).ok());
      if (killed) {
        proxy.behaviour.reset = true;
        proxy.behaviour.close_at = 0;
        here.messages->send(6, numbered(1), pattern_body(1, 10));
      } else {
        first.wire.reset();
      }
      REQUIRE(drive(
          {&here}, [&] { return here.wire->has_ended(6); }, &proxy));
      CHECK(here.messages->lost == (killed ? std::vector<std::uint32_t>{6} : std::vector<std::uint32_t>{}));
      here.messages->lost.clear();
      here.add(6, second);
      second.add(1, here);
      CHECK(here.wire->has_ended(6));  // without a link
      for (const std::size_t bytes : {10U, 200'000U}) {
        exchange(here, 6, second, 1, bytes);
        exchange(here, 7, bystander, 2, bytes);
      }
      CHECK_EQ(here.messages->received[0].sequence, 3);  // the bystander's
      CHECK_EQ(here.wire->connections(), 2);
      // The counts in the goodbyes begin anew with the number, so nobody is lost.
      here.wire->send_goodbye();
      here.wire->resume();
      exchange(here, 6, second, 1, 30);
      CHECK_EQ(here.messages->received[0].sequence, 3);
      second.wire.reset();
      REQUIRE(drive({&here, &bystander}, [&] { return here.wire->has_ended(6); }));
      here.wire.reset();
      REQUIRE(drive({&bystander}, [&] { return bystander.wire->has_ended(2); }));
      CHECK(here.messages->lost.empty());
      CHECK(bystander.messages->lost.empty());
    }
  });
}

TEST_CASE("guests: a loss waits to be reported before its number is free") {
  with_each_backend([](TcpBackendChoice backend) {
    Host here({100, 3}, backend);
    Host first({200, 5}, backend);
    Host second({300, 0}, backend);
    here.add(6, first);
    first.add(1, here);
    exchange(here, 6, first, 1, 100);
    first.wire.reset();
    REQUIRE(drive({&here}, [&] { return here.wire->has_ended(6); }));
    // A message to a process that has left is a loss.
    Outgoing& late = here.messages->queue(6, numbered(1), pattern_body(1, 100));
    CHECK_FALSE(here.wire->has_ended(6));
    CHECK_FALSE(here.wire->add_guest(6, second.self, second.wire->card()).ok());
    REQUIRE(drive({&here}, [&] { return here.wire->has_ended(6); }));
    CHECK(here.messages->lost == std::vector<std::uint32_t>{6});
    CHECK(late.transmission.state == Transmission::State::failed);
    here.add(6, second);
    second.add(1, here);
    exchange(here, 6, second, 1, 100);
  });
}

TEST_CASE("guests: a process that cannot be dialed is lost, with the reason, and others are not") {
  with_each_backend([](TcpBackendChoice backend) {
    struct Case {
      const char* card;
      const char* reason;
    };
    Host here({100, 3}, backend);
    Host bystander({300, 1}, backend);
    here.add(7, bystander);
    bystander.add(2, here);
    std::uint32_t place = 0;
    for (const Case& one : {Case{"", "does not know its address"}, Case{"tcp#127.0.0.1:1", "refused"},
                            Case{"tcp#[::1]:1", "another family"}}) {
      CAPTURE(one.card);
      REQUIRE(here.wire->add_guest(6, {200, ++place}, one.card).ok());
      here.wire->monitor(6);
      CHECK(contains(next_loss(here), one.reason));
      CHECK(here.wire->has_ended(6));
      exchange(here, 7, bystander, 2, 100);
    }
    // The same process does not begin anew.
    REQUIRE(here.wire->add_guest(6, {200, place}, bystander.wire->card()).ok());
    CHECK_FALSE(here.wire->try_send(6, numbered(1), portals::Region()));
  });
}

TEST_CASE("guests: an address is updated until the first link") {
  with_each_backend([](TcpBackendChoice backend) {
    Host left({100, 3}, backend);
    Host right({200, 5}, backend);
    right.numbers[left.self] = 1;
    REQUIRE(left.wire->add_guest(6, right.self, "").ok());
    REQUIRE(left.wire->add_guest(6, right.self, "tcp#127.0.0.1:1").ok());
    REQUIRE(left.wire->add_guest(6, right.self, right.wire->card()).ok());
    REQUIRE(left.wire->add_guest(6, right.self, "").ok());
    left.messages->send(6, numbered(1), pattern_body(1, 10));
    REQUIRE(drive({&left, &right}, [&] { return right.messages->received.size() == 1; }));
    REQUIRE(left.wire->add_guest(6, right.self, "tcp#127.0.0.1:1").ok());
    exchange(left, 6, right, 1, 1000);
  });
}

TEST_CASE("guests: an invalid guest is an error that names its number, and changes nothing") {
  Host here({100, 3}, TcpBackendChoice::epoll);
  struct Case {
    std::uint32_t number;
    Identity endpoint;
    const char* card;
  };
  for (const Case& one : {Case{kNumbers, {200, 5}, "tcp#127.0.0.1:1"}, Case{3, {200, 5}, "tcp#127.0.0.1:1"},
                          Case{6, {100, 5}, "tcp#127.0.0.1:1"}, Case{6, {200, 5}, "tcp#localhost:1"}}) {
    CAPTURE(one.number);
    const portals::Status added = here.wire->add_guest(one.number, one.endpoint, one.card);
    REQUIRE_FALSE(added.ok());
    CHECK(contains(added.sentence(), "guest " + std::to_string(one.number)));
  }
  here.wire->monitor(6);  // nobody's number
  CHECK_FALSE(next_loss(here).empty());
}

TEST_CASE("guests: a wire is inert until it is opened, which may be late") {
  with_each_backend([](TcpBackendChoice backend) {
    Host left({100, 3}, backend, 3, false);
    { const Host never({100, 4}, backend, 3, false); }
    TcpWire& wire = *left.wire;
    CHECK(wire.quiet());
    CHECK_FALSE(wire.needs_push());
    CHECK_FALSE(wire.push());
    Arrival arrival;
    CHECK_FALSE(wire.poll(arrival));
    CHECK(wire.idle());
    CHECK_FALSE(wire.in_transit());
    CHECK_FALSE(wire.prepare_wait());
    CHECK_FALSE(wire.wakes_other_threads());
    CHECK_EQ(wire.wait_descriptor(), -1);
    CHECK_FALSE(wire.listening());
    CHECK(wire.has_ended(6));
    wire.time_passed();
    wire.thread_ends();
    wire.send_goodbye();
    wire.resume();
    wire.shut();

    Host right({200, 5}, backend);
    REQUIRE(wire.add_guest(6, right.self, right.wire->card()).ok());
    left.numbers[right.self] = 6;
    CHECK_FALSE(wire.open(secret_of(3), "192.0.2.1").ok());  // not an address of this host
    CHECK(wire.quiet());
    CHECK_EQ(wire.wait_descriptor(), -1);
    REQUIRE(wire.open(secret_of(3), "127.0.0.1").ok());
    CHECK_FALSE(wire.quiet());
    CHECK_GE(wire.wait_descriptor(), 0);
    right.add(1, left);
    exchange(left, 6, right, 1, 100'000);
  });
}

TEST_CASE("guests: a stranger without the user's key is rejected, and never asked about") {
  with_each_backend([](TcpBackendChoice backend) {
    for (const bool stranger_dials : {true, false}) {
      Host here({100, 3}, backend);
      Host stranger({200, 5}, backend, 4);
      here.add(6, stranger);
      stranger.add(1, here);
      Host& dialer = stranger_dials ? stranger : here;
      Host& acceptor = stranger_dials ? here : stranger;
      dialer.wire->monitor(stranger_dials ? 1 : 6);
      CHECK(contains(next_loss(dialer, &acceptor), "user's key"));
      CHECK_EQ(acceptor.asked, 0);
      CHECK_EQ(acceptor.wire->connections(), 0);
      CHECK(acceptor.messages->lost.empty());
    }
  });
}

// As after a program has closed all descriptors. With io_uring the failure leaks the operations on purpose.
TEST_CASE("guests: if the operating system does not serve the wire any more, every guest is lost and none is added") {
  Host here({100, 3}, TcpBackendChoice::epoll);
  Host first({200, 5}, TcpBackendChoice::epoll);
  here.add(6, first);
  first.add(1, here);
  exchange(here, 6, first, 1, 100);
  REQUIRE(here.wire->add_guest(7, {300, 0}, first.wire->card()).ok());  // without a link
  const int replacement = open("/dev/null", O_RDONLY | O_CLOEXEC);
  REQUIRE(dup3(replacement, here.wire->wait_descriptor(), O_CLOEXEC) >= 0);
  close(replacement);
  REQUIRE(drive({&here, &first}, [&] { return here.messages->lost.size() == 2; }));
  CHECK(here.wire->has_ended(6));
  CHECK(here.wire->has_ended(7));
  CHECK_FALSE(here.wire->add_guest(6, {400, 0}, first.wire->card()).ok());
  CHECK_FALSE(here.wire->add_guest(5, {400, 0}, first.wire->card()).ok());
}

}  // namespace
}  // namespace margay::sim::test
