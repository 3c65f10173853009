// Tests of nonblocking calls whose objects disappear before the calls complete: the communicator of a failing call was
// freed; the datatype passed to a reduction function was freed; no context is free for MPI_Comm_idup; and
// MPI_Comm_disconnect waits for the calls on its communicator.
// ranks: 2 3
// reference: none, ranks that name different amounts of data are not allowed
#include "check.h"

static int rank, size;

// The error is raised on the communicator of the request, although its handle was freed.
static void failed_on_a_freed_communicator(void) {
  for (int many = 0; many < 2; ++many) {
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    char data[64];
    memset(data, rank, sizeof data);
    MPI_Request request;
    MPI_Ibcast(data, rank == 0 ? 64 : 8, MPI_CHAR, 0, comm, &request);
    MPI_Comm_free(&comm);
    MPI_Status status;
    const int code = many ? MPI_Waitall(1, &request, &status) : MPI_Wait(&request, &status);
    int error_class = MPI_SUCCESS;
    MPI_Error_class(many ? (code == MPI_SUCCESS ? code : status.MPI_ERROR) : code, &error_class);
    CHECK(rank == 0 || error_class == MPI_ERR_TRUNCATE, "error class %d", error_class);
    CHECK(request == MPI_REQUEST_NULL, "the request is not null");
  }
}

static int calls;

static void swapped_pairs(void* in, void* inout, int* length, MPI_Datatype* type) {
  int bytes = 0;
  MPI_Aint lower = -1, extent = -1;
  CHECK(MPI_Type_size(*type, &bytes) == MPI_SUCCESS, "the type has no size");
  MPI_Type_get_extent(*type, &lower, &extent);
  CHECK(bytes == 2 * (int)sizeof(int), "size %d", bytes);
  CHECK(extent == 3 * (MPI_Aint)sizeof(int), "extent %ld", (long)extent);
  const int* from = in;
  int* to = inout;
  for (int i = 0; i < *length; ++i, from += 3, to += 3) {
    to[0] += from[0];
    to[2] += from[2];
  }
  ++calls;
}

static void freed_type_of_a_function(void) {
  MPI_Datatype pair;
  MPI_Op op;
  MPI_Type_vector(2, 1, 2, MPI_INT, &pair);  // an int, a gap, an int
  MPI_Type_commit(&pair);
  MPI_Op_create(swapped_pairs, 1, &op);
  int mine[6] = {1, -1, rank, 3, -1, 4}, sum[6] = {0, 7, 0, 0, 7, 0};
  MPI_Request request;
  MPI_Iallreduce(mine, sum, 2, pair, op, MPI_COMM_WORLD, &request);
  MPI_Type_free(&pair);
  MPI_Op_free(&op);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  const int expected[6] = {size, 7, size * (size - 1) / 2, 3 * size, 7, 4 * size};
  for (int i = 0; i < 6; ++i) CHECK(sum[i] == expected[i], "%d: %d, not %d", i, sum[i], expected[i]);
  CHECK(size == 1 || rank != 0 || calls > 0, "the function was not called");
}

// On a communicator of one rank the call completes before the function that starts it returns.
static void no_contexts(MPI_Comm parent) {
  enum { kMost = 5000 };
  MPI_Comm* made = malloc(sizeof(MPI_Comm) * kMost);
  MPI_Comm_set_errhandler(parent, MPI_ERRORS_RETURN);
  int count = 0;
  while (count < kMost && MPI_Comm_dup(parent, &made[count]) == MPI_SUCCESS) ++count;
  CHECK(count < kMost, "%d communicators", count);
  MPI_Comm failed = MPI_COMM_WORLD;
  MPI_Request request;
  CHECK(MPI_Comm_idup(parent, &failed, &request) == MPI_SUCCESS, "MPI_Comm_idup failed at once");
  int error_class = MPI_SUCCESS;
  MPI_Error_class(MPI_Wait(&request, MPI_STATUS_IGNORE), &error_class);
  CHECK(error_class == MPI_ERR_OTHER, "error class %d", error_class);
  CHECK(failed == MPI_COMM_NULL, "there is a communicator");
  for (int i = 0; i < count; ++i) MPI_Comm_free(&made[i]);
  // Contexts are available again.
  MPI_Comm_idup(parent, &failed, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  int members = 0;
  MPI_Comm_size(failed, &members);
  CHECK(MPI_Barrier(failed) == MPI_SUCCESS, "no barrier of %d", members);
  MPI_Comm_free(&failed);
  MPI_Comm_set_errhandler(parent, MPI_ERRORS_ARE_FATAL);
  free(made);
}

static void disconnected(void) {
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  static int all[20];
  MPI_Request requests[20];
  for (int i = 0; i < 20; ++i) {
    all[i] = i;
    MPI_Iallreduce(MPI_IN_PLACE, &all[i], 1, MPI_INT, MPI_SUM, comm, &requests[i]);
  }
  MPI_Comm_disconnect(&comm);
  for (int i = 0; i < 20; ++i) CHECK(all[i] == i * size, "%d: %d before MPI_Comm_disconnect was over", i, all[i]);
  MPI_Waitall(20, requests, MPI_STATUSES_IGNORE);
}

int main(int argc, char** argv) {
  suite_begin(&argc, &argv);
  rank = world_rank();
  size = world_size();
  failed_on_a_freed_communicator();
  freed_type_of_a_function();
  no_contexts(MPI_COMM_SELF);
  no_contexts(MPI_COMM_WORLD);
  disconnected();
  return suite_end("nonblocking_ends");
}
