// Tests of one-sided calls with MPI_BOTTOM as origin and result buffer and the addresses in the datatypes, also of
// pairs with padding; windows without memory, whose base is null.
// ranks: 1 2 3
// reference: 2
// wires: shm uring
#include "../bottom.h"

enum memory_kind { kCreated, kAllocated, kDynamic, kKinds };

// The window's memory is a row of `bytes` at each rank.
struct opened {
  MPI_Win win;
  char* memory;
  MPI_Aint base, unit;  // of displacements at `right`
};

static int rank, size, left, right;

static struct opened open_memory(enum memory_kind kind, int bytes) {
  struct opened made = {MPI_WIN_NULL, NULL, 0, 1};
  MPI_Aint own = 0;
  if (kind == kAllocated) {
    MPI_Win_allocate(bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &made.memory, &made.win);
  } else {
    made.memory = memory_of((size_t)bytes);
  }
  memset(made.memory, 0, (size_t)bytes);
  if (kind == kCreated) MPI_Win_create(made.memory, bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &made.win);
  if (kind == kDynamic) {
    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &made.win);
    MPI_Win_attach(made.win, made.memory, bytes);
    MPI_Get_address(made.memory, &own);
  }
  MPI_Sendrecv(&own, 1, MPI_AINT, left, 1, &made.base, 1, MPI_AINT, right, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Barrier(MPI_COMM_WORLD);
  return made;
}

static void close_memory(enum memory_kind kind, struct opened* window) {
  MPI_Barrier(MPI_COMM_WORLD);
  if (kind == kDynamic) MPI_Win_detach(window->win, window->memory);
  MPI_Win_free(&window->win);
  if (kind != kAllocated) free(window->memory);
}

// The forms of a call: MPI_X, MPI_X_c, MPI_Rx, MPI_Rx_c. All are complete at the target when they return.
enum { kPlain, kLarge, kRequest, kLargeRequest, kCallForms };

struct origin {
  MPI_Datatype type;
  int count;
};
struct target {
  const struct opened* window;
  MPI_Aint at;
  int count;
  MPI_Datatype type;
};

static void end_access(int form, const struct target* to, MPI_Request* request) {
  if (form >= kRequest) MPI_Wait(request, MPI_STATUS_IGNORE);
  MPI_Win_flush(right, to->window->win);
}

#define TARGET right, to.window->base + to.at, to.count, to.type
#define ACCESS(form, Name, name, arguments, last)                                             \
  do {                                                                                        \
    MPI_Request request_ = MPI_REQUEST_NULL;                                                  \
    if (form == kPlain) MPI_##Name(UNPACKED arguments, UNPACKED last);                        \
    if (form == kLarge) MPI_##Name##_c(UNPACKED arguments, UNPACKED last);                    \
    if (form == kRequest) MPI_R##name(UNPACKED arguments, UNPACKED last, &request_);          \
    if (form == kLargeRequest) MPI_R##name##_c(UNPACKED arguments, UNPACKED last, &request_); \
    end_access(form, &to, &request_);                                                         \
  } while (0)
#define UNPACKED(...) __VA_ARGS__

// Checks that the slot holds `times` the data that this rank sent.
static void check_times(const char* what, const struct slots* in, int slot, int times) {
  for (int i = 0; i < kInts; ++i) {
    const int expected = times * sent_int(rank, right, i);
    CHECK(*slot_int(in, slot, i) == expected, "%s, layout %d: int %d is %d, not %d", what, in->layout, i,
          *slot_int(in, slot, i), expected);
  }
}

static void access_slots(const struct opened* window, int form, const struct slots* out, const struct slots* in,
                         int apart) {
  MPI_Datatype gaps;
  MPI_Type_vector(kInts, 1, 2, MPI_INT, &gaps);
  MPI_Type_commit(&gaps);
  struct target to = {window, rank * (MPI_Aint)sizeof(int[2 * kInts]), kInts, MPI_INT};
  if (apart) to.count = 1, to.type = gaps;
  const MPI_Datatype from = out->types[right];
  const MPI_Win win = window->win;
  fill_slots(out, rank), clear_slots(in);
  MPI_Win_lock(MPI_LOCK_SHARED, right, 0, win);
  ACCESS(form, Put, put, (MPI_BOTTOM, 1, from, TARGET), (win));
  ACCESS(form, Get, get, (MPI_BOTTOM, 1, in->types[2], TARGET), (win));
  ACCESS(form, Accumulate, accumulate, (MPI_BOTTOM, 1, from, TARGET), (MPI_SUM, win));
  ACCESS(form, Get_accumulate, get_accumulate, (MPI_BOTTOM, 1, from, MPI_BOTTOM, 1, in->types[3], TARGET),
         (MPI_SUM, win));
  ACCESS(form, Get_accumulate, get_accumulate, (NULL, 0, MPI_INT, MPI_BOTTOM, 1, in->types[4], TARGET),
         (MPI_NO_OP, win));
  MPI_Win_unlock(right, win);
  check_times("Get", in, 2, 1);
  check_times("Get_accumulate", in, 3, 2);
  check_times("Get_accumulate with MPI_NO_OP", in, 4, 3);
  MPI_Type_free(&gaps);
}

// --- Pairs, which have padding behind their data.

struct pair {
  double value;
  int index;
};

static MPI_Datatype two_pairs(const struct pair* first, const struct pair* second) {
  MPI_Aint at[2];
  MPI_Datatype type;
  MPI_Get_address(first, &at[0]);
  MPI_Get_address(second, &at[1]);
  MPI_Type_create_hindexed(2, (int[]){1, 1}, at, MPI_DOUBLE_INT, &type);
  MPI_Type_commit(&type);
  return type;
}

static void check_pair(const char* what, const struct pair* pair, double value, int index) {
  CHECK(pair->value == value && pair->index == index, "%s: %g at %d, not %g at %d", what, pair->value, pair->index,
        value, index);
}

static void access_pairs(const struct opened* window, int form) {
  struct pair out[3] = {{rank + 1.5, 7}, {0, 0}, {rank + 2.5, 8}}, old[3] = {{0, 0}}, now[3] = {{0, 0}};
  MPI_Datatype from = two_pairs(&out[0], &out[2]), olds = two_pairs(&old[2], &old[0]),
               nows = two_pairs(&now[2], &now[0]);
  const struct target to = {window, rank * (MPI_Aint)sizeof(struct pair[2]), 2, MPI_DOUBLE_INT};
  const struct pair before[2] = {{-1, 1}, {1000, 2}};
  const MPI_Win win = window->win;
  MPI_Win_lock(MPI_LOCK_SHARED, right, 0, win);
  ACCESS(form, Accumulate, accumulate, (before, 2, MPI_DOUBLE_INT, TARGET), (MPI_REPLACE, win));
  ACCESS(form, Get_accumulate, get_accumulate, (MPI_BOTTOM, 1, from, MPI_BOTTOM, 1, olds, TARGET), (MPI_MAXLOC, win));
  ACCESS(form, Get_accumulate, get_accumulate, (NULL, 0, MPI_DOUBLE_INT, MPI_BOTTOM, 1, nows, TARGET),
         (MPI_NO_OP, win));
  check_pair("a pair before", &old[2], -1, 1);
  check_pair("another pair before", &old[0], 1000, 2);
  check_pair("a pair", &now[2], rank + 1.5, 7);
  check_pair("another pair", &now[0], 1000, 2);
  ACCESS(form, Accumulate, accumulate, (MPI_BOTTOM, 1, from, TARGET), (MPI_REPLACE, win));
  ACCESS(form, Get_accumulate, get_accumulate, (NULL, 0, MPI_DOUBLE_INT, MPI_BOTTOM, 1, nows, TARGET),
         (MPI_NO_OP, win));
  MPI_Win_unlock(right, win);
  check_pair("a pair that was replaced", &now[2], rank + 1.5, 7);
  check_pair("another pair that was replaced", &now[0], rank + 2.5, 8);
  MPI_Type_free(&from), MPI_Type_free(&olds), MPI_Type_free(&nows);
}

// Windows without memory are valid, and so are accesses of no elements to them.
static void windows_over_nothing(void) {
  MPI_Win wins[2];
  MPI_Win_create(NULL, 0, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &wins[0]);
  MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &wins[1]);
  for (int i = 0; i < 2; ++i) {
    char* base = (char*)wins;
    int found = 0;
    MPI_Win_get_attr(wins[i], MPI_WIN_BASE, &base, &found);
    CHECK(found && base == MPI_BOTTOM, "window %d: the base is %p (%d)", i, (void*)base, found);
    MPI_Win_fence(0, wins[i]);
    MPI_Put(NULL, 0, MPI_INT, right, 0, 0, MPI_INT, wins[i]);
    MPI_Get(MPI_BOTTOM, 0, MPI_INT, right, 0, 0, MPI_INT, wins[i]);
    MPI_Get_accumulate(NULL, 0, MPI_INT, NULL, 0, MPI_INT, right, 0, 0, MPI_INT, MPI_SUM, wins[i]);
    MPI_Win_fence(0, wins[i]);
  }
  if (on_margay()) {
    MPI_Win_attach(wins[1], NULL, 0);
    MPI_Win_detach(wins[1], NULL);
  }
  for (int i = 0; i < 2; ++i) MPI_Win_free(&wins[i]);
}

int main(int argc, char** argv) {
  suite_begin(&argc, &argv);
  rank = world_rank(), size = world_size();
  right = (rank + 1) % size, left = (rank + size - 1) % size;
  for (int kind = 0; kind < kKinds; ++kind) {
    struct opened window = open_memory((enum memory_kind)kind, size * (int)sizeof(struct pair[2 * kInts]));
    for (int form = 0; form < kCallForms; ++form) {
      for (int layout = 0; layout < kLayouts; ++layout) {
        struct slots out = open_slots((enum layout)layout), in = open_slots((enum layout)layout);
        for (int apart = 0; apart < 2; ++apart) access_slots(&window, form, &out, &in, apart);
        close_slots(&out), close_slots(&in);
      }
      access_pairs(&window, form);
    }
    close_memory((enum memory_kind)kind, &window);
  }
  windows_over_nothing();
  return suite_end("rma_bottom");
}
