// A test of random histories of windows, compared with a reference that each rank computes by itself (MPI 4.0, chapter
// 12): windows of all flavours, epochs with all kinds of synchronisation, accesses in all forms, with drawn datatypes
// on both sides. All ranks draw the same history from the seed, such that every result is determined, or all results
// together are. (../histories.py runs the program with many seeds.)
//   random [windows [seed]]
//
// ranks: 1 2 3 5
// reference: none, MPICH 4.0.2 waits for ever in some histories
#include "random_epochs.h"

enum { kWindows = 8, kEpochsOfWindow = 5 };

// Allocates a window of shared memory. Returns 0 if that fails, or if the members are not all on one node.
static int allocate_shared(struct History* h, MPI_Aint bytes, int unit, MPI_Info info) {
  MPI_Comm node;
  int here = 0, all = 0;
  MPI_Comm_split_type(h->comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  MPI_Comm_size(node, &here);
  MPI_Comm_free(&node);
  here = here == h->size;
  MPI_Allreduce(&here, &all, 1, MPI_INT, MPI_LAND, h->comm);
  if (!all) return 0;
  MPI_Comm_set_errhandler(h->comm, MPI_ERRORS_RETURN);
  const int code = MPI_Win_allocate_shared(bytes, unit, info, h->comm, &h->memory, &h->win);
  MPI_Comm_set_errhandler(h->comm, MPI_ERRORS_ARE_FATAL);
  return code == MPI_SUCCESS;
}

// Info keys for properties of this window that make it cheaper.
static MPI_Info promises(const struct History* h) {
  MPI_Info info;
  MPI_Info_create(&info);
  int same_size = 1, same_unit = 1;
  for (int i = 1; i < h->size; ++i) {
    same_size &= h->member[i].bytes == h->member[0].bytes;
    same_unit &= h->member[i].unit == h->member[0].unit;
  }
  if (!h->passive) MPI_Info_set(info, "no_locks", "true");
  if (!h->ordered) MPI_Info_set(info, "accumulate_ordering", "none");
  if (h->one_op) MPI_Info_set(info, "accumulate_ops", "same_op");
  if (same_size && h->flavour != kDynamic) MPI_Info_set(info, "same_size", "true");
  if (same_unit) MPI_Info_set(info, "same_disp_unit", "true");
  return info;
}

// Attaches the memory in two pieces; the accesses treat it as one.
static void attach(struct History* h) {
  const MPI_Aint bytes = h->member[h->rank].bytes, half = h->member[h->rank].slots / 2 * h->slot_bytes;
  if (half > 0) MPI_Win_attach(h->win, h->memory, half);
  if (bytes > half) MPI_Win_attach(h->win, h->memory + half, bytes - half);
  MPI_Aint mine = 0;
  if (bytes > 0) MPI_Get_address(h->memory, &mine);
  MPI_Allgather(&mine, 1, MPI_AINT, h->address, 1, MPI_AINT, h->comm);
}

static void detach(struct History* h) {
  const MPI_Aint bytes = h->member[h->rank].bytes, half = h->member[h->rank].slots / 2 * h->slot_bytes;
  MPI_Barrier(h->comm);
  if (half > 0) MPI_Win_detach(h->win, h->memory);
  if (bytes > half) MPI_Win_detach(h->win, h->memory + half);
}

static void open_window(struct History* h) {
  const MPI_Aint bytes = h->member[h->rank].bytes;
  const int unit = h->member[h->rank].unit;
  MPI_Info info = promises(h);
  if (h->flavour == kCreated || h->flavour == kDynamic) h->memory = memory_of((size_t)bytes);
  if (h->flavour == kOverAllocated) MPI_Alloc_mem(bytes + 1, MPI_INFO_NULL, &h->memory);
  if (h->flavour == kCreated || h->flavour == kOverAllocated)
    MPI_Win_create(h->memory, bytes, unit, info, h->comm, &h->win);
  if (h->flavour == kShared && !allocate_shared(h, bytes, unit, info)) h->flavour = kAllocated;
  if (h->flavour == kAllocated) MPI_Win_allocate(bytes, unit, info, h->comm, &h->memory, &h->win);
  if (h->flavour == kDynamic) {
    MPI_Win_create_dynamic(info, h->comm, &h->win);
    attach(h);
  }
  for (int i = 0; i < h->size && h->flavour == kShared; ++i) {
    MPI_Aint their_bytes = 0;
    int their_unit = 0;
    MPI_Win_shared_query(h->win, i, &their_bytes, &their_unit, &h->mapped[i]);
  }
  int *model = NULL, found = 0;
  MPI_Win_get_attr(h->win, MPI_WIN_MODEL, &model, &found);
  h->unified = found && *model == MPI_WIN_UNIFIED;
  MPI_Info_free(&info);
}

static void close_window(struct History* h) {
  if (h->flavour == kDynamic) detach(h);
  MPI_Win_free(&h->win);
  if (h->flavour == kCreated || h->flavour == kDynamic) free(h->memory);
  if (h->flavour == kOverAllocated) MPI_Free_mem(h->memory);
  for (int i = 0; i < h->size; ++i) {
    free(h->member[i].reference);
    free(h->member[i].looked_at);
  }
}

// All ranks of the world in order or in reverse, or all but the last.
static MPI_Comm draw_members(struct Random* random) {
  const int last = world_size() - 1, without = last > 0 && one_in(random, 4), reversed = one_in(random, 2);
  MPI_Comm comm;
  MPI_Comm_split(MPI_COMM_WORLD, without && world_rank() == last ? MPI_UNDEFINED : 0,
                 reversed ? -world_rank() : world_rank(), &comm);
  return comm;
}

static void run_window(struct History* h) {
  MPI_Comm_rank(h->comm, &h->rank);
  MPI_Comm_size(h->comm, &h->size);
  draw_window(h);
  open_window(h);
  for (h->epoch_number = 0; h->epoch_number < kEpochsOfWindow; ++h->epoch_number) run_epoch(h);
  close_window(h);
  MPI_Comm_free(&h->comm);
}

int main(int argc, char** argv) {
  suite_begin(&argc, &argv);
  const int windows = argc > 1 ? atoi(argv[1]) : kWindows;
  const unsigned seed = argc > 2 ? (unsigned)atoi(argv[2]) : 1;
  struct History* const h = memory_of(sizeof *h);
  for (int number = 0; number < windows && world_size() <= kMembersMax; ++number) {
    memset(h, 0, sizeof *h);
    h->seed = seed;
    h->number = number;
    h->random.state = seed * 100003u + (unsigned)number;
    h->comm = draw_members(&h->random);
    if (h->comm != MPI_COMM_NULL) run_window(h);
  }
  free(h);
  free_elements();
  return suite_end("rma_random");
}
