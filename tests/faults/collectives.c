// A program of random collective calls, blocking, nonblocking and persistent, during which one member dies: collectives
// CALLS SEED. Errors return. The seed determines the victim, the call and its progress at the death. Every other rank
// must terminate; a call that succeeds must have the right result, and only a call with the victim among its members
// may fail. Each survivor prints the numbers of calls that succeeded and failed.
#include <signal.h>
#include <time.h>

#include "../mpi/random_calls_draw.h"
#include "survivors_barrier.h"

enum { kAtOnce = 16, kWithinUs = 3000 };
enum { kBeforeCall, kInCall, kLater, kPlaces };  // the time of death: kLater is some time after the call began

struct Death {
  int victim, call, place, us;
};

static int calls_well, calls_failed;

static struct Death draw_death(unsigned seed, int calls, int size) {
  return (struct Death){.victim = (int)(mix(seed, 1, 71) % (unsigned)size),
                        .call = (int)(mix(seed, 2, 71) % (unsigned)calls),
                        .place = (int)(mix(seed, 3, 71) % kPlaces),
                        .us = (int)(mix(seed, 4, 71) % kWithinUs)};
}

static void die(void) {
  kill(getpid(), SIGKILL);
}

static void die_in(int us) {
  struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGKILL};
  const struct itimerspec after = {.it_value = {.tv_nsec = (us + 1) * 1000L}};
  timer_t timer;
  if (timer_create(CLOCK_MONOTONIC, &event, &timer) != 0 || timer_settime(timer, 0, &after, NULL) != 0) die();
}

static void mark_comms(struct Deck* deck, int victim) {
  for (int i = 0; i < deck->comms_made; ++i) {
    struct Comm* comm = &deck->comms[i];
    MPI_Comm_set_errhandler(comm->comm, MPI_ERRORS_RETURN);
    for (int member = 0; member < comm->size; ++member) comm->may_fail |= comm->mine[member] == victim;
    for (int member = 0; member < comm->peers; ++member) comm->may_fail |= comm->theirs[member] == victim;
  }
}

static void end_call(struct Call* call) {
  finish(call);
  *(call->code == MPI_SUCCESS ? &calls_well : &calls_failed) += 1;
  free(call);
}

static void make_calls(const struct Deck* deck, int calls, const struct Death* death, int dies) {
  struct Call* open[kAtOnce];
  int opened = 0;
  for (int number = 0; number < calls; ++number) {
    struct Call* call = memory_of(sizeof *call);
    const int here = dies && number == death->call;
    draw(call, number, deck);
    if (here && death->place == kBeforeCall) die();
    if (here && death->place == kLater) die_in(death->us);
    begin(call);
    if (here && death->place == kInCall) die();
    open[opened++] = call;
    const int all = number == calls - 1 || mix(deck->seed, (unsigned)number, 77) % 7 == 0;
    if (call->form == kBlocking) end_call(open[--opened]);
    while (opened > 0 && (opened == kAtOnce || all)) {
      end_call(open[0]);
      memmove(open, open + 1, (size_t)--opened * sizeof open[0]);
    }
  }
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int calls = argc > 1 ? atoi(argv[1]) : 60, rank = world_rank(), size = world_size();
  const unsigned seed = argc > 2 ? (unsigned)atoi(argv[2]) : 1;
  const struct Death death = draw_death(seed, calls, size);
  struct Deck deck;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  deal(&deck, MPI_COMM_WORLD, seed);
  mark_comms(&deck, death.victim);
  MPI_Barrier(MPI_COMM_WORLD);
  make_calls(&deck, calls, &death, rank == death.victim);
  if (rank == death.victim) die();
  // All members are needed for another communicator.
  MPI_Comm other = MPI_COMM_NULL;
  const int code = MPI_Comm_dup(MPI_COMM_WORLD, &other);
  CHECK(class_of(code) == MPIX_ERR_PROC_FAILED, "a communicator with the dead: error class %d", class_of(code));
  survivors_barrier(rank, size, death.victim);
  printf("rank %d: %d calls well, %d failed\n", rank, calls_well, calls_failed);
  fflush(stdout);
  _exit(suite_failures != 0);
}
