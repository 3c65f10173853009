// A member of a window dies, and the survivors continue: window_deaths FLAVOR PLACE VICTIM US. Errors return.
//   FLAVOR: create allocate shared dynamic
//   PLACE, US microseconds after the start of the epochs unless noted otherwise:
//     locks     in lock, put, accumulate, unlock of random members, shared and exclusive, again and again
//     all       the same under MPI_Win_lock_all
//     fences    in fences and puts, again and again
//     groups    in post, start, put, complete, wait, again and again
//     holding   at once, with an exclusive lock of each member; the others wait for it
//     waiting   while it waits for a lock that its holder keeps until the death is known
// Only calls that need the victim may fail, with the class for failed processes. Afterwards every survivor locks every
// living member kRounds times, and increments a counter there by get and put: the sums are exact.
#include <signal.h>
#include <time.h>

#include <unistd.h>

#include "survivors_barrier.h"

enum { kCells = 64, kCounts = 60, kRounds = 20, kLoopsMax = 100000000, kEpochs = 1000 };

static int rank, size, victim, death_us;
static int* memory;
static MPI_Aint bases[64];
static int is_dynamic;
static MPI_Win window;

static MPI_Aint place(int target, int cell) {
  return is_dynamic ? MPI_Aint_add(bases[target], cell * (MPI_Aint)sizeof(int)) : cell;
}

static int dead_or_well(int code, const char* what) {
  if (code != MPI_SUCCESS)
    CHECK(class_of(code) == MPIX_ERR_PROC_FAILED, "%s: error class %d, not of a failed process", what, class_of(code));
  return code != MPI_SUCCESS;
}

static void die_in(int us) {
  struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGKILL};
  const struct itimerspec after = {.it_value = {.tv_sec = us / 1000000, .tv_nsec = (us % 1000000 + 1) * 1000L}};
  timer_t timer;
  if (timer_create(CLOCK_MONOTONIC, &event, &timer) != 0 || timer_settime(timer, 0, &after, NULL) != 0) abort();
}

static void make_window(const char* flavor) {
  const MPI_Aint bytes = kCells * (MPI_Aint)sizeof(int);
  is_dynamic = strcmp(flavor, "dynamic") == 0;
  if (strcmp(flavor, "allocate") == 0) {
    MPI_Win_allocate(bytes, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
  } else if (strcmp(flavor, "shared") == 0) {
    MPI_Win_allocate_shared(bytes, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
  } else {
    memory = calloc(kCells, sizeof(int));
    if (is_dynamic) {
      MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &window);
      MPI_Win_attach(window, memory, bytes);
    } else {
      MPI_Win_create(memory, bytes, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    }
  }
  MPI_Aint mine;
  MPI_Get_address(memory, &mine);
  MPI_Allgather(&mine, 1, MPI_AINT, bases, 1, MPI_AINT, MPI_COMM_WORLD);
  memset(memory, 0, (size_t)bytes);
  MPI_Win_set_errhandler(window, MPI_ERRORS_RETURN);
  // Every pair communicates: under a launcher that ends no process, the death of a process on another node without a
  // connection would not be detected.
  for (int other = 0; other < size; ++other) {
    MPI_Sendrecv(NULL, 0, MPI_BYTE, other, 2, NULL, 0, MPI_BYTE, other, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

static int access_it(int target, int number) {
  int one = 1;
  int failed = dead_or_well(MPI_Put(&number, 1, MPI_INT, target, place(target, rank), 1, MPI_INT, window), "MPI_Put");
  if (!failed)
    failed = dead_or_well(MPI_Accumulate(&one, 1, MPI_INT, target, place(target, 32), 1, MPI_INT, MPI_SUM, window),
                          "MPI_Accumulate");
  return failed;
}

// Accesses random members until a call detects the death.
static void locks(void) {
  unsigned draw = (unsigned)(rank + 1) * 2654435761u + (unsigned)death_us;
  for (int number = 0, failed = 0; !failed && number < kLoopsMax; ++number) {
    draw = draw * 1664525u + 1013904223u;
    const int target = (int)(draw >> 16) % size;
    const int kind = draw >> 31 ? MPI_LOCK_EXCLUSIVE : MPI_LOCK_SHARED;
    if (dead_or_well(MPI_Win_lock(kind, target, 0, window), "MPI_Win_lock")) {
      CHECK(target == victim, "a lock of rank %d, which lives, fails", target);
      return;
    }
    failed = access_it(target, number);
    failed |= dead_or_well(MPI_Win_unlock(target, window), "MPI_Win_unlock");
    CHECK(!failed || target == victim, "an epoch with rank %d, which lives, fails", target);
  }
}

static void all(void) {
  int failed = dead_or_well(MPI_Win_lock_all(0, window), "MPI_Win_lock_all");
  for (int number = 0; !failed && number < kLoopsMax; ++number) {
    failed = access_it(number % size, number);
    failed |= dead_or_well(MPI_Win_flush(number % size, window), "MPI_Win_flush");
  }
  dead_or_well(MPI_Win_unlock_all(window), "MPI_Win_unlock_all");
}

// Each member makes equally many fences, even if a member dies meanwhile: a rank that left at its first failure would
// not enter the fences of those without one.
static void fences(void) {
  dead_or_well(MPI_Win_fence(0, window), "MPI_Win_fence");
  for (int number = 0; number < kEpochs; ++number) {
    for (int target = 0; target < size; ++target) access_it(target, number);
    dead_or_well(MPI_Win_fence(0, window), "MPI_Win_fence");
  }
}

static void groups(void) {
  MPI_Group all_members;
  MPI_Win_get_group(window, &all_members);
  for (int number = 0; number < kEpochs; ++number) {
    dead_or_well(MPI_Win_post(all_members, 0, window), "MPI_Win_post");
    dead_or_well(MPI_Win_start(all_members, 0, window), "MPI_Win_start");
    for (int target = 0; target < size; ++target) access_it(target, number);
    dead_or_well(MPI_Win_complete(window), "MPI_Win_complete");
    dead_or_well(MPI_Win_wait(window), "MPI_Win_wait");
  }
  MPI_Group_free(&all_members);
}

static void wait_for_death(void) {
  CHECK(dead_or_well(MPI_Recv(NULL, 0, MPI_BYTE, victim, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE), "MPI_Recv"),
        "rank %d lives", victim);
}

static void holding(void) {
  if (rank == victim) {
    for (int target = 0; target < size; ++target) MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, window);
    access_it((victim + 1) % size, 1);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == victim) kill(getpid(), SIGKILL);
}

static void waiting(void) {
  const int holder = victim == 0 ? 1 : 0;
  if (rank == holder) MPI_Win_lock(MPI_LOCK_EXCLUSIVE, holder, 0, window);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == victim) {
    die_in(death_us);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, holder, 0, window);
    for (;;) pause();
  }
  if (rank != holder) return;
  wait_for_death();
  dead_or_well(MPI_Win_unlock(holder, window), "MPI_Win_unlock");
}

// Increments counters by get and put, which is atomic only under the lock.
static void count_under_locks(void) {
  for (int round = 0; round < kRounds; ++round) {
    for (int i = 0; i < size; ++i) {
      const int target = (i + rank) % size;
      int before = -1;
      if (target == victim) continue;
      CHECK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, window) == MPI_SUCCESS, "no lock of rank %d", target);
      MPI_Get(&before, 1, MPI_INT, target, place(target, kCounts), 1, MPI_INT, window);
      CHECK(MPI_Win_flush(target, window) == MPI_SUCCESS, "no flush to rank %d", target);
      ++before;
      MPI_Put(&before, 1, MPI_INT, target, place(target, kCounts), 1, MPI_INT, window);
      CHECK(MPI_Win_unlock(target, window) == MPI_SUCCESS, "no unlock of rank %d", target);
    }
  }
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  if (argc < 5) return 99;
  const char* where = argv[2];
  rank = world_rank();
  size = world_size();
  victim = atoi(argv[3]);
  death_us = atoi(argv[4]);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  make_window(argv[1]);
  const int loops = strcmp(where, "holding") != 0 && strcmp(where, "waiting") != 0;
  if (loops && rank == victim) die_in(death_us);
  if (strcmp(where, "locks") == 0) locks();
  if (strcmp(where, "all") == 0) all();
  if (strcmp(where, "fences") == 0) fences();
  if (strcmp(where, "groups") == 0) groups();
  if (strcmp(where, "holding") == 0) holding();
  if (strcmp(where, "waiting") == 0) waiting();
  if (rank == victim) {
    for (;;) pause();
  }
  count_under_locks();
  survivors_barrier(rank, size, victim);
  CHECK(memory[kCounts] == kRounds * (size - 1), "%d counted here, not %d", memory[kCounts], kRounds * (size - 1));
  wait_for_death();
  CHECK(dead_or_well(MPI_Win_lock(MPI_LOCK_SHARED, victim, 0, window), "MPI_Win_lock"), "a lock of the dead");
  printf("rank %d: lives\n", rank);
  fflush(stdout);
  _exit(suite_failures != 0);
}
