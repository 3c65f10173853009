/* The measured functions, and the turns of the ranks: cost.h. */
#include "cost.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>

enum { kWindows = 100 };

void measured_send(Step step);
void measured_receive(Step step);

/* A window ready to be received into, sent, received. */
typedef struct Turns {
  unsigned ready, sent, received;
} Turns;

/* Their names are in context_cost.py. The empty instructions keep the compiler from tail calls, and the comments in
 * them from making one function of both. */
__attribute__((noinline)) void measured_send(Step step) {
  step();
  __asm__ volatile("# sent" ::: "memory");
}
__attribute__((noinline)) void measured_receive(Step step) {
  step();
  __asm__ volatile("# received" ::: "memory");
}

static void publish(unsigned* turn, unsigned window) {
  __atomic_store_n(turn, window, __ATOMIC_RELEASE);
}
static void await(const unsigned* turn, unsigned window) {
  while (__atomic_load_n(turn, __ATOMIC_ACQUIRE) != window) sched_yield();
}

int run_windows(int rank, const char* path, Step prepare, Step send, Step receive) {
  const int file = open(path, O_RDWR);
  void* memory = file < 0 ? MAP_FAILED : mmap(NULL, sizeof(Turns), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  Turns* turns = (Turns*)memory;
  unsigned window;
  if (memory == MAP_FAILED) {
    perror(path);
    return 1;
  }
  for (window = 1; window <= kWindows; ++window) {
    if (rank == 0) {
      await(&turns->ready, window);
      measured_send(send);
      publish(&turns->sent, window);
      await(&turns->received, window);
    } else {
      if (prepare) measured_receive(prepare);
      publish(&turns->ready, window);
      await(&turns->sent, window);
      measured_receive(receive);
      publish(&turns->received, window);
    }
  }
  if (rank == 1) printf("%d messages\n", kWindow * kWindows);
  return 0;
}
