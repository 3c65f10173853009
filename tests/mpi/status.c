// Tests of MPI_Get_count and of the fields of a status: counts in several datatypes, MPI_UNDEFINED, messages shorter
// than their receives.
// ranks: 2
#include "check.h"

enum { kTag = 8 };

static int count_of(const MPI_Status* status, MPI_Datatype type) {
  int count = -5;
  MPI_Get_count(status, type, &count);
  return count;
}

static void short_of_the_receive(int partner) {
  double body[10];
  MPI_Status status;
  for (int i = 0; i < 10; ++i) body[i] = -1;
  MPI_Recv(body, 10, MPI_DOUBLE, partner, kTag, MPI_COMM_WORLD, &status);
  CHECK(count_of(&status, MPI_DOUBLE) == 3, "3 doubles: %d", count_of(&status, MPI_DOUBLE));
  CHECK(count_of(&status, MPI_BYTE) == 24, "24 bytes: %d", count_of(&status, MPI_BYTE));
  CHECK(count_of(&status, MPI_FLOAT) == 6, "6 floats: %d", count_of(&status, MPI_FLOAT));
  CHECK(body[2] == 2.5 && body[3] == -1, "3 doubles: %g, then %g", body[2], body[3]);
}

static void not_a_multiple(int partner) {
  unsigned char body[64];
  MPI_Status status;
  MPI_Recv(body, 64, MPI_BYTE, partner, kTag, MPI_COMM_WORLD, &status);
  CHECK(count_of(&status, MPI_BYTE) == 13, "13 bytes: %d", count_of(&status, MPI_BYTE));
  CHECK(count_of(&status, MPI_INT) == MPI_UNDEFINED, "13 bytes as int: %d", count_of(&status, MPI_INT));
  CHECK(count_of(&status, MPI_DOUBLE) == MPI_UNDEFINED, "13 bytes as double: %d", count_of(&status, MPI_DOUBLE));
}

static void nothing_in_it(int partner) {
  MPI_Status status;
  MPI_Datatype vector;
  MPI_Recv(NULL, 0, MPI_INT, partner, kTag, MPI_COMM_WORLD, &status);
  CHECK(count_of(&status, MPI_INT) == 0, "no ints: %d", count_of(&status, MPI_INT));
  MPI_Type_vector(3, 2, 4, MPI_INT, &vector);
  MPI_Type_commit(&vector);
  CHECK(count_of(&status, vector) == 0, "no vectors: %d", count_of(&status, vector));
  int grid[24];
  for (int i = 0; i < 24; ++i) grid[i] = -1;
  MPI_Recv(grid, 2, vector, partner, kTag, MPI_COMM_WORLD, &status);
  CHECK(count_of(&status, vector) == 1, "one vector of six: %d", count_of(&status, vector));
  CHECK(count_of(&status, MPI_INT) == 6, "six ints: %d", count_of(&status, MPI_INT));
  MPI_Recv(grid, 2, vector, partner, kTag, MPI_COMM_WORLD, &status);
  CHECK(count_of(&status, vector) == MPI_UNDEFINED, "part of a vector: %d", count_of(&status, vector));
  CHECK(count_of(&status, MPI_INT) == 5, "five ints: %d", count_of(&status, MPI_INT));
  MPI_Type_free(&vector);
}

static void errors_in_statuses(int partner) {
  int values[3];
  MPI_Request requests[3];
  MPI_Status statuses[3];
  for (int i = 0; i < 3; ++i) MPI_Irecv(&values[i], 1, MPI_INT, partner, kTag + i, MPI_COMM_WORLD, &requests[i]);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  signal_to(partner, kTag);
  const int code = MPI_Waitall(3, requests, statuses);
  CHECK(class_of(code) == MPI_ERR_IN_STATUS, "Waitall with a truncated message: class %d", class_of(code));
  if (class_of(code) == MPI_ERR_IN_STATUS) {
    CHECK(statuses[0].MPI_ERROR == MPI_SUCCESS, "status 0: error %d", statuses[0].MPI_ERROR);
    CHECK(class_of(statuses[1].MPI_ERROR) == MPI_ERR_TRUNCATE, "status 1: class %d", class_of(statuses[1].MPI_ERROR));
    // MPI_ERR_PENDING would mean: neither failed nor completed.
    const int third = class_of(statuses[2].MPI_ERROR);
    CHECK(third == MPI_SUCCESS || third == MPI_ERR_PENDING, "status 2: class %d", third);
  }
  MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
  CHECK(values[0] == 1 && values[2] == 1, "values %d and %d", values[0], values[2]);
}

// Two messages to the process itself; the statuses hold 77 before.
static void post_two(int values[2], MPI_Request requests[2], MPI_Status statuses[2]) {
  const int sent = 4711;
  for (int i = 0; i < 2; ++i) {
    statuses[i].MPI_ERROR = 77;
    MPI_Irecv(&values[i], 1, MPI_INT, 0, kTag + i, MPI_COMM_SELF, &requests[i]);
  }
  for (int i = 0; i < 2; ++i) MPI_Send(&sent, 1, MPI_INT, 0, kTag + i, MPI_COMM_SELF);
}

// MPI_ERROR is written only if a request failed (MPI 4.0, 3.2.5); MPI_Waitall always writes it, as in MPICH.
static void errors_left_alone(void) {
  int values[2], indices[2], flag = 0, count = 0;
  MPI_Request requests[2];
  MPI_Status statuses[2];
  post_two(values, requests, statuses);
  MPI_Testall(2, requests, &flag, statuses);
  CHECK(flag && statuses[0].MPI_ERROR == 77 && statuses[1].MPI_ERROR == 77, "Testall: errors %d %d",
        statuses[0].MPI_ERROR, statuses[1].MPI_ERROR);
  post_two(values, requests, statuses);
  MPI_Waitsome(2, requests, &count, indices, statuses);
  CHECK(count > 0 && statuses[0].MPI_ERROR == 77, "Waitsome: %d, error %d", count, statuses[0].MPI_ERROR);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  post_two(values, requests, statuses);
  MPI_Testsome(2, requests, &count, indices, statuses);
  CHECK(count > 0 && statuses[0].MPI_ERROR == 77, "Testsome: %d, error %d", count, statuses[0].MPI_ERROR);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  post_two(values, requests, statuses);
  MPI_Waitall(2, requests, statuses);
  CHECK(statuses[0].MPI_ERROR == MPI_SUCCESS && statuses[1].MPI_ERROR == MPI_SUCCESS, "Waitall: errors %d %d",
        statuses[0].MPI_ERROR, statuses[1].MPI_ERROR);
}

// The errors of all requests that a call completed, if one of them failed.
static void errors_of_some(void) {
  int values[3], indices[3], count = 0, sent[2] = {1, 2}, failed = 0;
  MPI_Request requests[3];
  MPI_Status statuses[3];
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  for (int i = 0; i < 3; ++i) {
    statuses[i].MPI_ERROR = 77;
    MPI_Irecv(&values[i], 1, MPI_INT, 0, kTag + i, MPI_COMM_SELF, &requests[i]);
  }
  for (int i = 0; i < 3; ++i) MPI_Send(sent, i == 1 ? 2 : 1, MPI_INT, 0, kTag + i, MPI_COMM_SELF);
  for (int i = 0, flag = 0; i < 3; i += flag) MPI_Request_get_status(requests[i], &flag, MPI_STATUS_IGNORE);
  const int code = MPI_Waitsome(3, requests, &count, indices, statuses);
  CHECK(class_of(code) == MPI_ERR_IN_STATUS && count == 3, "Waitsome: class %d, %d ended", class_of(code), count);
  for (int i = 0; i < count; ++i) {
    const int wanted = indices[i] == 1 ? MPI_ERR_TRUNCATE : MPI_SUCCESS;
    failed += class_of(statuses[i].MPI_ERROR) != wanted;
  }
  CHECK(failed == 0, "Waitsome: %d statuses have a wrong error", failed);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

static void as_sender(int partner) {
  const double doubles[3] = {0.5, 1.5, 2.5};
  const int ints[6] = {1, 1, 1, 1, 1, 1};
  MPI_Send(doubles, 3, MPI_DOUBLE, partner, kTag, MPI_COMM_WORLD);
  MPI_Send("thirteen byte", 13, MPI_BYTE, partner, kTag, MPI_COMM_WORLD);
  MPI_Send(NULL, 0, MPI_INT, partner, kTag, MPI_COMM_WORLD);
  MPI_Send(ints, 6, MPI_INT, partner, kTag, MPI_COMM_WORLD);
  MPI_Send(ints, 5, MPI_INT, partner, kTag, MPI_COMM_WORLD);
  wait_for(partner, kTag);
  MPI_Send(ints, 1, MPI_INT, partner, kTag, MPI_COMM_WORLD);
  MPI_Send(ints, 2, MPI_INT, partner, kTag + 1, MPI_COMM_WORLD);
  MPI_Send(ints, 1, MPI_INT, partner, kTag + 2, MPI_COMM_WORLD);
}

int main(int argc, char** argv) {
  suite_begin(&argc, &argv);
  const int rank = world_rank(), partner = partner_of(rank);
  if (rank == 0) {
    short_of_the_receive(partner);
    not_a_multiple(partner);
    nothing_in_it(partner);
    errors_in_statuses(partner);
    errors_left_alone();
    errors_of_some();
  } else {
    as_sender(partner);
  }
  return suite_end("status");
}
