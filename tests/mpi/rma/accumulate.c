// Tests of accumulates: sums that are right only if the updates are atomic, of every width; replace and no-op; pairs;
// types with gaps; long ones; and accumulates of no elements, whose operation need not fit the datatype.
// ranks: 1 2 3 8
// reference: 2
// wires: shm uring
#include "windows.h"

enum { kRounds = 50, kCount = 33 };

#define SUM_OF(TYPE, MPI_TYPE)                                                                          \
  static void sum_##TYPE(struct test_window* window, const char* name) {                                \
    TYPE ones[kCount], got[kCount];                                                                     \
    for (int i = 0; i < kCount; ++i) ones[i] = (TYPE)1;                                                 \
    memset(window->memory, 0, 4096);                                                                    \
    MPI_Win_fence(0, window->win);                                                                      \
    for (int round = 0; round < kRounds; ++round) {                                                     \
      for (int target = 0; target < world_size(); ++target) {                                           \
        MPI_Accumulate(ones, kCount, MPI_TYPE, target, 0, kCount, MPI_TYPE, MPI_SUM, window->win);      \
      }                                                                                                 \
    }                                                                                                   \
    MPI_Win_fence(0, window->win);                                                                      \
    memcpy(got, window->memory, sizeof got);                                                            \
    int wrong = 0;                                                                                      \
    for (int i = 0; i < kCount; ++i) wrong += got[i] != (TYPE)(kRounds * world_size());                 \
    CHECK(wrong == 0, "%s, sum of " #MPI_TYPE ": %d wrong, the first %g", name, wrong, (double)got[0]); \
  }

typedef signed char signed_char;
typedef long double long_double;
SUM_OF(short, MPI_SHORT)
SUM_OF(int, MPI_INT)
SUM_OF(long, MPI_LONG)
SUM_OF(float, MPI_FLOAT)
SUM_OF(double, MPI_DOUBLE)
SUM_OF(long_double, MPI_LONG_DOUBLE)

static void pairs(struct test_window* window, const char* name) {
  struct pair {
    double value;
    int index;
  } mine = {(double)(world_rank() % 3), world_rank()}, got;
  memset(window->memory, 0, 4096);
  const struct pair least = {-1.0, 1000};
  memcpy(window->memory, &least, sizeof least);
  MPI_Win_fence(0, window->win);
  MPI_Accumulate(&mine, 1, MPI_DOUBLE_INT, 0, 0, 1, MPI_DOUBLE_INT, MPI_MAXLOC, window->win);
  MPI_Win_fence(0, window->win);
  if (world_rank() != 0) return;
  memcpy(&got, window->memory, sizeof got);
  const int most = world_size() > 2 ? 2 : world_size() - 1;
  CHECK(got.value == most && got.index == most, "%s, MPI_MAXLOC: %g at %d", name, got.value, got.index);
}

// Types built from pairs, with different gaps on each side; their pairs are a run of bytes, or not.
#define MADE_OF_PAIRS(NAME, VALUE, PAIR_TYPE)                                                                  \
  static void made_of_##NAME(struct test_window* window, const char* name) {                                   \
    enum { kPairs = 5 };                                                                                       \
    struct pair {                                                                                              \
      VALUE value;                                                                                             \
      int index;                                                                                               \
    } mine[kPairs], old[3 * kPairs], theirs[2 * kPairs];                                                       \
    const int from = (world_rank() + world_size() - 1) % world_size(), to = (world_rank() + 1) % world_size(); \
    MPI_Datatype row, seconds, thirds;                                                                         \
    MPI_Type_contiguous(kPairs, PAIR_TYPE, &row);                                                              \
    MPI_Type_vector(kPairs, 1, 2, PAIR_TYPE, &seconds);                                                        \
    MPI_Type_vector(kPairs, 1, 3, PAIR_TYPE, &thirds);                                                         \
    MPI_Type_commit(&row);                                                                                     \
    MPI_Type_commit(&seconds);                                                                                 \
    MPI_Type_commit(&thirds);                                                                                  \
    memset(mine, 0, sizeof mine);                                                                              \
    memset(old, 0, sizeof old);                                                                                \
    memset(theirs, 0, sizeof theirs);                                                                          \
    for (int i = 0; i < 2 * kPairs; ++i) theirs[i].value = (VALUE)2, theirs[i].index = 100 + i;                \
    for (int i = 0; i < kPairs; ++i) mine[i].value = (VALUE)i, mine[i].index = world_rank();                   \
    memcpy(window->memory, theirs, sizeof theirs);                                                             \
    MPI_Win_fence(0, window->win);                                                                             \
    MPI_Get_accumulate(mine, 1, row, old, 1, thirds, to, 0, 1, seconds, MPI_MINLOC, window->win);              \
    MPI_Win_fence(0, window->win);                                                                             \
    memcpy(theirs, window->memory, sizeof theirs);                                                             \
    int wrong = 0;                                                                                             \
    for (int i = 0; i < kPairs; ++i) {                                                                         \
      wrong += old[3 * i].value != 2 || old[3 * i].index != 100 + 2 * i || old[3 * i + 1].index != 0;          \
      wrong += theirs[2 * i].value != (i < 2 ? i : 2) || theirs[2 * i].index != (i <= 2 ? from : 100 + 2 * i); \
      wrong += theirs[2 * i + 1].value != 2 || theirs[2 * i + 1].index != 100 + 2 * i + 1;                     \
    }                                                                                                          \
    CHECK(wrong == 0, "%s, types made of " #PAIR_TYPE ": %d wrong", name, wrong);                              \
    MPI_Type_free(&row);                                                                                       \
    MPI_Type_free(&seconds);                                                                                   \
    MPI_Type_free(&thirds);                                                                                    \
    MPI_Win_fence(0, window->win);                                                                             \
  }

MADE_OF_PAIRS(double_int, double, MPI_DOUBLE_INT)
MADE_OF_PAIRS(short_int, short, MPI_SHORT_INT)
MADE_OF_PAIRS(float_int, float, MPI_FLOAT_INT)
MADE_OF_PAIRS(two_ints, int, MPI_2INT)
MADE_OF_PAIRS(long_double_int, long_double, MPI_LONG_DOUBLE_INT)

// Every second int at the target, fetched into contiguous memory.
static void gaps(struct test_window* window, const char* name) {
  enum { kLong = 10000 };
  const int rank = world_rank(), size = world_size(), to = (rank + 1) % size;
  MPI_Datatype seconds;
  MPI_Type_vector(kLong, 1, 2, MPI_INT, &seconds);
  MPI_Type_commit(&seconds);
  int* mine = malloc(kLong * sizeof(int));
  int* old = malloc(kLong * sizeof(int));
  for (int i = 0; i < kLong; ++i) mine[i] = i;
  for (int i = 0; i < 2 * kLong; ++i) window->memory[i] = 5;
  MPI_Win_fence(0, window->win);
  MPI_Get_accumulate(mine, kLong, MPI_INT, old, kLong, MPI_INT, to, 0, 1, seconds, MPI_SUM, window->win);
  MPI_Win_fence(0, window->win);
  int wrong = 0;
  for (int i = 0; i < kLong; ++i) {
    wrong += old[i] != 5 || window->memory[2 * i] != 5 + i || (i + 1 < kLong && window->memory[2 * i + 1] != 5);
  }
  CHECK(wrong == 0, "%s, every second: %d wrong", name, wrong);
  MPI_Win_fence(0, window->win);
  MPI_Accumulate(mine, kLong, MPI_INT, to, 0, 1, seconds, MPI_REPLACE, window->win);
  MPI_Win_fence(0, window->win);
  for (int i = wrong = 0; i < kLong; ++i) wrong += window->memory[2 * i] != i;
  CHECK(wrong == 0, "%s, replaced: %d wrong", name, wrong);
  MPI_Get_accumulate(NULL, 0, MPI_DATATYPE_NULL, old, kLong, MPI_INT, to, 0, 1, seconds, MPI_NO_OP, window->win);
  MPI_Win_fence(0, window->win);
  for (int i = wrong = 0; i < kLong; ++i) wrong += old[i] != i;
  CHECK(wrong == 0, "%s, read: %d wrong", name, wrong);
  free(mine);
  free(old);
  MPI_Type_free(&seconds);
}

// The padding behind a window's last pair is outside of the window.
static void pair_at_the_end(void) {
  struct double_int {
    double value;
    int index;
  };
  enum { kBytes = sizeof(double) + sizeof(int) };
  const int rank = world_rank(), size = world_size(), to = (rank + 1) % size;
  unsigned char* const memory = calloc(1, kBytes);
  MPI_Win win;
  MPI_Win_create(memory, kBytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  struct double_int mine = {10 + rank, rank}, old = {-1, -1};
  MPI_Win_fence(0, win);
  MPI_Accumulate(&mine, 1, MPI_DOUBLE_INT, to, 0, 1, MPI_DOUBLE_INT, MPI_REPLACE, win);
  MPI_Win_fence(0, win);
  MPI_Fetch_and_op(&mine, &old, MPI_DOUBLE_INT, to, 0, MPI_NO_OP, win);
  MPI_Win_fence(0, win);
  double value = 0;
  int index = 0;
  memcpy(&value, memory, sizeof value);
  memcpy(&index, memory + sizeof value, sizeof index);
  const int from = (rank + size - 1) % size;
  CHECK(value == 10 + from && index == from, "the last pair: %g, %d", value, index);
  CHECK(old.value == 10 + rank && old.index == rank, "read back: %g, %d", old.value, old.index);
  MPI_Win_free(&win);
  free(memory);
}

#define DONE(call)                                                                 \
  do {                                                                             \
    const int code_ = (call);                                                      \
    CHECK(code_ == MPI_SUCCESS, "%s: %s: class %d", name, #call, class_of(code_)); \
  } while (0)

// Without elements, the operation need not be defined for the elements' types: `mixed` has two types, `empty` none.
static void nothing(struct test_window* window, const char* name) {
  const MPI_Win win = window->win;
  const int last = world_size() - 1;
  MPI_Datatype mixed, empty;
  int value[4] = {1, 2, 3, 4}, result[4] = {-1, -1, -1, -1};
  MPI_Type_create_struct(2, (int[]){1, 1}, (MPI_Aint[]){0, 4}, (MPI_Datatype[]){MPI_INT, MPI_FLOAT}, &mixed);
  MPI_Type_contiguous(0, MPI_LONG, &empty);
  MPI_Type_commit(&mixed), MPI_Type_commit(&empty);
  memset(window->memory, 0, 4096);
  MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
  MPI_Win_fence(0, win);
  DONE(MPI_Accumulate(value, 0, mixed, last, 0, 0, mixed, MPI_SUM, win));
  DONE(MPI_Accumulate(value, 0, MPI_INT, last, 0, 0, mixed, MPI_SUM, win));
  DONE(MPI_Accumulate(value, 3, empty, last, 0, 3, empty, MPI_SUM, win));
  DONE(MPI_Accumulate_c(value, 0, MPI_LONG, last, 0, 3, empty, MPI_REPLACE, win));
  DONE(MPI_Accumulate(NULL, 0, MPI_BYTE, last, 0, 0, MPI_BYTE, MPI_SUM, win));
  DONE(MPI_Get_accumulate(value, 0, mixed, result, 0, mixed, last, 0, 0, mixed, MPI_SUM, win));
  DONE(MPI_Get_accumulate(value, 3, empty, result, 0, MPI_INT, last, 0, 3, empty, MPI_MAXLOC, win));
  DONE(MPI_Get_accumulate(value, 0, MPI_BYTE, result, 0, MPI_BYTE, last, 0, 0, MPI_BYTE, MPI_SUM, win));
  DONE(MPI_Get_accumulate_c(NULL, 0, MPI_FLOAT, NULL, 0, mixed, last, 0, 0, MPI_FLOAT, MPI_BAND, win));
  DONE(MPI_Get_accumulate(NULL, 0, MPI_INT, NULL, 0, mixed, last, 0, 0, mixed, MPI_NO_OP, win));
  for (int i = 0; i < 2; ++i) {
    const MPI_Op op = i == 0 ? MPI_OP_NULL : MPI_NO_OP;
    const int code = MPI_Accumulate(value, 0, MPI_INT, last, 0, 0, MPI_INT, op, win);
    CHECK(class_of(code) == MPI_ERR_OP, "%s: no operation of an accumulate: class %d", name, class_of(code));
  }
  MPI_Win_fence(0, win);
  MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  MPI_Win_lock(MPI_LOCK_SHARED, last, 0, win);
  DONE(MPI_Raccumulate(value, 0, mixed, last, 0, 0, mixed, MPI_SUM, win, &requests[0]));
  DONE(MPI_Rget_accumulate(value, 0, mixed, result, 0, mixed, last, 0, 0, mixed, MPI_SUM, win, &requests[1]));
  for (int i = 0; i < 2; ++i) MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
  MPI_Win_unlock(last, win);
  MPI_Win_set_errhandler(win, MPI_ERRORS_ARE_FATAL);
  CHECK(window->memory[0] == 0 && result[0] == -1, "%s: nothing became %d and %d", name, window->memory[0], result[0]);
  MPI_Type_free(&mixed), MPI_Type_free(&empty);
}

int main(int argc, char** argv) {
  suite_begin(&argc, &argv);
  pair_at_the_end();
  for (int flavour = 0; flavour < kFlavours; ++flavour) {
    struct test_window window = open_window((enum flavour)flavour, 20000, MPI_COMM_WORLD);
    const char* const name = kFlavourNames[flavour];
    sum_short(&window, name);
    sum_int(&window, name);
    sum_long(&window, name);
    sum_float(&window, name);
    sum_double(&window, name);
    sum_long_double(&window, name);
    pairs(&window, name);
    made_of_double_int(&window, name);
    made_of_short_int(&window, name);
    made_of_float_int(&window, name);
    made_of_two_ints(&window, name);
    made_of_long_double_int(&window, name);
    gaps(&window, name);
    nothing(&window, name);
    close_window(&window);
  }
  return suite_end("rma_accumulate");
}
