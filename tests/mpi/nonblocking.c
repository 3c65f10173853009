// Tests of nonblocking and persistent collectives (MPI 4.0, 6.12 and 6.13): barrier, bcast, reduce, allreduce, gather,
// allgather. Many at once on one communicator, completed in any order; mixed with blocking ones; long and short.
// ranks: 1 2 3 5 8
// reference: none, MPICH 4.0.2's MPI_Gather_init sends the contents of the buffers before MPI_Start
#include "check.h"

enum { kAtOnce = 200, kLong = 70000 };

static int rank, size;

static void append(void* in, void* inout, int* length, MPI_Datatype* type) {
  const double* left = in;
  double* right = inout;
  (void)type;
  // Not commutative: (a, b) stands for x -> a x + b, left after right.
  for (int i = 0; i + 1 < *length; i += 2) {
    const double a = left[i] * right[i];
    const double b = left[i] * right[i + 1] + left[i + 1];
    right[i] = a;
    right[i + 1] = b;
  }
}

// The composition of all ranks' maps.
static void expected_map(double* a, double* b) {
  *a = 1;
  *b = 0;
  for (int other = size - 1; other >= 0; --other) {
    const double oa = other % 3 == 0 ? 2 : 1;
    const double ob = other + 1;
    *b = oa * *b + ob;
    *a = oa * *a;
  }
}

static void many_at_once(void) {
  MPI_Request requests[kAtOnce];
  int values[kAtOnce], sums[kAtOnce], broadcast[kAtOnce];
  int* gathered = malloc(sizeof(int) * (size_t)(kAtOnce * size));
  for (int i = 0; i < kAtOnce; ++i) {
    values[i] = rank * 1000 + i;
    broadcast[i] = rank == i % size ? i * 7 : -1;
    switch (i % 5) {
      case 0:
        MPI_Iallreduce(&values[i], &sums[i], 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[i]);
        break;
      case 1:
        MPI_Ibcast(&broadcast[i], 1, MPI_INT, i % size, MPI_COMM_WORLD, &requests[i]);
        break;
      case 2:
        MPI_Ireduce(&values[i], &sums[i], 1, MPI_INT, MPI_MAX, i % size, MPI_COMM_WORLD, &requests[i]);
        break;
      case 3:
        MPI_Igather(&values[i], 1, MPI_INT, gathered + i * size, 1, MPI_INT, i % size, MPI_COMM_WORLD, &requests[i]);
        break;
      default:
        MPI_Iallgather(&values[i], 1, MPI_INT, gathered + i * size, 1, MPI_INT, MPI_COMM_WORLD, &requests[i]);
    }
    if (i % 17 == 0) MPI_Barrier(MPI_COMM_WORLD);
  }
  // In reverse order on every other rank.
  if (rank % 2 == 1) {
    for (int i = kAtOnce - 1; i >= 0; --i) MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
  } else {
    MPI_Waitall(kAtOnce, requests, MPI_STATUSES_IGNORE);
  }
  for (int i = 0; i < kAtOnce; ++i) {
    CHECK(requests[i] == MPI_REQUEST_NULL, "request %d is not null", i);
    const int sum = size * i + 1000 * size * (size - 1) / 2;
    if (i % 5 == 0) CHECK(sums[i] == sum, "iallreduce %d: %d, not %d", i, sums[i], sum);
    if (i % 5 == 1) CHECK(broadcast[i] == i * 7, "ibcast %d: %d", i, broadcast[i]);
    if (i % 5 == 2 && rank == i % size) CHECK(sums[i] == (size - 1) * 1000 + i, "ireduce %d: %d", i, sums[i]);
    if (i % 5 == 4 || (i % 5 == 3 && rank == i % size)) {
      for (int other = 0; other < size; ++other)
        CHECK(gathered[i * size + other] == other * 1000 + i, "igather %d: %d of rank %d", i,
              gathered[i * size + other], other);
    }
  }
  free(gathered);
}

static void long_ones(void) {
  enum { kSets = 6 };
  int* all[kSets];
  MPI_Request requests[2 * kSets];
  int* sums[kSets];
  for (int set = 0; set < kSets; ++set) {
    all[set] = malloc(sizeof(int) * kLong);
    sums[set] = malloc(sizeof(int) * kLong);
    for (int i = 0; i < kLong; ++i) all[set][i] = i * (set + 1) + rank;
    MPI_Iallreduce(all[set], sums[set], kLong, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[2 * set]);
  }
  int* broadcast[kSets];
  for (int set = 0; set < kSets; ++set) {
    broadcast[set] = calloc(kLong, sizeof(int));
    if (rank == set % size) {
      for (int i = 0; i < kLong; ++i) broadcast[set][i] = i ^ set;
    }
    MPI_Ibcast(broadcast[set], kLong, MPI_INT, set % size, MPI_COMM_WORLD, &requests[2 * set + 1]);
  }
  // A message of the rank to itself meanwhile.
  int token = rank;
  MPI_Sendrecv_replace(&token, 1, MPI_INT, (rank + 1) % size, 5, (rank + size - 1) % size, 5, MPI_COMM_WORLD,
                       MPI_STATUS_IGNORE);
  CHECK(token == (rank + size - 1) % size, "token %d", token);
  for (int left = 2 * kSets; left > 0;) {
    int done[2 * kSets], count = 0;
    MPI_Waitsome(2 * kSets, requests, &count, done, MPI_STATUSES_IGNORE);
    left -= count;
  }
  for (int set = 0; set < kSets; ++set) {
    int wrong = 0;
    for (int i = 0; i < kLong; ++i) {
      wrong += sums[set][i] != size * i * (set + 1) + size * (size - 1) / 2;
      wrong += broadcast[set][i] != (i ^ set);
    }
    CHECK(wrong == 0, "set %d: %d elements are wrong", set, wrong);
    free(all[set]);
    free(sums[set]);
    free(broadcast[set]);
  }
}

static void functions_of_the_program(void) {
  MPI_Op op;
  double map[2] = {rank % 3 == 0 ? 2 : 1, rank + 1}, result[2] = {0, 0}, a, b;
  MPI_Op_create(append, 0, &op);
  MPI_Datatype pair;
  MPI_Type_contiguous(2, MPI_DOUBLE, &pair);
  MPI_Type_commit(&pair);
  MPI_Request request;
  MPI_Iallreduce(map, result, 2, MPI_DOUBLE, op, MPI_COMM_WORLD, &request);
  // The library keeps both until the call is complete.
  MPI_Op_free(&op);
  MPI_Type_free(&pair);
  int flag = 0;
  while (!flag) MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
  expected_map(&a, &b);
  CHECK(result[0] == a && result[1] == b, "(%g, %g), not (%g, %g)", result[0], result[1], a, b);
}

static void persistent(void) {
  int mine = 0, sum = 0, broadcast = 0;
  int* all = malloc(sizeof(int) * (size_t)size);
  MPI_Request requests[4];
  MPI_Allreduce_init(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[0]);
  MPI_Bcast_init(&broadcast, 1, MPI_INT, size - 1, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[1]);
  MPI_Gather_init(&mine, 1, MPI_INT, all, 1, MPI_INT, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[2]);
  MPI_Barrier_init(MPI_COMM_WORLD, MPI_INFO_NULL, &requests[3]);
  for (int round = 0; round < 100; ++round) {
    mine = round + rank;
    broadcast = rank == size - 1 ? round * 3 : -1;
    MPI_Startall(4, requests);
    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
    CHECK(sum == size * round + size * (size - 1) / 2, "round %d: sum %d", round, sum);
    CHECK(broadcast == round * 3, "round %d: received %d", round, broadcast);
    for (int other = 0; rank == 0 && other < size; ++other)
      CHECK(all[other] == round + other, "round %d: %d of rank %d", round, all[other], other);
  }
  for (int i = 0; i < 4; ++i) MPI_Request_free(&requests[i]);
  free(all);
}

static void first_on_its_communicator(void) {
  MPI_Comm comm;
  MPI_Request requests[3];
  int values[3] = {1, 2, 3};
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  for (int i = 0; i < 3; ++i) {
    MPI_Iallreduce(MPI_IN_PLACE, &values[i], 1, MPI_INT, MPI_SUM, comm, &requests[i]);
  }
  MPI_Barrier(comm);
  MPI_Comm_free(&comm);
  MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
  for (int i = 0; i < 3; ++i) CHECK(values[i] == size * (i + 1), "%d: %d", i, values[i]);
}

int main(int argc, char** argv) {
  suite_begin(&argc, &argv);
  rank = world_rank();
  size = world_size();
  first_on_its_communicator();
  many_at_once();
  long_ones();
  functions_of_the_program();
  persistent();
  return suite_end("nonblocking");
}
