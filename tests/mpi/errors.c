// Tests of wrong arguments under MPI_ERRORS_RETURN: the right error class, an error string, and no effect on later
// calls.
// ranks: 1 2
// reference: 2
#include "check.h"

enum { kTag = 3 };

// Compares a call's error class with that of the standard, and checks that its error string is not empty.
#define FAILS(expected_class, call)                                                                                \
  do {                                                                                                             \
    const int code_ = (call);                                                                                      \
    char text_[MPI_MAX_ERROR_STRING] = "";                                                                         \
    int length_ = 0;                                                                                               \
    CHECK(class_of(code_) == (expected_class), "%s: class %d, expected " #expected_class, #call, class_of(code_)); \
    MPI_Error_string(code_, text_, &length_);                                                                      \
    CHECK(length_ > 0 && (size_t)length_ == strlen(text_), "%s: error string of length %d", #call, length_);       \
    ++checked;                                                                                                     \
  } while (0)

static int point_to_point(void) {
  int checked = 0, value = 1, size = world_size();
  MPI_Request request;
  MPI_Status status;
  const MPI_Comm world = MPI_COMM_WORLD;
  FAILS(MPI_ERR_COUNT, MPI_Send(&value, -1, MPI_INT, 0, kTag, world));
  FAILS(MPI_ERR_RANK, MPI_Send(&value, 1, MPI_INT, size, kTag, world));
  FAILS(MPI_ERR_RANK, MPI_Send(&value, 1, MPI_INT, -7, kTag, world));
  FAILS(MPI_ERR_RANK, MPI_Send(&value, 1, MPI_INT, MPI_ANY_SOURCE, kTag, world));
  FAILS(MPI_ERR_TAG, MPI_Send(&value, 1, MPI_INT, 0, -5, world));
  FAILS(MPI_ERR_TAG, MPI_Send(&value, 1, MPI_INT, 0, MPI_ANY_TAG, world));
  FAILS(MPI_ERR_COMM, MPI_Send(&value, 1, MPI_INT, 0, kTag, MPI_COMM_NULL));
  FAILS(MPI_ERR_TYPE, MPI_Send(&value, 1, MPI_DATATYPE_NULL, 0, kTag, world));
  FAILS(MPI_ERR_BUFFER, MPI_Send(NULL, 1, MPI_INT, 0, kTag, world));
  FAILS(MPI_ERR_COUNT, MPI_Ssend(&value, -1, MPI_INT, 0, kTag, world));
  FAILS(MPI_ERR_RANK, MPI_Rsend(&value, 1, MPI_INT, size, kTag, world));
  FAILS(MPI_ERR_TAG, MPI_Bsend(&value, 1, MPI_INT, 0, -5, world));
  FAILS(MPI_ERR_COUNT, MPI_Isend(&value, -2, MPI_INT, 0, kTag, world, &request));
  FAILS(MPI_ERR_RANK, MPI_Issend(&value, 1, MPI_INT, size, kTag, world, &request));
  FAILS(MPI_ERR_TYPE, MPI_Irsend(&value, 1, MPI_DATATYPE_NULL, 0, kTag, world, &request));
  FAILS(MPI_ERR_COMM, MPI_Ibsend(&value, 1, MPI_INT, 0, kTag, MPI_COMM_NULL, &request));
  FAILS(MPI_ERR_COUNT, MPI_Recv(&value, -1, MPI_INT, 0, kTag, world, &status));
  FAILS(MPI_ERR_RANK, MPI_Recv(&value, 1, MPI_INT, size, kTag, world, &status));
  FAILS(MPI_ERR_TAG, MPI_Recv(&value, 1, MPI_INT, 0, -5, world, &status));
  FAILS(MPI_ERR_COMM, MPI_Recv(&value, 1, MPI_INT, 0, kTag, MPI_COMM_NULL, &status));
  FAILS(MPI_ERR_TYPE, MPI_Recv(&value, 1, MPI_DATATYPE_NULL, 0, kTag, world, &status));
  FAILS(MPI_ERR_RANK, MPI_Irecv(&value, 1, MPI_INT, size, kTag, world, &request));
  FAILS(MPI_ERR_RANK, MPI_Probe(size, kTag, world, &status));
  FAILS(MPI_ERR_TAG, MPI_Iprobe(0, -5, world, &value, &status));
  FAILS(MPI_ERR_RANK, MPI_Sendrecv(&value, 1, MPI_INT, size, kTag, &size, 1, MPI_INT, 0, kTag, world, &status));
  FAILS(MPI_ERR_COUNT, MPI_Sendrecv_replace(&value, -1, MPI_INT, 0, kTag, 0, kTag, world, &status));
  FAILS(MPI_ERR_COUNT, MPI_Send_init(&value, -1, MPI_INT, 0, kTag, world, &request));
  FAILS(MPI_ERR_RANK, MPI_Recv_init(&value, 1, MPI_INT, size, kTag, world, &request));
  FAILS(MPI_ERR_ARG, MPI_Isend(&value, 1, MPI_INT, 0, kTag, world, NULL));
  return checked;
}

static int requests(void) {
  int checked = 0, flag = 0, index = 0;
  MPI_Request null = MPI_REQUEST_NULL, active;
  FAILS(MPI_ERR_REQUEST, MPI_Start(&null));
  FAILS(MPI_ERR_REQUEST, MPI_Request_free(&null));
  FAILS(MPI_ERR_REQUEST, MPI_Cancel(&null));
  FAILS(MPI_ERR_COUNT, MPI_Waitall(-1, &null, MPI_STATUSES_IGNORE));
  FAILS(MPI_ERR_COUNT, MPI_Testany(-1, &null, &index, &flag, MPI_STATUS_IGNORE));
  // Not persistent, so there is nothing to start.
  int value = 0;
  MPI_Irecv(&value, 1, MPI_INT, 0, kTag + 1, MPI_COMM_SELF, &active);
  FAILS(MPI_ERR_REQUEST, MPI_Start(&active));
  MPI_Cancel(&active);
  MPI_Wait(&active, MPI_STATUS_IGNORE);
  return checked;
}

static int datatypes(void) {
  int checked = 0, value[8] = {0}, size = 0;
  MPI_Datatype raw, made, null = MPI_DATATYPE_NULL, builtin = MPI_INT;
  MPI_Type_vector(2, 1, 3, MPI_INT, &raw);
  FAILS(MPI_ERR_TYPE, MPI_Send(value, 1, raw, 0, kTag, MPI_COMM_WORLD));
  FAILS(MPI_ERR_TYPE, MPI_Recv(value, 1, raw, 0, kTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
  MPI_Type_free(&raw);
  FAILS(MPI_ERR_TYPE, MPI_Type_contiguous(2, MPI_DATATYPE_NULL, &made));
  FAILS(MPI_ERR_COUNT, MPI_Type_contiguous(-1, MPI_INT, &made));
  FAILS(MPI_ERR_COUNT, MPI_Type_vector(-1, 1, 1, MPI_INT, &made));
  // The standard does not define whether a block length is a count.
  CHECK(MPI_Type_vector(1, -1, 1, MPI_INT, &made) != MPI_SUCCESS, "a block length of -1 was taken");
  FAILS(MPI_ERR_TYPE, MPI_Type_commit(&null));
  FAILS(MPI_ERR_TYPE, MPI_Type_free(&null));
  FAILS(MPI_ERR_TYPE, MPI_Type_free(&builtin));
  FAILS(MPI_ERR_TYPE, MPI_Type_size(MPI_DATATYPE_NULL, &size));
  return checked;
}

static int communicators(void) {
  int checked = 0, value = 0;
  MPI_Comm made = MPI_COMM_NULL, null = MPI_COMM_NULL;
  FAILS(MPI_ERR_COMM, MPI_Comm_rank(MPI_COMM_NULL, &value));
  FAILS(MPI_ERR_COMM, MPI_Comm_size(MPI_COMM_NULL, &value));
  FAILS(MPI_ERR_COMM, MPI_Comm_dup(MPI_COMM_NULL, &made));
  FAILS(MPI_ERR_COMM, MPI_Comm_split(MPI_COMM_NULL, 0, 0, &made));
  FAILS(MPI_ERR_COMM, MPI_Comm_free(&null));
  FAILS(MPI_ERR_COMM, MPI_Barrier(MPI_COMM_NULL));
  FAILS(MPI_ERR_ARG, MPI_Comm_rank(MPI_COMM_WORLD, NULL));
  return checked;
}

static int collectives(void) {
  int checked = 0, value = 0, other = 0, size = world_size();
  const MPI_Comm world = MPI_COMM_WORLD;
  FAILS(MPI_ERR_ROOT, MPI_Bcast(&value, 1, MPI_INT, size, world));
  FAILS(MPI_ERR_ROOT, MPI_Bcast(&value, 1, MPI_INT, -3, world));
  FAILS(MPI_ERR_COUNT, MPI_Bcast(&value, -1, MPI_INT, 0, world));
  FAILS(MPI_ERR_TYPE, MPI_Bcast(&value, 1, MPI_DATATYPE_NULL, 0, world));
  FAILS(MPI_ERR_ROOT, MPI_Reduce(&value, &other, 1, MPI_INT, MPI_SUM, size, world));
  FAILS(MPI_ERR_OP, MPI_Reduce(&value, &other, 1, MPI_INT, MPI_OP_NULL, 0, world));
  FAILS(MPI_ERR_OP, MPI_Allreduce(&value, &other, 1, MPI_INT, MPI_OP_NULL, world));
  FAILS(MPI_ERR_OP, MPI_Allreduce(&value, &other, 1, MPI_FLOAT, MPI_BAND, world));
  FAILS(MPI_ERR_OP, MPI_Allreduce(&value, &other, 1, MPI_INT, MPI_MAXLOC, world));
  FAILS(MPI_ERR_BUFFER, MPI_Allreduce(&value, &value, 1, MPI_INT, MPI_SUM, world));
  FAILS(MPI_ERR_ROOT, MPI_Gather(&value, 1, MPI_INT, &other, 1, MPI_INT, size, world));
  FAILS(MPI_ERR_COMM, MPI_Allgather(&value, 1, MPI_INT, &other, 1, MPI_INT, MPI_COMM_NULL));
  return checked;
}

// Handles that were valid once, and numbers that never were. MPICH does not check all of them, nor the counts of these
// collectives.
static int dead_handles(void) {
  int checked = 0, value = 0;
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  const MPI_Comm freed_comm = comm;
  MPI_Comm_free(&comm);
  MPI_Datatype type;
  MPI_Type_contiguous(3, MPI_INT, &type);
  MPI_Type_commit(&type);
  const MPI_Datatype freed_type = type;
  MPI_Type_free(&type);
  if (!on_margay()) return 0;
  FAILS(MPI_ERR_COMM, MPI_Send(&value, 1, MPI_INT, 0, kTag, freed_comm));
  FAILS(MPI_ERR_COMM, MPI_Comm_rank(freed_comm, &value));
  FAILS(MPI_ERR_COUNT, MPI_Allreduce(&value, &checked, -1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
  FAILS(MPI_ERR_COUNT, MPI_Allgather(&value, -1, MPI_INT, &checked, 1, MPI_INT, MPI_COMM_WORLD));
  FAILS(MPI_ERR_COMM, MPI_Barrier((MPI_Comm)12345));
  FAILS(MPI_ERR_COMM, MPI_Comm_rank((MPI_Comm)MPI_INT, &value));
  FAILS(MPI_ERR_TYPE, MPI_Send(&value, 1, freed_type, 0, kTag, MPI_COMM_WORLD));
  FAILS(MPI_ERR_TYPE, MPI_Send(&value, 1, (MPI_Datatype)MPI_COMM_WORLD, 0, kTag, MPI_COMM_WORLD));
  FAILS(MPI_ERR_OP, MPI_Allreduce(&value, &checked, 1, MPI_INT, (MPI_Op)MPI_INT, MPI_COMM_WORLD));
  MPI_Request bogus = (MPI_Request)MPI_COMM_WORLD;
  FAILS(MPI_ERR_REQUEST, MPI_Wait(&bogus, MPI_STATUS_IGNORE));
  return checked;
}

static void strings(void) {
  for (int class = MPI_SUCCESS; class < MPI_ERR_LASTCODE && class < 64; ++class) {
    char text[MPI_MAX_ERROR_STRING] = "";
    int length = 0;
    if (MPI_Error_string(class, text, &length) == MPI_SUCCESS) CHECK(length > 0, "class %d has no string", class);
  }
}

int main(int argc, char** argv) {
  suite_begin(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  int checked = point_to_point();
  checked += requests();
  checked += datatypes();
  checked += communicators();
  checked += collectives();
  if (world_rank() == 0) printf("%d wrong calls\n", checked);
  dead_handles();
  strings();
  // None of the above has had an effect.
  int sum = 0, one = 1;
  MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  CHECK(sum == world_size(), "sum %d afterwards", sum);
  return suite_end("errors");
}
