// A program in which every rank makes a known number of window accesses to the next rank in each kind of epoch, and one
// to itself. Then it prints MPI_T's counts of them. "allocate" or "create": the origin of the window's memory.
// "strided": only puts and gets of ten blocks.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kInts = 1000, kBlocks = 10 };

static const char* const kNames[] = {
    "puts_direct",        "puts_direct_bytes",        "puts_process",        "puts_process_bytes",
    "puts_message",       "puts_message_bytes",       "gets_direct",         "gets_direct_bytes",
    "gets_process",       "gets_process_bytes",       "gets_message",        "gets_message_bytes",
    "accumulates_direct", "accumulates_direct_bytes", "accumulates_message", "accumulates_message_bytes"};
enum { kCounts = sizeof kNames / sizeof *kNames };

static MPI_T_pvar_session session;
static MPI_T_pvar_handle handles[kCounts];

static void begin_counting(void) {
  int provided, count;
  MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
  MPI_T_pvar_session_create(&session);
  for (int i = 0; i < kCounts; ++i) {
    const int class = strstr(kNames[i], "_bytes") ? MPI_T_PVAR_CLASS_AGGREGATE : MPI_T_PVAR_CLASS_COUNTER;
    int index;
    if (MPI_T_pvar_get_index(kNames[i], class, &index) != MPI_SUCCESS) MPI_Abort(MPI_COMM_WORLD, 2);
    MPI_T_pvar_handle_alloc(session, index, NULL, &handles[i], &count);
    MPI_T_pvar_start(session, handles[i]);
  }
}

static void print_counts(int rank) {
  for (int i = 0; i < kCounts; ++i) {
    unsigned long long value = 0;
    MPI_T_pvar_read(session, handles[i], &value);
    if (value != 0) printf("rank %d %s %llu\n", rank, kNames[i], value);
  }
  MPI_T_pvar_session_free(&session);
  MPI_T_finalize();
}

static void in_each_epoch(MPI_Win win, int rank, int next, int before) {
  int mine[20] = {0}, result[20], one = 1, none = 0;
  MPI_Win_fence(0, win);
  MPI_Put(mine, 10, MPI_INT, next, 0, 10, MPI_INT, win);
  MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
  MPI_Group world, origin, target;
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  MPI_Group_incl(world, 1, &before, &origin);
  MPI_Group_incl(world, 1, &next, &target);
  MPI_Win_post(origin, 0, win);
  MPI_Win_start(target, 0, win);
  MPI_Put(mine, 20, MPI_INT, next, 100, 20, MPI_INT, win);
  MPI_Win_complete(win);
  MPI_Win_wait(win);
  MPI_Group_free(&world);
  MPI_Group_free(&origin);
  MPI_Group_free(&target);
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, next, 0, win);
  MPI_Get(result, 5, MPI_INT, next, 50, 5, MPI_INT, win);
  MPI_Win_unlock(next, win);
  MPI_Win_lock(MPI_LOCK_SHARED, next, 0, win);
  MPI_Put(mine, 1, MPI_INT, next, 7, 1, MPI_INT, win);
  MPI_Win_flush(next, win);
  MPI_Win_unlock(next, win);
  MPI_Win_lock_all(0, win);
  MPI_Accumulate(mine, 2, MPI_INT, next, 200, 2, MPI_INT, MPI_SUM, win);
  MPI_Get_accumulate(mine, 3, MPI_INT, result, 3, MPI_INT, next, 210, 3, MPI_INT, MPI_SUM, win);
  MPI_Fetch_and_op(&one, result, MPI_INT, next, 220, MPI_SUM, win);
  MPI_Compare_and_swap(&one, &none, result, MPI_INT, next, 230, win);
  MPI_Win_unlock_all(win);
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, win);
  MPI_Put(mine, 4, MPI_INT, rank, 300, 4, MPI_INT, win);
  MPI_Win_unlock(rank, win);
}

// Blocks of one int, with a stride of three.
static void strided(MPI_Win win, const int* memory, int rank, int next, int before) {
  int mine[kBlocks], back[kBlocks] = {0};
  MPI_Datatype thirds;
  MPI_Type_vector(kBlocks, 1, 3, MPI_INT, &thirds);
  MPI_Type_commit(&thirds);
  for (int i = 0; i < kBlocks; ++i) mine[i] = 100 * rank + i + 1;
  MPI_Win_fence(0, win);
  MPI_Put(mine, kBlocks, MPI_INT, next, 4, 1, thirds, win);
  MPI_Win_fence(0, win);
  MPI_Get(back, kBlocks, MPI_INT, next, 4, 1, thirds, win);
  MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
  for (int i = 0; i < kBlocks; ++i) {
    if (memory[4 + 3 * i] != 100 * before + i + 1 || back[i] != mine[i]) MPI_Abort(MPI_COMM_WORLD, 3);
  }
  MPI_Type_free(&thirds);
}

int main(int argc, char** argv) {
  int rank, size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int next = (rank + 1) % size, before = (rank + size - 1) % size;
  const int creates = argc > 1 && strcmp(argv[1], "create") == 0;
  begin_counting();
  int* memory = NULL;
  MPI_Win win;
  if (creates) {
    memory = calloc(kInts, sizeof(int));
    MPI_Win_create(memory, kInts * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  } else {
    MPI_Win_allocate(kInts * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
  }
  if (argc > 2 && strcmp(argv[2], "strided") == 0) {
    strided(win, memory, rank, next, before);
  } else {
    in_each_epoch(win, rank, next, before);
  }
  MPI_Win_free(&win);
  if (creates) free(memory);
  print_counts(rank);
  MPI_Finalize();
  return 0;
}
