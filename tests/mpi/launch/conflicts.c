/* Accesses of ranks 1 and 2 to rank 0, in a window that is allocated or, with a second argument, created: some that
   conflict ("bad"), or none ("good"). The rank with the conflict prints its error, after the name of the case. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kInts = 64 };

static int rank;
static int problems;
static int* memory;
static MPI_Win win;
static int from[8] = {1, 2, 3, 4, 5, 6, 7, 8};
static int into[8];
static float reals[8];

enum epoch { kFence, kExposure, kPassive, kEpochs };
static const char* const kEpochNames[kEpochs] = {"fence", "exposure", "passive"};

static int put(void) {
  return MPI_Put(from, 4, MPI_INT, 0, 2, 4, MPI_INT, win);
}
static int get(void) {
  return MPI_Get(into, 1, MPI_INT, 0, 5, 1, MPI_INT, win);
}
static int sum(void) {
  return MPI_Accumulate(from, 2, MPI_INT, 0, 5, 2, MPI_INT, MPI_SUM, win);
}
static int max(void) {
  return MPI_Accumulate(from, 1, MPI_INT, 0, 5, 1, MPI_INT, MPI_MAX, win);
}
static int real(void) {
  return MPI_Accumulate(reals, 1, MPI_FLOAT, 0, 5, 1, MPI_FLOAT, MPI_SUM, win);
}
static int look(void) {
  return MPI_Fetch_and_op(NULL, into, MPI_INT, 0, 5, MPI_NO_OP, win);
}
static int swap(void) {
  return MPI_Compare_and_swap(from, from + 1, into + 4, MPI_INT, 0, 5, win);
}
static int fetch(void) {
  return MPI_Get_accumulate(from, 1, MPI_INT, into, 1, MPI_INT, 0, 5, 1, MPI_INT, MPI_REPLACE, win);
}

struct pair {
  const char* name;
  int (*first)(void);
  int (*second)(void);
};
static const struct pair kBad[] = {
    {"put put", put, put},   {"put get", put, get},     {"get put", get, put},   {"put sum", put, sum},
    {"sum put", sum, put},   {"get sum", get, sum},     {"sum get", sum, get},   {"put look", put, look},
    {"swap get", swap, get}, {"fetch put", fetch, put}, {"real sum", real, sum},
};
/* Accumulates of one origin are ordered. */
static const struct pair kBadBetween[] = {{"sum max", sum, max}, {"fetch sum", fetch, sum}};
static const struct pair kGood[] = {
    {"get get", get, get},   {"sum sum", sum, sum},   {"sum look", sum, look},
    {"look get", look, get}, {"swap sum", swap, sum},
};

static void check(int code, int expected, const char* name) {
  int class = MPI_SUCCESS;
  if (code != MPI_SUCCESS) MPI_Error_class(code, &class);
  if (class != expected) {
    fprintf(stderr, "rank %d: %s: class %d, not %d\n", rank, name, class, expected);
    ++problems;
  }
  if (code != MPI_SUCCESS) {
    char words[MPI_MAX_ERROR_STRING];
    int length;
    MPI_Error_string(code, words, &length);
    printf("%s: %s\n", name, words);
    fflush(stdout);
  }
}

static MPI_Group group_of(const int* ranks, int count) {
  MPI_Group all, made;
  MPI_Comm_group(MPI_COMM_WORLD, &all);
  MPI_Group_incl(all, count, ranks, &made);
  MPI_Group_free(&all);
  return made;
}

static void begin(enum epoch epoch) {
  const int target[1] = {0}, origins[2] = {1, 2};
  MPI_Group group = rank == 0 ? group_of(origins, 2) : group_of(target, 1);
  if (epoch == kFence) {
    MPI_Win_fence(0, win);
  } else if (epoch == kPassive) {
    MPI_Win_lock_all(0, win);
  } else if (rank == 0) {
    MPI_Win_post(group, 0, win);
  } else {
    MPI_Win_start(group, 0, win);
  }
  MPI_Group_free(&group);
}

static void end(enum epoch epoch) {
  if (epoch == kFence) {
    MPI_Win_fence(0, win);
  } else if (epoch == kPassive) {
    MPI_Win_unlock_all(win);
  } else if (rank == 0) {
    MPI_Win_wait(win);
  } else {
    MPI_Win_complete(win);
  }
}

/* An exposure epoch must not overlap a lock, and a passive epoch must end before the next one begins. */
static void end_for_all(enum epoch epoch) {
  end(epoch);
  MPI_Barrier(MPI_COMM_WORLD);
}

/* The barriers complete no access: the first one orders the two accesses, and after the second one the first origin may
   continue. */
static void try(const struct pair* pair, enum epoch epoch, int second, int expected) {
  char name[64];
  snprintf(name, sizeof name, "%s, %s, %s", pair->name, kEpochNames[epoch], second == 1 ? "one origin" : "two origins");
  begin(epoch);
  if (rank == 1) check(pair->first(), MPI_SUCCESS, name);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == second) check(pair->second(), expected, name);
  MPI_Barrier(MPI_COMM_WORLD);
  end_for_all(epoch);
}

/* Accesses of one origin whose local buffers overlap. */
static void origin_memory(void) {
  int numbers[4] = {0};
  MPI_Win_lock_all(0, win);
  if (rank == 1) {
    MPI_Request request;
    check(MPI_Get(numbers, 2, MPI_INT, 0, 10, 2, MPI_INT, win), MPI_SUCCESS, "origin");
    check(MPI_Put(numbers + 1, 1, MPI_INT, 2, 10, 1, MPI_INT, win), MPI_ERR_RMA_CONFLICT, "origin");
    MPI_Win_flush_local(0, win);
    check(MPI_Put(numbers + 1, 1, MPI_INT, 2, 10, 1, MPI_INT, win), MPI_SUCCESS, "origin");
    check(MPI_Put(numbers + 1, 1, MPI_INT, 2, 12, 1, MPI_INT, win), MPI_SUCCESS, "origin");
    check(MPI_Fetch_and_op(from, numbers + 1, MPI_INT, 2, 14, MPI_SUM, win), MPI_ERR_RMA_CONFLICT, "origin");
    MPI_Win_flush_local(2, win);
    check(MPI_Rget(numbers, 2, MPI_INT, 0, 10, 2, MPI_INT, win, &request), MPI_SUCCESS, "origin");
    check(MPI_Put(from, 1, MPI_INT, 0, 11, 1, MPI_INT, win), MPI_ERR_RMA_CONFLICT, "origin");
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    check(MPI_Put(numbers, 1, MPI_INT, 0, 11, 1, MPI_INT, win), MPI_SUCCESS, "origin");
  }
  MPI_Win_unlock_all(win);
  MPI_Barrier(MPI_COMM_WORLD);
}

/* More pieces than an announcement holds; the last one conflicts. */
static void pieces(void) {
  enum { kPieces = 700 };
  char* bytes;
  MPI_Win many;
  MPI_Datatype seconds;
  char* mine = calloc(2 * kPieces, 1);
  MPI_Win_allocate(2 * kPieces, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &bytes, &many);
  MPI_Win_set_errhandler(many, MPI_ERRORS_RETURN);
  MPI_Win_set_name(many, "many");
  MPI_Type_vector(kPieces, 1, 2, MPI_CHAR, &seconds);
  MPI_Type_commit(&seconds);
  MPI_Win_fence(0, many);
  if (rank == 1) check(MPI_Put(mine, 1, seconds, 0, 0, 1, seconds, many), MPI_SUCCESS, "pieces");
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 2)
    check(MPI_Put(mine + 1, 1, MPI_CHAR, 0, 2 * kPieces - 2, 1, MPI_CHAR, many), MPI_ERR_RMA_CONFLICT, "pieces");
  MPI_Win_fence(0, many);
  if (rank == 1) check(MPI_Put(mine, 1, MPI_CHAR, 0, 2 * kPieces - 2, 1, MPI_CHAR, many), MPI_SUCCESS, "pieces");
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 2) {
    check(MPI_Put(mine, 1, seconds, 0, 0, 1, seconds, many), MPI_ERR_RMA_CONFLICT, "pieces");
    /* The rejected access causes no conflict. */
    check(MPI_Get(mine, kPieces, MPI_CHAR, 0, 0, kPieces, MPI_CHAR, many), MPI_SUCCESS, "pieces");
  }
  MPI_Win_fence(0, many);
  MPI_Type_free(&seconds);
  MPI_Win_free(&many);
  free(mine);
}

/* The effect of the program's hint about operations. */
static void hints(void) {
  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, "accumulate_ops", "same_op");
  MPI_Win_set_info(win, info);
  MPI_Info_free(&info);
  try(&(struct pair){"hint", sum, look}, kFence, 2, MPI_ERR_RMA_CONFLICT);
}

static void bad(void) {
  for (int epoch = 0; epoch < kEpochs; ++epoch) {
    for (size_t i = 0; i < sizeof kBad / sizeof *kBad; ++i) {
      for (int second = 1; second <= 2; ++second) try(&kBad[i], (enum epoch)epoch, second, MPI_ERR_RMA_CONFLICT);
    }
    for (size_t i = 0; i < sizeof kBadBetween / sizeof *kBadBetween; ++i) {
      try(&kBadBetween[i], (enum epoch)epoch, 2, MPI_ERR_RMA_CONFLICT);
    }
  }
  origin_memory();
  pieces();
  hints();
}

/* Each origin completes its access before a barrier; then the other begins. Two turns, one in each
   order of the origins, for each of the three ways to complete an access. */
static void turns(void) {
  for (int turn = 0; turn < 6; ++turn) {
    const int mine = rank == 1 + turn % 2;
    MPI_Win_lock_all(0, win);
    if (mine) {
      check(turn < 4 ? put() : get(), MPI_SUCCESS, "turns");
      /* A get is complete when its origin has the data; a later put need not wait for more. */
      turn < 2 ? MPI_Win_flush(0, win) : turn < 4 ? MPI_Win_flush_all(win) : MPI_Win_flush_local(0, win);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (!mine && rank != 0) check(put(), MPI_SUCCESS, "turns");
    MPI_Win_unlock_all(win);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank != 0) {
      MPI_Request request = MPI_REQUEST_NULL;
      MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
      check(put(), MPI_SUCCESS, "locks");
      MPI_Win_flush(0, win);
      check(MPI_Rget(into, 1, MPI_INT, 0, 5, 1, MPI_INT, win, &request), MPI_SUCCESS, "locks");
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      check(put(), MPI_SUCCESS, "locks");
      MPI_Win_unlock(0, win);
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

/* A get with a request is complete with it: another rank may put as soon as it is notified. */
static void requests(void) {
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Win_lock_all(0, win);
  if (rank == 1) {
    check(MPI_Rget(into, 1, MPI_INT, 0, 5, 1, MPI_INT, win, &request), MPI_SUCCESS, "requests");
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 2) check(put(), MPI_SUCCESS, "requests");
  MPI_Win_unlock_all(win);
  MPI_Barrier(MPI_COMM_WORLD);
}

/* A get that MPI_Win_complete has ended, and then, in the same exposure epoch, a put by a rank that was notified. */
static void completed_get(void) {
  begin(kExposure);
  if (rank == 1) {
    check(get(), MPI_SUCCESS, "completed");
    end(kExposure);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 2) check(put(), MPI_SUCCESS, "completed");
  if (rank != 1) end(kExposure);
  MPI_Barrier(MPI_COMM_WORLD);
}

static void good(void) {
  for (int epoch = 0; epoch < kEpochs; ++epoch) {
    for (size_t i = 0; i < sizeof kGood / sizeof *kGood; ++i) {
      try(&kGood[i], (enum epoch)epoch, 2, MPI_SUCCESS);
    }
    /* Accumulates of one origin are ordered. */
    try(&(struct pair){"sum max", sum, max}, (enum epoch)epoch, 1, MPI_SUCCESS);
    /* Conflicting accesses in different epochs are valid. */
    for (int origin = 1; origin <= 2; ++origin) {
      begin((enum epoch)epoch);
      if (rank == origin) check(put(), MPI_SUCCESS, "epochs");
      end((enum epoch)epoch);
      if (epoch == kPassive) MPI_Barrier(MPI_COMM_WORLD);
      begin((enum epoch)epoch);
      if (rank == 3 - origin) check(get(), MPI_SUCCESS, "epochs");
      end_for_all((enum epoch)epoch);
    }
  }
  turns();
  requests();
  completed_get();
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (argc > 2 && strcmp(argv[2], "created") == 0) {
    memory = calloc(kInts, sizeof(int));
    MPI_Win_create(memory, kInts * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  } else {
    MPI_Win_allocate(kInts * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
  }
  MPI_Win_set_name(win, "numbers");
  if (argc < 2 || strcmp(argv[1], "fatal") != 0) MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
  if (argc > 1 && strcmp(argv[1], "good") == 0) {
    good();
  } else {
    bad();
  }
  MPI_Win_free(&win);
  if (argc > 2 && strcmp(argv[2], "created") == 0) free(memory);
  MPI_Finalize();
  return problems != 0;
}
