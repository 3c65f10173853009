// A benchmark of the TCP wire over the loopback interface beside bare sockets, in one run: one-way latency of 8 bytes,
// a stream of 4 MiB bodies, and messages a second with 64 in flight. Two processes, each on its own processor, both
// polling.
// Usage: tcp_bench [uring|epoll|raw ...]
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include "portals/base/assert.hpp"
#include "sim/wire/tcp/tcp_wire.hpp"

namespace {

using namespace margay;
using sim::Arrival;

constexpr int kPings = 20'000;
constexpr std::size_t kStreamBytes = 4 << 20;
constexpr int kStreamMessages = 500;
constexpr int kStreamWindow = 4;
constexpr int kWindows = 3'000;
constexpr int kWindow = 64;

void pin(int processor) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(processor % static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN)), &set);
  static_cast<void>(sched_setaffinity(0, sizeof set, &set));
}

double seconds_of(const std::function<void()>& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

// One process's wire, with a minimal kernel that counts messages and deposits all bodies in one buffer.
class Node {
 public:
  Node(std::uint32_t rank, sim::TcpBackendChoice backend) : peer_(1 - rank), landing_(kStreamBytes) {
    sim::TcpWire::Settings settings;
    settings.rank = rank;
    settings.world = 2;
    settings.remote = {true, true};
    settings.backend = backend;
    wire_ = std::make_unique<sim::TcpWire>(std::move(settings), finished_);
    const portals::Status opened = wire_->open();
    if (!opened.ok()) std::fprintf(stderr, "%s\n", opened.sentence().c_str());
    MARGAY_ASSERT(opened.ok());
  }
  [[nodiscard]] sim::TcpWire& wire() { return *wire_; }

  void send_small() {
    std::uint64_t value = 7;
    portals::Header header;
    header.length = sizeof value;
    while (!wire_->try_send(peer_, header, portals::Region(&value, sizeof value))) round();
  }
  void send_long(sim::Transmission& transmission) {
    transmission.header.length = landing_.size();
    transmission.body = portals::Region(landing_.data(), landing_.size());
    wire_->send(peer_, transmission);
  }
  void receive(std::uint64_t messages) {
    for (wanted_ += messages; arrived_ < wanted_;) round();
  }
  void round() {
    static_cast<void>(wire_->push());
    Arrival arrival;
    while (wire_->poll(arrival)) {
      switch (arrival.kind) {
        case Arrival::Kind::whole:
          wire_->consume(), ++arrived_;
          break;
        case Arrival::Kind::started:
          wire_->accept(portals::Region(landing_.data(), landing_.size()), nullptr);
          break;
        case Arrival::Kind::finished:
          ++arrived_;
          break;
        case Arrival::Kind::cut:
        case Arrival::Kind::lost:
        case Arrival::Kind::left:
          std::fprintf(stderr, "lost: %.*s\n", static_cast<int>(arrival.loss.size()), arrival.loss.data());
          std::_Exit(1);
      }
    }
    while (finished_.pop() != nullptr) ++sent_;
  }
  [[nodiscard]] std::uint64_t sent() const { return sent_; }

 private:
  const std::uint32_t peer_;
  std::vector<std::byte> landing_;
  sim::TransmissionList finished_;
  std::unique_ptr<sim::TcpWire> wire_;
  std::uint64_t wanted_ = 0;
  std::uint64_t arrived_ = 0;
  std::uint64_t sent_ = 0;
};

void exchange_cards(Node& node, std::uint32_t rank, int channel) {
  std::string mine = node.wire().card();
  mine.resize(64, ' ');
  std::string theirs(64, ' ');
  MARGAY_ASSERT(write(channel, mine.data(), mine.size()) == 64);
  MARGAY_ASSERT(recv(channel, theirs.data(), theirs.size(), MSG_WAITALL) == 64);
  std::vector<std::string> cards(2);
  cards[rank] = mine;
  cards[1 - rank] = theirs;
  MARGAY_ASSERT(node.wire().set_cards(cards).ok());
}

void stream_out(Node& node) {
  std::vector<sim::Transmission> window(kStreamWindow);
  const std::uint64_t before = node.sent();
  for (std::uint64_t i = 0; i < kStreamMessages; ++i) {
    while (i >= node.sent() - before + kStreamWindow) node.round();
    node.send_long(window[i % kStreamWindow]);
  }
  while (node.sent() - before < kStreamMessages) node.round();
  node.receive(1);
}

void run_wire(sim::TcpBackendChoice backend) {
  int channel[2];
  MARGAY_ASSERT(socketpair(AF_UNIX, SOCK_STREAM, 0, channel) == 0);
  const pid_t child = fork();
  const std::uint32_t rank = child == 0 ? 1 : 0;
  pin(static_cast<int>(rank));
  Node node(rank, backend);
  exchange_cards(node, rank, channel[rank]);
  if (child == 0) {
    for (int i = 0; i < kPings + 100; ++i) node.receive(1), node.send_small();
    node.receive(kStreamMessages);
    node.send_small();
    for (int i = 0; i < kWindows; ++i) node.receive(kWindow), node.send_small();
    while (!node.wire().idle()) node.round();
    char end = 0;
    static_cast<void>(!read(channel[1], &end, 1));
    std::_Exit(0);
  }
  const auto ping = [&node](int times) {
    for (int i = 0; i < times; ++i) node.send_small(), node.receive(1);
  };
  ping(100);
  const double latency = seconds_of([&] { ping(kPings); }) / kPings / 2;
  const double stream = seconds_of([&] { stream_out(node); });
  const double windows = seconds_of([&] {
    for (int i = 0; i < kWindows; ++i) {
      for (int k = 0; k < kWindow; ++k) node.send_small();
      node.receive(1);
    }
  });
  std::printf("%-8s %10.2f us %10.2f GB/s %10.3f M msg/s   %s\n", std::string(name(backend)).c_str(), latency * 1e6,
              double{kStreamMessages} * kStreamBytes / stream / 1e9, double{kWindows} * kWindow / windows / 1e6,
              node.wire().backend_reason().c_str());
  static_cast<void>(!write(channel[0], "x", 1));
  waitpid(child, nullptr, 0);
}

// ---- bare sockets

void take(int socket, std::size_t bytes, std::vector<char>& buffer) {
  while (bytes != 0) {
    const ssize_t got = recv(socket, buffer.data(), std::min(bytes, buffer.size()), 0);
    if (got > 0) bytes -= static_cast<std::size_t>(got);
  }
}

void give(int socket, std::size_t bytes, std::vector<char>& buffer) {
  while (bytes != 0) {
    const ssize_t sent = send(socket, buffer.data(), std::min(bytes, buffer.size()), MSG_NOSIGNAL);
    if (sent > 0) bytes -= static_cast<std::size_t>(sent);
  }
}

int bare_connection(pid_t& child) {
  const int listener = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t bytes = sizeof address;
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  MARGAY_ASSERT(bind(listener, generic, bytes) == 0 && listen(listener, 1) == 0);
  MARGAY_ASSERT(getsockname(listener, generic, &bytes) == 0);
  child = fork();
  int link = -1;
  if (child == 0) {
    link = accept(listener, nullptr, nullptr);
  } else {
    link = socket(AF_INET, SOCK_STREAM, 0);
    MARGAY_ASSERT(connect(link, generic, bytes) == 0);
  }
  close(listener);
  const int yes = 1;
  MARGAY_ASSERT(setsockopt(link, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes) == 0);
  MARGAY_ASSERT(fcntl(link, F_SETFL, O_NONBLOCK) == 0);
  pin(child == 0 ? 1 : 0);
  return link;
}

void run_raw() {
  pid_t child = 0;
  const int link = bare_connection(child);
  std::vector<char> small(64 * 1024);
  std::vector<char> large(kStreamBytes);
  if (child == 0) {
    for (int i = 0; i < kPings; ++i) take(link, 8, small), give(link, 8, small);
    for (int i = 0; i < kStreamMessages; ++i) take(link, kStreamBytes, large);
    give(link, 8, small);
    for (int i = 0; i < kWindows; ++i) take(link, 8 * kWindow, small), give(link, 8, small);
    std::_Exit(0);
  }
  const double latency = seconds_of([&] {
    for (int i = 0; i < kPings; ++i) give(link, 8, small), take(link, 8, small);
  });
  const double stream = seconds_of([&] {
    for (int i = 0; i < kStreamMessages; ++i) give(link, kStreamBytes, large);
    take(link, 8, small);
  });
  const double windows = seconds_of([&] {
    for (int i = 0; i < kWindows; ++i) {
      for (int k = 0; k < kWindow; ++k) give(link, 8, small);
      take(link, 8, small);
    }
  });
  std::printf("%-8s %10.2f us %10.2f GB/s %10.3f M msg/s   one send() a message\n", "raw", latency / kPings / 2 * 1e6,
              double{kStreamMessages} * kStreamBytes / stream / 1e9, double{kWindows} * kWindow / windows / 1e6);
  close(link);
  waitpid(child, nullptr, 0);
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string> wanted(argv + 1, argv + argc);
  if (wanted.empty()) wanted = {"raw", "epoll", "uring"};
  std::printf("%-8s %13s %15s %19s\n", "", "8 B one way", "4 MiB stream", "8 B, 64 in flight");
  std::fflush(stdout);
  for (const std::string& what : wanted) {
    sim::TcpBackendChoice backend = sim::TcpBackendChoice::automatic;
    if (what == "raw") {
      run_raw();
    } else if (sim::parse_backend(what, backend).ok()) {
      run_wire(backend);
    } else {
      std::fprintf(stderr, "tcp_bench: '%s' is none of raw, epoll, uring\n", what.c_str());
      return 2;
    }
    std::fflush(stdout);
  }
  return 0;
}
