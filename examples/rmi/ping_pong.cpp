// A ping-pong of two nodes by RMI, in turns with the explicit program (paper 004, section 7.1):
//
//   margay run -n 2 ping_pong_beside_mpi latency [REPEATS [PLAYS]]                    table 1
//   margay run -n 1 --threads 2 ping_pong_beside_threads pings [REPEATS [MOST]]       figure 2; figure 3 with MPI
//
// `latency`: a ping and a pong; by RMI two asynchronous requests, or a synchronous call. `pings`: 1 to MOST consecutive
// pings of 32 bytes before a pong, with aggregation factors of 1 to 512. Prints measure.hpp's lines; fails if a ping or
// a pong is lost.
#include <array>
#include <cstdint>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <string_view>

#include "by_hand.hpp"
#include "measure.hpp"

namespace {

namespace rmi = margay::rmi;

constexpr std::array kFactors{1, 8, 16, 32, 64, 128, 256, 512};
constexpr std::array kPings{1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000};
constexpr int kPingsOfASample = 2000;  // at least, so that the clock's resolution does not matter

class Player {
 public:
  // Node 0: `plays` times `pings` requests, and the wait for the pong. Node 1 executes them.
  void play(int pings, int plays) {
    expect(pings * plays);
    for (int i = 0; i < plays && first(); ++i) {
      const std::uint64_t before = pongs_;
      for (int left = pings - 1; left >= 0; --left) rmi::async_rmi(1, this, &Player::ping, left);
      while (pongs_ == before) rmi::rmi_wait();
      if (pongs_ != before + 1) throw std::runtime_error("several pongs answer one play");
    }
    serve();
  }
  void ask(int plays) {
    expect(plays);
    for (int i = 0; i < plays && first(); ++i) static_cast<void>(rmi::sync_rmi(1, this, &Player::answer));
    serve();
  }

 private:
  [[nodiscard]] static bool first() { return rmi::get_node_id() == 0; }
  void expect(int pings) { expected_ += static_cast<std::uint64_t>(pings); }
  void serve() {
    while (!first() && pings_ < expected_) rmi::rmi_wait();
    if (!first() && pings_ != expected_) throw std::runtime_error("a ping arrived twice");
  }

  void ping(int left) {
    ++pings_;
    if (left == 0) rmi::async_rmi(0, this, &Player::pong);
  }
  void pong() { ++pongs_; }
  std::uint64_t answer() { return ++pings_; }

  // All pings up to the present play, and those that arrived; node 0's pongs.
  std::uint64_t expected_ = 0, pings_ = 0, pongs_ = 0;
};

void latency(Player& player, int repeats, int plays) {
  const by_hand::PingPong& explicit_one = by_hand::ping_pongs().front();
  for (int repeat = 0; repeat < repeats; ++repeat) {
    example::measure(explicit_one.name, 1, plays, [&] {
      for (int i = 0; i < plays; ++i) explicit_one.play(1);
    });
    example::measure("async_rmi", 1, plays, [&] { player.play(1, plays); });
    example::measure("sync_rmi", 1, plays, [&] { player.ask(plays); });
  }
}

void consecutive(Player& player, int repeats, int most) {
  for (int repeat = 0; repeat < repeats; ++repeat) {
    for (const int pings : kPings) {
      if (pings > most) break;
      const int plays = (kPingsOfASample + pings - 1) / pings;
      for (const by_hand::PingPong& one : by_hand::ping_pongs()) {
        example::measure(one.name, pings, plays, [&] {
          for (int i = 0; i < plays; ++i) one.play(pings);
        });
      }
      for (const int factor : kFactors) {
        rmi::set_aggregation(1, static_cast<std::uint32_t>(factor));
        example::measure("factor " + std::to_string(factor), pings, plays, [&] { player.play(pings, plays); });
      }
    }
  }
}

int program(int argc, char** argv) {
  const std::string_view mode = argc > 1 ? argv[1] : "";
  if ((mode != "latency" && mode != "pings") || rmi::get_num_nodes() != 2) {
    std::fprintf(stderr, "usage: %s latency [REPEATS [PLAYS]] | pings [REPEATS [MOST]], on 2 nodes\n", argv[0]);
    return 2;
  }
  const int repeats = example::count_argument(argc, argv, 2, 11);
  Player player;
  const rmi::rmi_object<Player> handle(player);
  if (mode == "latency")
    latency(player, repeats, example::count_argument(argc, argv, 3, 5000));
  else
    consecutive(player, repeats, example::count_argument(argc, argv, 3, kPings.back()));
  rmi::rmi_fence();
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  return by_hand::run(argc, argv, program);
}
