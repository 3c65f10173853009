// Rings of MPI_Isendrecv and MPI_Isendrecv_replace, with messages of a few bytes and of many, and with MPI_PROC_NULL.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { kMost = 100000 };
static int failures = 0;

static void expect(int holds, const char* what) {
  if (holds) return;
  fprintf(stderr, "isendrecv: %s\n", what);
  ++failures;
}

static void ring(int rank, int size, int count) {
  static int out[kMost], in[kMost];
  const int right = (rank + 1) % size, left = (rank + size - 1) % size;
  for (int i = 0; i < count; ++i) out[i] = rank * kMost + i;
  MPI_Request request;
  MPI_Status status;
  int received = 0;
  MPI_Isendrecv(out, count, MPI_INT, right, 1, in, count, MPI_INT, left, 1, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, &status);
  MPI_Get_count(&status, MPI_INT, &received);
  expect(status.MPI_SOURCE == left && status.MPI_TAG == 1 && received == count, "the status of MPI_Isendrecv");
  for (int i = 0; i < count; ++i) expect(in[i] == left * kMost + i, "the data of MPI_Isendrecv");
  MPI_Isendrecv_replace(out, count, MPI_INT, right, 2, left, 2, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, &status);
  for (int i = 0; i < count; ++i) expect(out[i] == left * kMost + i, "the data of MPI_Isendrecv_replace");
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0, size = 0, value = 7;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  ring(rank, size, 3);
  ring(rank, size, kMost);
  MPI_Request request;
  MPI_Status status;
  MPI_Isendrecv_replace(&value, 1, MPI_INT, MPI_PROC_NULL, 3, MPI_PROC_NULL, 3, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, &status);
  expect(value == 7 && status.MPI_SOURCE == MPI_PROC_NULL, "MPI_PROC_NULL");
  MPI_Finalize();
  return failures != 0;
}
