// A test of random collectives: compares results with a reference that each rank computes by itself (MPI 4.0,
// chapter 6): every operation, in all forms, up to 16 in progress at once, on four communicators, one of them an
// intercommunicator. All ranks draw the same calls from the seed, so each rank can compute the data of all others; each
// is late now and then. (differential.py runs the program with many seeds.)
//   collectives_random [calls [seed [elements of the longest]]]
// ranks: 1 2 3 5 8
// reference: 2 3
#include "random_calls_draw.h"

enum { kAtOnce = 16, kLateUsMost = 300 };

// Drawn for each rank, so the overlap of calls depends on the seed.
static void be_late(unsigned seed, int number, int rank) {
  const unsigned drawn = mix(seed, (unsigned)number, 1000u + (unsigned)rank);
  if (drawn % 32 == 0) usleep(drawn / 32 % kLateUsMost);
}

int main(int argc, char** argv) {
  suite_begin(&argc, &argv);
  const int calls = argc > 1 ? atoi(argv[1]) : 400;
  const unsigned seed = argc > 2 ? (unsigned)atoi(argv[2]) : 1;
  struct Deck deck;
  deal(&deck, MPI_COMM_WORLD, seed);
  deck.longest = argc > 3 ? atoi(argv[3]) : 0;
  struct Call* open[kAtOnce];
  int opened = 0;
  for (int number = 0; number < calls; ++number) {
    struct Call* call = memory_of(sizeof *call);
    draw(call, number, &deck);
    be_late(seed, number, deck.comms[0].rank);
    begin(call);
    if (call->form == kBlocking) {
      finish(call);
      free(call);
    } else {
      open[opened++] = call;
    }
    // All ranks end them in the same order: those that are started again wait for their peers.
    while (opened == kAtOnce || (opened > 0 && (number == calls - 1 || mix(seed, (unsigned)number, 77) % 7 == 0))) {
      finish(open[0]);
      free(open[0]);
      memmove(open, open + 1, (size_t)--opened * sizeof open[0]);
    }
  }
  put_away(&deck);
  return suite_end("collectives_random");
}
