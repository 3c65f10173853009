// Tests of every function that takes a buffer, with MPI_BOTTOM as the buffer and the address in the datatype, in the
// displacement, or half in each: only both together determine whether there is a buffer. rma/bottom.c tests one-sided
// calls.
// ranks: 1 2 3
// reference: none, MPICH rejects MPI_Pack from MPI_BOTTOM, and ends with an assertion in MPI_Isendrecv
#include "bottom.h"
#include "collective_forms.h"

enum { kTag = 5, kRootRank = 0 };

static int rank, size, left, right;
static struct slots out, in;
static MPI_Datatype four_ints;

static void fresh(void) {
  fill_slots(&out, rank);
  clear_slots(&in);
}

// --- Point-to-point: from the slot of the right neighbor to the slot of the left one.

typedef int Send(const void*, int, MPI_Datatype, int, int, MPI_Comm);
typedef int SendLarge(const void*, MPI_Count, MPI_Datatype, int, int, MPI_Comm);
typedef int Start(const void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request*);
typedef int StartLarge(const void*, MPI_Count, MPI_Datatype, int, int, MPI_Comm, MPI_Request*);

static const struct {
  const char* name;
  Send* send;
  SendLarge* large;
} kSends[] = {{"Send", MPI_Send, MPI_Send_c},
              {"Ssend", MPI_Ssend, MPI_Ssend_c},
              {"Bsend", MPI_Bsend, MPI_Bsend_c},
              {"Rsend", MPI_Rsend, MPI_Rsend_c}};
static const struct {
  const char* name;
  Start* start;
  StartLarge* large;
  int persistent;
} kStarted[] = {{"Isend", MPI_Isend, MPI_Isend_c, 0},
                {"Issend", MPI_Issend, MPI_Issend_c, 0},
                {"Ibsend", MPI_Ibsend, MPI_Ibsend_c, 0},
                {"Irsend", MPI_Irsend, MPI_Irsend_c, 0},
                {"Send_init", MPI_Send_init, MPI_Send_init_c, 1},
                {"Ssend_init", MPI_Ssend_init, MPI_Ssend_init_c, 1},
                {"Bsend_init", MPI_Bsend_init, MPI_Bsend_init_c, 1},
                {"Rsend_init", MPI_Rsend_init, MPI_Rsend_init_c, 1}};

static MPI_Request post_receive(void) {
  MPI_Request request;
  fresh();
  MPI_Irecv(MPI_BOTTOM, 1, in.types[left], left, kTag, MPI_COMM_WORLD, &request);
  MPI_Barrier(MPI_COMM_WORLD);  // a ready send may begin
  return request;
}

static void await_slot(MPI_Request* receive, const char* what) {
  MPI_Wait(receive, MPI_STATUS_IGNORE);
  CHECK_SLOT(&in, left, left, rank, what);
}

static void sends(void) {
  for (size_t i = 0; i < 2 * sizeof kSends / sizeof *kSends; ++i) {
    MPI_Request receive = post_receive();
    if (i % 2 == 0) {
      kSends[i / 2].send(MPI_BOTTOM, 1, out.types[right], right, kTag, MPI_COMM_WORLD);
    } else {
      kSends[i / 2].large(MPI_BOTTOM, 1, out.types[right], right, kTag, MPI_COMM_WORLD);
    }
    await_slot(&receive, kSends[i / 2].name);
  }
  for (size_t i = 0; i < 2 * sizeof kStarted / sizeof *kStarted; ++i) {
    MPI_Request receive = post_receive(), send;
    if (i % 2 == 0) {
      kStarted[i / 2].start(MPI_BOTTOM, 1, out.types[right], right, kTag, MPI_COMM_WORLD, &send);
    } else {
      kStarted[i / 2].large(MPI_BOTTOM, 1, out.types[right], right, kTag, MPI_COMM_WORLD, &send);
    }
    if (kStarted[i / 2].persistent) MPI_Start(&send);
    await_slot(&receive, kStarted[i / 2].name);
    MPI_Wait(&send, MPI_STATUS_IGNORE);
    if (kStarted[i / 2].persistent) MPI_Request_free(&send);
  }
}

static const char* const kReceives[] = {"Recv",        "Recv_c", "Irecv",   "Irecv_c", "Recv_init",
                                        "Recv_init_c", "Mrecv",  "Mrecv_c", "Imrecv",  "Imrecv_c"};

static void receive_by(int way, MPI_Request* request) {
  const MPI_Datatype type = in.types[left];
  MPI_Message message;
  if (way >= 6) MPI_Mprobe(left, kTag, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
  if (way == 0) MPI_Recv(MPI_BOTTOM, 1, type, left, kTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  if (way == 1) MPI_Recv_c(MPI_BOTTOM, 1, type, left, kTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  if (way == 2) MPI_Irecv(MPI_BOTTOM, 1, type, left, kTag, MPI_COMM_WORLD, request);
  if (way == 3) MPI_Irecv_c(MPI_BOTTOM, 1, type, left, kTag, MPI_COMM_WORLD, request);
  if (way == 4) MPI_Recv_init(MPI_BOTTOM, 1, type, left, kTag, MPI_COMM_WORLD, request);
  if (way == 5) MPI_Recv_init_c(MPI_BOTTOM, 1, type, left, kTag, MPI_COMM_WORLD, request);
  if (way == 6) MPI_Mrecv(MPI_BOTTOM, 1, type, &message, MPI_STATUS_IGNORE);
  if (way == 7) MPI_Mrecv_c(MPI_BOTTOM, 1, type, &message, MPI_STATUS_IGNORE);
  if (way == 8) MPI_Imrecv(MPI_BOTTOM, 1, type, &message, request);
  if (way == 9) MPI_Imrecv_c(MPI_BOTTOM, 1, type, &message, request);
  if (way == 4 || way == 5) MPI_Start(request);
}

static void receives(void) {
  for (int way = 0; way < (int)(sizeof kReceives / sizeof *kReceives); ++way) {
    MPI_Request send, receive = MPI_REQUEST_NULL;
    fresh();
    MPI_Isend(MPI_BOTTOM, 1, out.types[right], right, kTag, MPI_COMM_WORLD, &send);
    receive_by(way, &receive);
    await_slot(&receive, kReceives[way]);
    MPI_Wait(&send, MPI_STATUS_IGNORE);
    if (way == 4 || way == 5) MPI_Request_free(&receive);
  }
}

static void both_at_once(void) {
  const MPI_Datatype from = out.types[right], to = in.types[left];
  MPI_Request request;
  fresh();
  MPI_Sendrecv(MPI_BOTTOM, 1, from, right, kTag, MPI_BOTTOM, 1, to, left, kTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  CHECK_SLOT(&in, left, left, rank, "Sendrecv");
  fresh();
  MPI_Sendrecv_c(MPI_BOTTOM, 1, from, right, kTag, MPI_BOTTOM, 1, to, left, kTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  CHECK_SLOT(&in, left, left, rank, "Sendrecv_c");
  fresh();
  MPI_Isendrecv(MPI_BOTTOM, 1, from, right, kTag, MPI_BOTTOM, 1, to, left, kTag, MPI_COMM_WORLD, &request);
  await_slot(&request, "Isendrecv");
  fresh();
  MPI_Isendrecv_c(MPI_BOTTOM, 1, from, right, kTag, MPI_BOTTOM, 1, to, left, kTag, MPI_COMM_WORLD, &request);
  await_slot(&request, "Isendrecv_c");
  for (int way = 0; way < 4; ++way) {
    request = MPI_REQUEST_NULL;
    fresh();
    if (way == 0) MPI_Sendrecv_replace(MPI_BOTTOM, 1, from, right, kTag, left, kTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (way == 1)
      MPI_Sendrecv_replace_c(MPI_BOTTOM, 1, from, right, kTag, left, kTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (way == 2) MPI_Isendrecv_replace(MPI_BOTTOM, 1, from, right, kTag, left, kTag, MPI_COMM_WORLD, &request);
    if (way == 3) MPI_Isendrecv_replace_c(MPI_BOTTOM, 1, from, right, kTag, left, kTag, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK_SLOT(&out, right, left, rank, way % 2 == 0 ? "sendrecv_replace" : "sendrecv_replace_c");
  }
}

// Partitions are contiguous: slots in a row.
static void partitioned(void) {
  const int partitions = in_a_row(out.layout) ? 3 : 1;
  MPI_Request requests[2];
  fresh();
  MPI_Psend_init(MPI_BOTTOM, partitions, 1, out.types[0], right, kTag, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[0]);
  MPI_Precv_init(MPI_BOTTOM, partitions, 1, in.types[0], left, kTag, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[1]);
  MPI_Startall(2, requests);
  for (int i = partitions - 1; i >= 0; --i) MPI_Pready(i, requests[0]);
  for (int i = 0; i < 2; ++i) MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
  for (int slot = 0; slot < partitions; ++slot) CHECK_SLOT(&in, slot, left, slot, "Psend_init, Precv_init");
  for (int i = 0; i < 2; ++i) MPI_Request_free(&requests[i]);
}

static void packing(void) {
  char packed[256];
  for (int way = 0; way < 4; ++way) {
    int at = 0;
    MPI_Count at_c = 0;
    MPI_Aint at_external = 0;
    fresh();
    if (way == 0) MPI_Pack(MPI_BOTTOM, 1, out.types[2], packed, sizeof packed, &at, MPI_COMM_WORLD);
    if (way == 1) MPI_Pack_c(MPI_BOTTOM, 1, out.types[2], packed, sizeof packed, &at_c, MPI_COMM_WORLD);
    if (way == 2) MPI_Pack_external("external32", MPI_BOTTOM, 1, out.types[2], packed, sizeof packed, &at_external);
    if (way == 3) MPI_Pack_external_c("external32", MPI_BOTTOM, 1, out.types[2], packed, sizeof packed, &at_c);
    at = 0, at_c = 0, at_external = 0;
    if (way == 0) MPI_Unpack(packed, sizeof packed, &at, MPI_BOTTOM, 1, in.types[3], MPI_COMM_WORLD);
    if (way == 1) MPI_Unpack_c(packed, sizeof packed, &at_c, MPI_BOTTOM, 1, in.types[3], MPI_COMM_WORLD);
    if (way == 2) MPI_Unpack_external("external32", packed, sizeof packed, &at_external, MPI_BOTTOM, 1, in.types[3]);
    if (way == 3) MPI_Unpack_external_c("external32", packed, sizeof packed, &at_c, MPI_BOTTOM, 1, in.types[3]);
    CHECK_SLOT(&in, 3, rank, 2, way < 2 ? "Pack, Unpack" : "Pack_external, Unpack_external");
  }
}

// --- Collectives. The side with a block for each rank is at MPI_BOTTOM only if slots are in a row.

struct side {
  void* base;
  MPI_Datatype type;
  int (*ints)[kInts];
};
static struct side all_out, all_in;
static int plain_out[kSlots][kInts], plain_in[kSlots][kInts];
static MPI_Comm graph;  // every rank is a neighbor of every rank

static void choose_sides(void) {
  const int row = in_a_row(out.layout);
  all_out = row ? (struct side){MPI_BOTTOM, out.types[0], out.rows} : (struct side){plain_out, four_ints, plain_out};
  all_in = row ? (struct side){MPI_BOTTOM, in.types[0], in.rows} : (struct side){plain_in, four_ints, plain_in};
}

static void fresh_sides(void) {
  fresh();
  for (int slot = 0; slot < kSlots; ++slot) {
    for (int i = 0; i < kInts; ++i) all_out.ints[slot][i] = sent_int(rank, slot, i), all_in.ints[slot][i] = -1;
  }
}

static void complete(int form, MPI_Request* request) {
  if (is_persistent(form)) MPI_Start(request);
  MPI_Wait(request, MPI_STATUS_IGNORE);
  if (is_persistent(form)) MPI_Request_free(request);
}

// Checks that received block r has the contents of slot `slot` of rank `r`.
static void check_all(const char* what, int form, int slot) {
  for (int from = 0; from < size; ++from) {
    for (int i = 0; i < kInts; ++i) {
      CHECK(all_in.ints[from][i] == sent_int(from, slot, i), "%s, form %d, layout %d: int %d from %d is %d", what, form,
            out.layout, i, from, all_in.ints[from][i]);
    }
  }
}

static void check_slots(const char* what) {
  for (int from = 0; from < size; ++from) CHECK_SLOT(&in, from, from, rank, what);
}

static void even_blocks(int form) {
  MPI_Request q = MPI_REQUEST_NULL;
  const MPI_Datatype mine = out.types[0], got = in.types[0];
  fresh_sides();
  CALL_IN_FORM(form, Bcast, bcast, (MPI_BOTTOM, 1, rank == kRootRank ? mine : got, kRootRank),
               (MPI_BOTTOM, 1, rank == kRootRank ? mine : got, kRootRank), MPI_COMM_WORLD, &q);
  complete(form, &q);
  if (rank != kRootRank) CHECK_SLOT(&in, 0, kRootRank, 0, "Bcast");
  fresh_sides();
  CALL_IN_FORM(form, Gather, gather, (MPI_BOTTOM, 1, mine, all_in.base, 1, all_in.type, kRootRank),
               (MPI_BOTTOM, 1, mine, all_in.base, 1, all_in.type, kRootRank), MPI_COMM_WORLD, &q);
  complete(form, &q);
  if (rank == kRootRank) check_all("Gather", form, 0);
  fresh_sides();
  CALL_IN_FORM(form, Scatter, scatter, (all_out.base, 1, all_out.type, MPI_BOTTOM, 1, got, kRootRank),
               (all_out.base, 1, all_out.type, MPI_BOTTOM, 1, got, kRootRank), MPI_COMM_WORLD, &q);
  complete(form, &q);
  CHECK_SLOT(&in, 0, kRootRank, rank, "Scatter");
  fresh_sides();
  CALL_IN_FORM(form, Allgather, allgather, (MPI_BOTTOM, 1, mine, all_in.base, 1, all_in.type),
               (MPI_BOTTOM, 1, mine, all_in.base, 1, all_in.type), MPI_COMM_WORLD, &q);
  complete(form, &q);
  check_all("Allgather", form, 0);
  fresh_sides();
  CALL_IN_FORM(form, Alltoall, alltoall, (all_out.base, 1, all_out.type, all_in.base, 1, all_in.type),
               (all_out.base, 1, all_out.type, all_in.base, 1, all_in.type), MPI_COMM_WORLD, &q);
  complete(form, &q);
  check_all("Alltoall", form, rank);
  fresh_sides();
  CALL_IN_FORM(form, Neighbor_allgather, neighbor_allgather, (MPI_BOTTOM, 1, mine, all_in.base, 1, all_in.type),
               (MPI_BOTTOM, 1, mine, all_in.base, 1, all_in.type), graph, &q);
  complete(form, &q);
  check_all("Neighbor_allgather", form, 0);
  fresh_sides();
  CALL_IN_FORM(form, Neighbor_alltoall, neighbor_alltoall, (all_out.base, 1, all_out.type, all_in.base, 1, all_in.type),
               (all_out.base, 1, all_out.type, all_in.base, 1, all_in.type), graph, &q);
  complete(form, &q);
  check_all("Neighbor_alltoall", form, rank);
}

// Counts and displacements of each width: of one element, in extents, of four ints or sixteen bytes at addresses.
struct arrays {
  int ones[kSlots], steps[kSlots], zeros[kSlots];
  MPI_Count ones_c[kSlots], bytes_c[kSlots];
  MPI_Aint steps_c[kSlots], zeros_c[kSlots], out_at[kSlots], in_at[kSlots];
  MPI_Datatype ints[kSlots];
};

static struct arrays make_arrays(void) {
  struct arrays a;
  for (int slot = 0; slot < kSlots; ++slot) {
    a.ones[slot] = 1, a.ones_c[slot] = 1, a.bytes_c[slot] = sizeof(int[kInts]);
    a.steps[slot] = slot, a.steps_c[slot] = slot, a.zeros[slot] = 0, a.zeros_c[slot] = 0;
    MPI_Get_address(out.rows[slot], &a.out_at[slot]);
    MPI_Get_address(in.rows[slot], &a.in_at[slot]);
    a.ints[slot] = four_ints;
  }
  return a;
}

static void uneven_blocks(int form) {
  MPI_Request q = MPI_REQUEST_NULL;
  const struct arrays a = make_arrays();
  const MPI_Datatype mine = out.types[0], got = in.types[0], from = all_out.type, to = all_in.type;
  fresh_sides();
  CALL_IN_FORM(form, Gatherv, gatherv, (MPI_BOTTOM, 1, mine, all_in.base, a.ones, a.steps, to, kRootRank),
               (MPI_BOTTOM, 1, mine, all_in.base, a.ones_c, a.steps_c, to, kRootRank), MPI_COMM_WORLD, &q);
  complete(form, &q);
  if (rank == kRootRank) check_all("Gatherv", form, 0);
  fresh_sides();
  CALL_IN_FORM(form, Scatterv, scatterv, (all_out.base, a.ones, a.steps, from, MPI_BOTTOM, 1, got, kRootRank),
               (all_out.base, a.ones_c, a.steps_c, from, MPI_BOTTOM, 1, got, kRootRank), MPI_COMM_WORLD, &q);
  complete(form, &q);
  CHECK_SLOT(&in, 0, kRootRank, rank, "Scatterv");
  fresh_sides();
  CALL_IN_FORM(form, Allgatherv, allgatherv, (MPI_BOTTOM, 1, mine, all_in.base, a.ones, a.steps, to),
               (MPI_BOTTOM, 1, mine, all_in.base, a.ones_c, a.steps_c, to), MPI_COMM_WORLD, &q);
  complete(form, &q);
  check_all("Allgatherv", form, 0);
  fresh_sides();
  CALL_IN_FORM(form, Alltoallv, alltoallv, (all_out.base, a.ones, a.steps, from, all_in.base, a.ones, a.steps, to),
               (all_out.base, a.ones_c, a.steps_c, from, all_in.base, a.ones_c, a.steps_c, to), MPI_COMM_WORLD, &q);
  complete(form, &q);
  check_all("Alltoallv", form, rank);
  fresh_sides();
  CALL_IN_FORM(form, Neighbor_allgatherv, neighbor_allgatherv, (MPI_BOTTOM, 1, mine, all_in.base, a.ones, a.steps, to),
               (MPI_BOTTOM, 1, mine, all_in.base, a.ones_c, a.steps_c, to), graph, &q);
  complete(form, &q);
  check_all("Neighbor_allgatherv", form, 0);
  fresh_sides();
  CALL_IN_FORM(form, Neighbor_alltoallv, neighbor_alltoallv,
               (all_out.base, a.ones, a.steps, from, all_in.base, a.ones, a.steps, to),
               (all_out.base, a.ones_c, a.steps_c, from, all_in.base, a.ones_c, a.steps_c, to), graph, &q);
  complete(form, &q);
  check_all("Neighbor_alltoallv", form, rank);
}

static void typed_blocks(int form) {
  MPI_Request q = MPI_REQUEST_NULL;
  const struct arrays a = make_arrays();
  fresh();
  CALL_IN_FORM(
      form, Alltoallw, alltoallw, (MPI_BOTTOM, a.ones, a.zeros, out.types, MPI_BOTTOM, a.ones, a.zeros, in.types),
      (MPI_BOTTOM, a.ones_c, a.zeros_c, out.types, MPI_BOTTOM, a.ones_c, a.zeros_c, in.types), MPI_COMM_WORLD, &q);
  complete(form, &q);
  check_slots("Alltoallw");
  fresh();
  CALL_IN_FORM(form, Neighbor_alltoallw, neighbor_alltoallw,
               (MPI_BOTTOM, a.ones, a.zeros_c, out.types, MPI_BOTTOM, a.ones, a.zeros_c, in.types),
               (MPI_BOTTOM, a.ones_c, a.zeros_c, out.types, MPI_BOTTOM, a.ones_c, a.zeros_c, in.types), graph, &q);
  complete(form, &q);
  check_slots("Neighbor_alltoallw");
}

// The forms with large counts alone, whose displacements are as wide as addresses.
#define CALL_IN_LARGE_FORM(form, Name, name, arguments, comm, request)                                   \
  do {                                                                                                   \
    if (form == kLargeBlocking) MPI_##Name##_c(UNPACKED arguments, comm);                                \
    if (form == kLargeNonblocking) MPI_I##name##_c(UNPACKED arguments, comm, request);                   \
    if (form == kLargePersistent) MPI_##Name##_init_c(UNPACKED arguments, comm, MPI_INFO_NULL, request); \
    complete(form, request);                                                                             \
  } while (0)

// Addresses as displacements of predefined types. Requires: slots are in a row.
static void displaced_blocks(int form) {
  MPI_Request q = MPI_REQUEST_NULL;
  const struct arrays a = make_arrays();
  const MPI_Datatype byte = MPI_BYTE;
  const int bytes = sizeof(int[kInts]);
  fresh();
  CALL_IN_FORM(form, Neighbor_alltoallw, neighbor_alltoallw,
               (MPI_BOTTOM, a.ones, a.out_at, a.ints, MPI_BOTTOM, a.ones, a.in_at, a.ints),
               (MPI_BOTTOM, a.ones_c, a.out_at, a.ints, MPI_BOTTOM, a.ones_c, a.in_at, a.ints), graph, &q);
  complete(form, &q);
  check_slots("Neighbor_alltoallw by addresses");
  if (form < kLargeBlocking) return;
  fresh();
  CALL_IN_LARGE_FORM(form, Alltoallw, alltoallw,
                     (MPI_BOTTOM, a.ones_c, a.out_at, a.ints, MPI_BOTTOM, a.ones_c, a.in_at, a.ints), MPI_COMM_WORLD,
                     &q);
  check_slots("Alltoallw_c by addresses");
  fresh();
  CALL_IN_LARGE_FORM(form, Alltoallv, alltoallv,
                     (MPI_BOTTOM, a.bytes_c, a.out_at, byte, MPI_BOTTOM, a.bytes_c, a.in_at, byte), MPI_COMM_WORLD, &q);
  check_slots("Alltoallv_c by addresses");
  fresh();
  CALL_IN_LARGE_FORM(form, Neighbor_alltoallv, neighbor_alltoallv,
                     (MPI_BOTTOM, a.bytes_c, a.out_at, byte, MPI_BOTTOM, a.bytes_c, a.in_at, byte), graph, &q);
  check_slots("Neighbor_alltoallv_c by addresses");
  fresh_sides();
  CALL_IN_LARGE_FORM(form, Allgatherv, allgatherv, (out.rows[0], bytes, byte, MPI_BOTTOM, a.bytes_c, a.in_at, byte),
                     MPI_COMM_WORLD, &q);
  check_all("Allgatherv_c by addresses", form, 0);
  fresh_sides();
  CALL_IN_LARGE_FORM(form, Neighbor_allgatherv, neighbor_allgatherv,
                     (out.rows[0], bytes, byte, MPI_BOTTOM, a.bytes_c, a.in_at, byte), graph, &q);
  check_all("Neighbor_allgatherv_c by addresses", form, 0);
  fresh_sides();
  CALL_IN_LARGE_FORM(form, Gatherv, gatherv,
                     (out.rows[0], bytes, byte, MPI_BOTTOM, a.bytes_c, a.in_at, byte, kRootRank), MPI_COMM_WORLD, &q);
  if (rank == kRootRank) check_all("Gatherv_c by addresses", form, 0);
  fresh();
  CALL_IN_LARGE_FORM(form, Scatterv, scatterv,
                     (MPI_BOTTOM, a.bytes_c, a.out_at, byte, in.rows[0], bytes, byte, kRootRank), MPI_COMM_WORLD, &q);
  CHECK_SLOT(&in, 0, kRootRank, rank, "Scatterv_c by addresses");
}

// Half of each address in the displacement, half in the datatype. Requires: slots are in a row.
static void halved_addresses(void) {
  const struct arrays a = make_arrays();
  MPI_Datatype types[kSlots];
  MPI_Aint displacements[kSlots];
  fresh();
  for (int slot = 0; slot < kSlots; ++slot) {
    const MPI_Aint half = a.in_at[slot] / 2;
    MPI_Type_create_hindexed(1, (int[]){kInts}, &half, MPI_INT, &types[slot]);
    MPI_Type_commit(&types[slot]);
    displacements[slot] = a.in_at[slot] - half;
  }
  MPI_Neighbor_alltoallw(MPI_BOTTOM, a.ones, a.zeros_c, out.types, MPI_BOTTOM, a.ones, displacements, types, graph);
  check_slots("Neighbor_alltoallw, half of the addresses in the displacements");
  for (int slot = 0; slot < kSlots; ++slot) MPI_Type_free(&types[slot]);
}

// --- Reductions, by an operation of the program, because predefined ones take predefined datatypes only.

static MPI_Aint summed_at;  // the position of a datatype's elements, from the address that the function receives

static void sum_of_slots(void* in_address, void* inout_address, int* count, MPI_Datatype* type) {
  (void)type;
  // Integers, because MPI's addresses may be outside of any object, and pointers may not.
  const int* from = (const int*)((MPI_Aint)in_address + summed_at);
  int* to = (int*)((MPI_Aint)inout_address + summed_at);
  for (int i = 0; i < *count * kInts; ++i) to[i] += from[i];
}

static void check_sum(const char* what, int form, const int* ints, int slot, int ranks) {
  for (int i = 0; i < kInts; ++i) {
    int sum = 0;
    for (int r = 0; r < ranks; ++r) sum += sent_int(r, slot, i);
    CHECK(ints[i] == sum, "%s, form %d, layout %d: int %d is %d, not %d", what, form, out.layout, i, ints[i], sum);
  }
}

// The operands are at `out`. Results go there (in place), or to `in`, with a base from which the same datatype leads
// there.
static void reductions(int form, MPI_Op sum) {
  MPI_Request q = MPI_REQUEST_NULL;
  const MPI_Datatype type = out.types[0];
  MPI_Aint result;
  int ones[kSlots];
  MPI_Count ones_c[kSlots];
  for (int slot = 0; slot < kSlots; ++slot) ones[slot] = 1, ones_c[slot] = 1;
  MPI_Get_address(out.rows[0], &summed_at);
  MPI_Get_address(in.rows[0], &result);
  void* const other = (void*)(result - summed_at);
  const int is_root = rank == kRootRank;
  const void* const root_in_place = is_root ? MPI_IN_PLACE : MPI_BOTTOM;
  fresh();
  CALL_IN_FORM(form, Reduce, reduce, (root_in_place, MPI_BOTTOM, 1, type, sum, kRootRank),
               (root_in_place, MPI_BOTTOM, 1, type, sum, kRootRank), MPI_COMM_WORLD, &q);
  complete(form, &q);
  if (is_root) check_sum("Reduce in place", form, out.rows[0], 0, size);
  fresh();
  CALL_IN_FORM(form, Reduce, reduce, (MPI_BOTTOM, other, 1, type, sum, kRootRank),
               (MPI_BOTTOM, other, 1, type, sum, kRootRank), MPI_COMM_WORLD, &q);
  complete(form, &q);
  if (is_root) check_sum("Reduce", form, in.rows[0], 0, size);
  fresh();
  CALL_IN_FORM(form, Allreduce, allreduce, (MPI_IN_PLACE, MPI_BOTTOM, 1, type, sum),
               (MPI_IN_PLACE, MPI_BOTTOM, 1, type, sum), MPI_COMM_WORLD, &q);
  complete(form, &q);
  check_sum("Allreduce in place", form, out.rows[0], 0, size);
  fresh();
  CALL_IN_FORM(form, Allreduce, allreduce, (MPI_BOTTOM, other, 1, type, sum), (MPI_BOTTOM, other, 1, type, sum),
               MPI_COMM_WORLD, &q);
  complete(form, &q);
  check_sum("Allreduce", form, in.rows[0], 0, size);
  fresh();
  CALL_IN_FORM(form, Scan, scan, (MPI_IN_PLACE, MPI_BOTTOM, 1, type, sum), (MPI_IN_PLACE, MPI_BOTTOM, 1, type, sum),
               MPI_COMM_WORLD, &q);
  complete(form, &q);
  check_sum("Scan", form, out.rows[0], 0, rank + 1);
  fresh();
  CALL_IN_FORM(form, Exscan, exscan, (MPI_BOTTOM, other, 1, type, sum), (MPI_BOTTOM, other, 1, type, sum),
               MPI_COMM_WORLD, &q);
  complete(form, &q);
  if (rank != 0) check_sum("Exscan", form, in.rows[0], 0, rank);
  fresh();
  CALL_IN_FORM(form, Reduce_scatter_block, reduce_scatter_block, (MPI_IN_PLACE, MPI_BOTTOM, 1, type, sum),
               (MPI_IN_PLACE, MPI_BOTTOM, 1, type, sum), MPI_COMM_WORLD, &q);
  complete(form, &q);
  check_sum("Reduce_scatter_block", form, out.rows[0], rank, size);
  fresh();
  CALL_IN_FORM(form, Reduce_scatter, reduce_scatter, (MPI_BOTTOM, other, ones, type, sum),
               (MPI_BOTTOM, other, ones_c, type, sum), MPI_COMM_WORLD, &q);
  complete(form, &q);
  check_sum("Reduce_scatter", form, in.rows[0], rank, size);
}

static void local_reductions(MPI_Op sum) {
  MPI_Aint result;
  MPI_Get_address(out.rows[0], &summed_at);
  MPI_Get_address(in.rows[0], &result);
  for (int large = 0; large < 2; ++large) {
    fresh();
    void* const other = (void*)(result - summed_at);
    if (large) {
      MPI_Reduce_local_c(MPI_BOTTOM, other, 1, out.types[0], sum);
    } else {
      MPI_Reduce_local(MPI_BOTTOM, other, 1, out.types[0], sum);
    }
    CHECK(in.rows[0][1] == sent_int(rank, 0, 1) - 1, "Reduce_local: %d", in.rows[0][1]);
  }
}

// A null pointer without an address in the datatype or displacement remains an error.
static void null_pointers(void) {
  const struct arrays a = make_arrays();
  MPI_Comm own;
  MPI_Comm_dup(graph, &own);
  MPI_Comm_set_errhandler(own, MPI_ERRORS_RETURN);
  const int codes[] = {
      MPI_Neighbor_alltoallw(NULL, a.ones, a.zeros_c, a.ints, all_in.base, a.ones, a.zeros_c, in.types, own),
      MPI_Neighbor_alltoallw(all_out.base, a.ones, a.zeros_c, out.types, NULL, a.ones, a.zeros_c, a.ints, own),
      MPI_Alltoallv(NULL, a.ones, a.zeros, four_ints, all_in.base, a.ones, a.zeros, all_in.type, own),
      MPI_Allgather(NULL, 1, four_ints, all_in.base, 1, all_in.type, own)};
  for (size_t i = 0; i < sizeof codes / sizeof *codes; ++i)
    CHECK(class_of(codes[i]) == MPI_ERR_BUFFER, "null pointer %zu: class %d", i, class_of(codes[i]));
  MPI_Comm_free(&own);
}

int main(int argc, char** argv) {
  static int all_ranks[kSlots];
  char* const buffered = memory_of(1 << 16);
  MPI_Op sum;
  suite_begin(&argc, &argv);
  rank = world_rank(), size = world_size();
  right = (rank + 1) % size, left = (rank + size - 1) % size;
  for (int r = 0; r < size; ++r) all_ranks[r] = r;
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, size, all_ranks, MPI_UNWEIGHTED, size, all_ranks, MPI_UNWEIGHTED,
                                 MPI_INFO_NULL, 0, &graph);
  MPI_Type_contiguous(kInts, MPI_INT, &four_ints);
  MPI_Type_commit(&four_ints);
  MPI_Op_create(sum_of_slots, 1, &sum);
  MPI_Buffer_attach(buffered, 1 << 16);
  for (int layout = 0; layout < kLayouts; ++layout) {
    out = open_slots((enum layout)layout), in = open_slots((enum layout)layout);
    choose_sides();
    sends();
    receives();
    both_at_once();
    partitioned();
    packing();
    for (int form = 0; form < kForms; ++form) {
      even_blocks(form);
      uneven_blocks(form);
      typed_blocks(form);
      if (in_a_row(out.layout)) displaced_blocks(form), reductions(form, sum);
    }
    if (in_a_row(out.layout)) halved_addresses(), local_reductions(sum);
    if (on_margay()) null_pointers();
    close_slots(&out), close_slots(&in);
  }
  int bytes;
  void* base;
  MPI_Buffer_detach(&base, &bytes);
  free(buffered);
  MPI_Op_free(&sum);
  MPI_Type_free(&four_ints);
  MPI_Comm_free(&graph);
  return suite_end("bottom");
}
