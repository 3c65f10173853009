// Tests of collective calls in which one rank passes another amount of data than the others, on the same or the other
// side of the limit for short messages. At least one rank gets an error, no rank waits for ever or writes past its
// buffer, and calls on another communicator still return the right results.
// ranks: 2 4
// reference: none, ranks that name different amounts of data are not allowed
// wires: shm epoll
#include "check.h"

enum { kGuard = 64, kOps = 5, kLongest = 20 << 20 };
enum { kGather = 3, kAllgather = 4 };

// The amount that all ranks but one pass, and the amount of that one: on the same side of the length at which messages
// need a handshake (16 KiB), and on different sides.
static const int kLengths[][2] = {{100, 40},    {40, 100},  {40000, 80000}, {80000, 40000}, {100, 40000},
                                  {40000, 100}, {0, 40000}, {40000, 0},     {16384, 16385}, {16385, 16384}};
enum { kLengthCount = sizeof kLengths / sizeof kLengths[0] };

static int call(int op, const void* in, void* out, int bytes, MPI_Comm comm) {
  switch (op) {
    case 0:
      return MPI_Bcast(out, bytes, MPI_BYTE, 0, comm);
    case 1:
      return MPI_Reduce(in, out, bytes, MPI_BYTE, MPI_BOR, 0, comm);
    case 2:
      return MPI_Allreduce(in, out, bytes, MPI_BYTE, MPI_BOR, comm);
    case kGather:
      return MPI_Gather(in, bytes, MPI_BYTE, out, bytes, MPI_BYTE, 0, comm);
    default:
      return MPI_Allgather(in, bytes, MPI_BYTE, out, bytes, MPI_BYTE, comm);
  }
}

static void check_guard(const unsigned char* guard, const char* what, int op) {
  for (int i = 0; i < kGuard; ++i) CHECK(guard[i] == 0xa5, "operation %d, %s: wrote past the end", op, what);
}

// Checks that a call on `wrong` has returned an error of the right class on at least one rank. The check uses a call on
// the world, which must work whatever has happened on `wrong`.
static void check_reported(int error, const char* what, int op) {
  int here = error != MPI_SUCCESS, somewhere = 0;
  if (here) {
    int class = -1;
    MPI_Error_class(error, &class);
    CHECK(class == MPI_ERR_TRUNCATE, "operation %d, %s: class %d", op, what, class);
  }
  MPI_Allreduce(&here, &somewhere, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  CHECK(somewhere, "operation %d, %s: no rank got an error", op, what);
}

static void one_other_length(MPI_Comm wrong, int op, int all, int other, int odd) {
  const int rank = world_rank();
  const int bytes = rank == odd ? other : all;
  const size_t room = (size_t)bytes * (op >= kGather ? (size_t)world_size() : 1);
  unsigned char* in = memory_of((size_t)bytes);
  unsigned char* out = memory_of(room + kGuard);
  memset(in, 1, (size_t)bytes);
  memset(out, 1, room);
  memset(out + room, 0xa5, kGuard);
  char what[80];
  snprintf(what, sizeof what, "%d bytes, rank %d %d", all, odd, other);
  const int error = call(op, in, out, bytes, wrong);
  check_guard(out + room, what, op);
  check_reported(error, what, op);
  free(in);
  free(out);
}

// The root of a gather sends another amount than it receives.
static void gather_from_itself(MPI_Comm wrong, int sends, int receives) {
  const int rank = world_rank();
  const size_t room = (size_t)receives * (size_t)world_size();
  const size_t most = (size_t)(sends > receives ? sends : receives);
  unsigned char* in = memory_of(most);
  unsigned char* out = memory_of(room + kGuard);
  memset(in, 1, most);
  memset(out + room, 0xa5, kGuard);
  int error = MPI_Gather(in, rank == 0 ? sends : receives, MPI_BYTE, out, receives, MPI_BYTE, 0, wrong);
  check_guard(out + room, "root's own", kGather);
  CHECK(rank != 0 || error != MPI_SUCCESS, "MPI_Gather: the root sent %d bytes into %d", sends, receives);
  error = MPI_Allgather(in, rank == 0 ? sends : receives, MPI_BYTE, out, receives, MPI_BYTE, wrong);
  check_guard(out + room, "rank 0's own", kAllgather);
  CHECK(rank != 0 || error != MPI_SUCCESS, "MPI_Allgather: rank 0 sent %d bytes into %d", sends, receives);
  MPI_Barrier(MPI_COMM_WORLD);
  free(in);
  free(out);
}

// A rank whose call has ended frees the communicator while others still wait in their calls; later communicators get
// its contexts.
static void freed_at_once(void) {
  const int last = world_size() - 1;
  unsigned char* data = memory_of(40000);
  memset(data, 1, 40000);
  for (int i = 0; i < 200; ++i) {
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    const int error = MPI_Bcast(data, world_rank() == 0 && i % 2 == 0 ? 100 : 40000, MPI_BYTE, 0, comm);
    if (i % 2 != 0) {
      CHECK(error == MPI_SUCCESS, "communicator %d: an error in a call that fits", i);
    } else {
      CHECK(world_rank() != last || error != MPI_SUCCESS, "communicator %d: no error", i);
    }
    MPI_Comm_free(&comm);
  }
  free(data);
}

// The first call on the communicator is MPI_Dist_graph_create, which exchanges messages in its own way.
static void after_a_graph(void) {
  MPI_Comm wrong, graph;
  MPI_Comm_dup(MPI_COMM_WORLD, &wrong);
  MPI_Comm_set_errhandler(wrong, MPI_ERRORS_RETURN);
  const int source = world_rank(), degree = 1, destination = (source + 1) % world_size();
  MPI_Dist_graph_create(wrong, 1, &source, &degree, &destination, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &graph);
  for (int op = 0; op < kOps; ++op)
    for (int i = 0; i < kLengthCount; ++i) one_other_length(wrong, op, kLengths[i][0], kLengths[i][1], 0);
  MPI_Comm_free(&graph);
  MPI_Comm_free(&wrong);
}

int main(int argc, char** argv) {
  suite_begin(&argc, &argv);
  MPI_Comm wrong;
  MPI_Comm_dup(MPI_COMM_WORLD, &wrong);
  MPI_Comm_set_errhandler(wrong, MPI_ERRORS_RETURN);
  const int last = world_size() - 1;
  for (int op = 0; op < kOps; ++op)
    for (int i = 0; i < kLengthCount; ++i)
      for (int odd = 0; odd <= last; odd += last) one_other_length(wrong, op, kLengths[i][0], kLengths[i][1], odd);
  one_other_length(wrong, 0, 1 << 20, kLongest, 0);
  one_other_length(wrong, 0, 8 << 10, kLongest, 0);
  freed_at_once();
  after_a_graph();
  gather_from_itself(wrong, 64, 16);
  gather_from_itself(wrong, 16, 64);
  // The communicator of the failed calls still works.
  int one = 1, sum = 0;
  MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, wrong);
  CHECK(sum == world_size(), "sum %d afterwards", sum);
  MPI_Comm_free(&wrong);
  return suite_end("collective_lengths");
}
