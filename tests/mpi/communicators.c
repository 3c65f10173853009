// Tests of Comm_dup, Comm_split, Comm_free: ranks and sizes, keys, MPI_UNDEFINED, and the separation of messages of
// different communicators, even with equal tags and wildcards.
// ranks: 1 2 3 5 8
// reference: 3
#include "check.h"

enum { kTag = 4, kLongBytes = 50000 };

static void check_shape(const char* what, MPI_Comm comm, int rank, int size) {
  int seen_rank = -1, seen_size = -1;
  MPI_Comm_rank(comm, &seen_rank);
  MPI_Comm_size(comm, &seen_size);
  CHECK(seen_rank == rank && seen_size == size, "%s: rank %d of %d, expected %d of %d", what, seen_rank, seen_size,
        rank, size);
}

static void duplicates_do_not_mix(int rank, int size) {
  enum { kComms = 4 };
  MPI_Comm comms[kComms] = {MPI_COMM_WORLD};
  for (int i = 1; i < kComms; ++i) {
    MPI_Comm_dup(comms[i - 1], &comms[i]);
    check_shape("dup", comms[i], rank, size);
    CHECK(comms[i] != comms[i - 1], "dup gave the same handle");
  }
  const int to = (rank + 1) % size, from = (rank + size - 1) % size;
  static unsigned char body[kComms][2][kLongBytes];
  MPI_Request requests[2 * kComms];
  for (int i = 0; i < kComms; ++i)
    for (int k = 0; k < 2; ++k) {
      const int bytes = k ? kLongBytes : 100;
      pattern_fill(body[i][k], (size_t)bytes, (unsigned)(10 * i + k));
      MPI_Isend(body[i][k], bytes, MPI_BYTE, to, kTag, comms[i], &requests[2 * i + k]);
    }
  // In reverse order and with wildcards: only the communicator distinguishes the messages.
  unsigned char* in = memory_of(kLongBytes);
  for (int i = kComms - 1; i >= 0; --i)
    for (int k = 0; k < 2; ++k) {
      MPI_Status status;
      const size_t bytes = k ? kLongBytes : 100;
      MPI_Recv(in, kLongBytes, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, comms[i], &status);
      check_status("message on a duplicate", &status, from, kTag, (int)bytes);
      CHECK(pattern_mismatch(in, bytes, (unsigned)(10 * i + k)) == bytes, "communicator %d, message %d: wrong body", i,
            k);
    }
  MPI_Waitall(2 * kComms, requests, MPI_STATUSES_IGNORE);
  int flag = 1;
  for (int i = 0; i < kComms; ++i) {
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comms[i], &flag, MPI_STATUS_IGNORE);
    CHECK(!flag, "communicator %d: something is left", i);
  }
  free(in);
  for (int i = 1; i < kComms; ++i) {
    MPI_Comm_free(&comms[i]);
    CHECK(comms[i] == MPI_COMM_NULL, "Comm_free left the handle");
  }
}

static void split_by_parity(int rank, int size) {
  MPI_Comm half;
  // The key reverses the order.
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half);
  const int members = (size + 1 - rank % 2) / 2;
  check_shape("halves", half, members - 1 - rank / 2, members);
  int half_rank = -1, sum = 0;
  MPI_Comm_rank(half, &half_rank);
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, half);
  int expected = 0;
  for (int i = rank % 2; i < size; i += 2) expected += i;
  CHECK(sum == expected, "sum over the half: %d, expected %d", sum, expected);
  // Sources are ranks of the communicator.
  int value = rank, in = -1;
  MPI_Status status;
  const int to = (half_rank + 1) % members, from = (half_rank + members - 1) % members;
  MPI_Sendrecv(&value, 1, MPI_INT, to, kTag, &in, 1, MPI_INT, MPI_ANY_SOURCE, kTag, half, &status);
  CHECK(status.MPI_SOURCE == from, "source %d in the half, expected %d", status.MPI_SOURCE, from);
  CHECK(in == 2 * (members - 1 - from) + rank % 2, "world rank %d came from %d", in, from);
  // A split of a split.
  MPI_Comm quarter;
  MPI_Comm_split(half, half_rank / 2, 0, &quarter);
  const int last = half_rank / 2 == (members - 1) / 2 && members % 2 == 1;
  check_shape("quarters", quarter, half_rank % 2, last ? 1 : 2);
  MPI_Comm_free(&half);
  MPI_Barrier(quarter);
  MPI_Comm_free(&quarter);
}

static void split_undefined(int rank, int size) {
  MPI_Comm some;
  MPI_Comm_split(MPI_COMM_WORLD, rank == 0 ? MPI_UNDEFINED : 7, 0, &some);
  if (rank == 0) {
    CHECK(some == MPI_COMM_NULL, "a colour of MPI_UNDEFINED gave a communicator");
    return;
  }
  // Equal keys: the order of the old communicator.
  check_shape("all but 0", some, rank - 1, size - 1);
  MPI_Barrier(some);
  MPI_Comm_free(&some);
}

// A message in transit when its communicator is freed still arrives (MPI 4.0, section 7.4.3: deferred).
static void free_in_flight(int rank, int size) {
  MPI_Comm comm;
  MPI_Request requests[2];
  unsigned char* out = memory_of(kLongBytes);
  unsigned char* in = memory_of(kLongBytes);
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  pattern_fill(out, kLongBytes, (unsigned)rank);
  const int to = (rank + 1) % size, from = (rank + size - 1) % size;
  MPI_Isend(out, kLongBytes, MPI_BYTE, to, kTag, comm, &requests[0]);
  MPI_Irecv(in, kLongBytes, MPI_BYTE, from, kTag, comm, &requests[1]);
  MPI_Comm_free(&comm);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  CHECK(pattern_mismatch(in, kLongBytes, (unsigned)from) == kLongBytes, "freed in flight: wrong body");
  free(out);
  free(in);
}

// MPI_Comm_disconnect waits for pending communication (MPI 4.0, section 11.10.4): here for a message that is sent late.
static void disconnect_waits(int rank, int size) {
  MPI_Comm comm;
  MPI_Request requests[2];
  unsigned char* out = memory_of(kLongBytes);
  unsigned char* in = memory_of(kLongBytes);
  int over = -1;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  pattern_fill(out, kLongBytes, (unsigned)rank);
  const int to = (rank + 1) % size, from = (rank + size - 1) % size;
  MPI_Irecv(in, kLongBytes, MPI_BYTE, from, kTag, comm, &requests[0]);
  if (rank == size - 1) usleep(20000);
  MPI_Isend(out, kLongBytes, MPI_BYTE, to, kTag, comm, &requests[1]);
  MPI_Comm_disconnect(&comm);
  CHECK(comm == MPI_COMM_NULL, "Comm_disconnect left the handle");
  MPI_Testall(2, requests, &over, MPI_STATUSES_IGNORE);
  if (on_margay()) CHECK(over == 1, "Comm_disconnect did not wait");  // MPICH 4.0.2 does not
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  CHECK(pattern_mismatch(in, kLongBytes, (unsigned)from) == kLongBytes, "disconnected in flight: wrong body");
  free(out);
  free(in);
}

// Unguided splits by hardware: parts smaller than the parent, so nodes if there are several, and otherwise none.
static void split_by_node(int rank, int size) {
  MPI_Comm node, part;
  int of_node = -1, of_part = -1;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &node);
  MPI_Comm_size(node, &of_node);
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_HW_UNGUIDED, rank, MPI_INFO_NULL, &part);
  CHECK((part == MPI_COMM_NULL) == (of_node == size), "unguided, with %d of %d ranks on the node", of_node, size);
  if (part != MPI_COMM_NULL) {
    MPI_Comm_size(part, &of_part);
    CHECK(of_part == of_node, "unguided: %d ranks of %d on the node", of_part, of_node);
    MPI_Comm_free(&part);
  }
  MPI_Comm_free(&node);
}

int main(int argc, char** argv) {
  suite_begin(&argc, &argv);
  const int rank = world_rank(), size = world_size();
  check_shape("world", MPI_COMM_WORLD, rank, size);
  duplicates_do_not_mix(rank, size);
  split_by_parity(rank, size);
  split_undefined(rank, size);
  free_in_flight(rank, size);
  disconnect_waits(rank, size);
  if (on_margay()) split_by_node(rank, size);  // MPICH also splits below a node
  MPI_Comm self, world = MPI_COMM_WORLD;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  CHECK(class_of(MPI_Comm_free(&world)) == MPI_ERR_COMM && world == MPI_COMM_WORLD, "the world was freed");
  MPI_Comm_dup(MPI_COMM_SELF, &self);
  check_shape("dup of self", self, 0, 1);
  MPI_Comm_free(&self);
  return suite_end("communicators");
}
