// Tests with MPI_THREAD_MULTIPLE: four threads, each with communicators of its own and more than a hundred collectives
// in progress on them. Between these each thread sends messages to both neighbors and makes blocking calls.
// Communicators, operations and types are freed while their calls are in progress. Each rank completes the calls in
// another order.
//   collectives_threads [seed]
// ranks: 2 5
// reference: 2
#include <pthread.h>

#include "random_calls_draw.h"

enum { kThreads = 4, kDecks = 2, kCallsOfDeck = 80, kTalksOfDeck = 30 };

// A message to the next rank and one from the previous rank.
struct Talk {
  int number, count;
  int *out, *in;
  MPI_Request requests[2];
};

struct Thread {
  pthread_t id;
  unsigned seed;
  MPI_Comm base;
  struct Deck decks[kDecks];
  struct Call* open[kDecks * kCallsOfDeck];
  struct Talk talks[kDecks * kTalksOfDeck];
  int opened, talks_begun;
};

static int said(const struct Thread* me, const struct Talk* talk, int from, int index) {
  return (int)(mix(me->seed + (unsigned)talk->number, (unsigned)from, (unsigned)index) >> 1);
}

static void begin_talk(struct Thread* me, const struct Comm* comm) {
  static const int counts[] = {1, 300, 3000, 30000};
  struct Talk* talk = &me->talks[me->talks_begun];
  const int next = (comm->rank + 1) % comm->size, before = (comm->rank + comm->size - 1) % comm->size;
  talk->number = me->talks_begun++;
  talk->count = counts[talk->number % 4];
  talk->out = memory_of((size_t)talk->count * sizeof(int));
  talk->in = memory_of((size_t)talk->count * sizeof(int));
  for (int i = 0; i < talk->count; ++i) talk->out[i] = said(me, talk, comm->mine[comm->rank], i);
  MPI_Isend(talk->out, talk->count, MPI_INT, next, talk->number, comm->comm, &talk->requests[0]);
  MPI_Irecv(talk->in, talk->count, MPI_INT, before, talk->number, comm->comm, &talk->requests[1]);
}

static void end_talk(struct Thread* me, struct Talk* talk) {
  const struct Comm* world = &me->decks[0].comms[0];
  const int before = world->mine[(world->rank + world->size - 1) % world->size];
  MPI_Wait(&talk->requests[0], MPI_STATUS_IGNORE);
  MPI_Wait(&talk->requests[1], MPI_STATUS_IGNORE);
  int right = 0;
  while (right < talk->count && talk->in[right] == said(me, talk, before, right)) ++right;
  CHECK(right == talk->count, "message %d: number %d of %d is %d", talk->number, right, talk->count, talk->in[right]);
  free(talk->out);
  free(talk->in);
}

static void close_call(struct Thread* me, int which) {
  finish(me->open[which]);
  free(me->open[which]);
  me->open[which] = me->open[--me->opened];
}

// Tests one of the calls in progress, and frees it if it is complete. Each rank chooses a call by itself.
static void ask_for_one(struct Thread* me, unsigned drawn) {
  if (me->opened == 0) return;
  const int which = (int)(drawn % (unsigned)me->opened);
  int over = 0;
  me->open[which]->code = MPI_Test(&me->open[which]->request, &over, MPI_STATUS_IGNORE);
  if (over) close_call(me, which);
}

static void use_deck(struct Thread* me, int which) {
  struct Deck* deck = &me->decks[which];
  const unsigned seed = me->seed + (unsigned)which;
  deal(deck, me->base, seed);
  const unsigned rank = (unsigned)deck->comms[0].rank;
  for (int number = 0; number < kCallsOfDeck; ++number) {
    struct Call* call = memory_of(sizeof *call);
    draw(call, number, deck);
    // Few are completed immediately; on MPICH all those on intercommunicators (see draw()).
    const int waits = number % 10 == 0 || call->form == kPersistent || (call->comm->inter && !on_margay());
    if (!waits) call->form = kNonblocking;
    begin(call);
    me->open[me->opened++] = call;
    if (waits) close_call(me, me->opened - 1);
    if (number * kTalksOfDeck / kCallsOfDeck != (number + 1) * kTalksOfDeck / kCallsOfDeck)
      begin_talk(me, &deck->comms[0]);
    const unsigned drawn = mix(seed, rank, (unsigned)number);
    if (drawn % 8 == 0) ask_for_one(me, drawn / 8);
  }
  put_away(deck);
}

static void* run_thread(void* argument) {
  struct Thread* me = argument;
  for (int which = 0; which < kDecks; ++which) use_deck(me, which);
  const unsigned rank = (unsigned)me->decks[0].comms[0].rank;
  for (int talk = 0; talk < me->talks_begun; talk += 2) end_talk(me, &me->talks[talk]);
  while (me->opened > 0) close_call(me, (int)(mix(me->seed, rank, (unsigned)me->opened) % (unsigned)me->opened));
  for (int talk = 1; talk < me->talks_begun; talk += 2) end_talk(me, &me->talks[talk]);
  MPI_Comm_free(&me->base);
  return NULL;
}

int main(int argc, char** argv) {
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  CHECK(provided == MPI_THREAD_MULTIPLE, "thread level %d", provided);
  static struct Thread threads[kThreads];
  for (int i = 0; i < kThreads; ++i) {
    threads[i].seed = (unsigned)(argc > 1 ? atoi(argv[1]) : 1) * 1000u + (unsigned)i * 100u;
    MPI_Comm_dup(MPI_COMM_WORLD, &threads[i].base);
  }
  for (int i = 0; i < kThreads; ++i) pthread_create(&threads[i].id, NULL, run_thread, &threads[i]);
  for (int i = 0; i < kThreads; ++i) pthread_join(threads[i].id, NULL);
  return suite_end("collectives_threads");
}
