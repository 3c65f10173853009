// Figure 6 of the Nexus paper: two ping-pongs at once, one by the fast network between contexts 0 and 1, one by the slow
// network between contexts 0 and 2 (figure 5). They end when the fast one has made its round trips.
//
//     figure6 ROUND_TRIPS BYTES
//
// Prints `bytes N fast_us ONE_WAY slow_us ONE_WAY slow_trips N polls N hits N`; the polls are those of context 0's slow
// network.
#include <cstdlib>

#include "contexts.hpp"

using namespace margay::nexus;

namespace {

// A context's side of the ping-pongs: a handler sends the ball back at once.
struct Player {
  std::vector<Startpoint>* all = nullptr;
  Buffer ball;
  int fast = 0, slow = 0, rounds = 0;
  bool is_over = false;
};

void play(Player& me, int peer, const char* handler) {
  send((*me.all)[static_cast<std::size_t>(peer)], handler, me.ball).check();
}

}  // namespace

int main(int argc, char** argv) {
  const Libraries libraries(argc, argv);
  if (argc != 3 || contexts() != 3) {
    std::fprintf(stderr, "use: margay run -n 3 --nodes 2 --ppn 2 figure6 ROUND_TRIPS BYTES\n");
    return 1;
  }
  Player me;
  me.rounds = std::atoi(argv[1]);
  me.ball = body_of(std::strtoull(argv[2], nullptr, 10));
  register_handler("fast", [](Endpoint& endpoint, Buffer&) {
    Player& player = endpoint.local<Player>();
    if (context() == 1) return play(player, 0, "fast");
    if (++player.fast < player.rounds) play(player, 1, "fast");
  });
  register_handler("slow", [](Endpoint& endpoint, Buffer&) {
    Player& player = endpoint.local<Player>();
    if (context() == 2) return play(player, 0, "slow");
    ++player.slow;
    if (player.fast < player.rounds) play(player, 2, "slow");
  });
  register_handler("over", [](Endpoint& endpoint, Buffer&) { endpoint.local<Player>().is_over = true; });
  const Endpoint endpoint(&me);
  std::vector<Startpoint> all = exchange(Startpoint(endpoint));
  me.all = &all;
  MPI_Barrier(MPI_COMM_WORLD);
  if (context() == 0) {
    const SlowPolls before = slow_polls();
    const double begin = MPI_Wtime();
    play(me, 2, "slow");
    play(me, 1, "fast");
    wait_until([&] { return me.fast == me.rounds; });
    const double us = (MPI_Wtime() - begin) * 1e6;
    const SlowPolls after = slow_polls();
    std::printf("bytes %s fast_us %.3f slow_us %.3f slow_trips %d polls %llu hits %llu\n", argv[2], us / (2 * me.rounds),
                me.slow == 0 ? 0 : us / (2 * me.slow), me.slow, after.polls - before.polls, after.hits - before.hits);
    send(all[1], "over").check();
    send(all[2], "over").check();
  } else {
    wait_until([&] { return me.is_over; });
  }
  MPI_Barrier(MPI_COMM_WORLD);
  return 0;
}
