// Tests of MPI_PROC_NULL: every call with a rank argument succeeds at once and transfers nothing.
// ranks: 1 2
// reference: 1
#include "check.h"

enum { kTag = 1 };

static void sends(void) {
  int value = 3;
  MPI_Request request;
  MPI_Status status;
  void* buffer = memory_of(1000 + MPI_BSEND_OVERHEAD);
  int bytes = 0;
  MPI_Send(&value, 1, MPI_INT, MPI_PROC_NULL, kTag, MPI_COMM_WORLD);
  MPI_Ssend(&value, 1, MPI_INT, MPI_PROC_NULL, kTag, MPI_COMM_WORLD);
  MPI_Rsend(&value, 1, MPI_INT, MPI_PROC_NULL, kTag, MPI_COMM_WORLD);
  MPI_Buffer_attach(buffer, 1000 + MPI_BSEND_OVERHEAD);
  MPI_Bsend(&value, 1, MPI_INT, MPI_PROC_NULL, kTag, MPI_COMM_WORLD);
  MPI_Isend(&value, 1, MPI_INT, MPI_PROC_NULL, kTag, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, &status);
  MPI_Issend(&value, 1, MPI_INT, MPI_PROC_NULL, kTag, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, &status);
  MPI_Irsend(&value, 1, MPI_INT, MPI_PROC_NULL, kTag, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, &status);
  MPI_Ibsend(&value, 1, MPI_INT, MPI_PROC_NULL, kTag, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, &status);
  MPI_Buffer_detach(&buffer, &bytes);
  free(buffer);
  MPI_Ssend_init(&value, 1, MPI_INT, MPI_PROC_NULL, kTag, MPI_COMM_WORLD, &request);
  for (int i = 0; i < 3; ++i) {
    MPI_Start(&request);
    MPI_Wait(&request, &status);
  }
  MPI_Request_free(&request);
}

static void receives(void) {
  int value = 3, flag = 0;
  MPI_Request request;
  MPI_Status status;
  MPI_Recv(&value, 1, MPI_INT, MPI_PROC_NULL, kTag, MPI_COMM_WORLD, &status);
  check_status("Recv", &status, MPI_PROC_NULL, MPI_ANY_TAG, 0);
  MPI_Irecv(&value, 1, MPI_INT, MPI_PROC_NULL, kTag, MPI_COMM_WORLD, &request);
  MPI_Test(&request, &flag, &status);
  CHECK(flag, "Irecv from MPI_PROC_NULL is not complete at once");
  // The standard requires this (MPI 4.0, section 3.11); MPICH 4.0.2 returns source 0 here, and an empty status below.
  if (on_margay()) check_status("Irecv", &status, MPI_PROC_NULL, MPI_ANY_TAG, 0);
  MPI_Recv_init(&value, 1, MPI_INT, MPI_PROC_NULL, kTag, MPI_COMM_WORLD, &request);
  for (int i = 0; i < 3; ++i) {
    MPI_Start(&request);
    MPI_Wait(&request, &status);
    if (on_margay()) check_status("started receive", &status, MPI_PROC_NULL, MPI_ANY_TAG, 0);
  }
  MPI_Request_free(&request);
  MPI_Probe(MPI_PROC_NULL, kTag, MPI_COMM_WORLD, &status);
  check_status("Probe", &status, MPI_PROC_NULL, MPI_ANY_TAG, 0);
  flag = 0;
  MPI_Iprobe(MPI_PROC_NULL, kTag, MPI_COMM_WORLD, &flag, &status);
  CHECK(flag, "Iprobe of MPI_PROC_NULL is false");
  check_status("Iprobe", &status, MPI_PROC_NULL, MPI_ANY_TAG, 0);
  MPI_Sendrecv_replace(&value, 1, MPI_INT, MPI_PROC_NULL, kTag, MPI_PROC_NULL, kTag, MPI_COMM_WORLD, &status);
  check_status("Sendrecv_replace", &status, MPI_PROC_NULL, MPI_ANY_TAG, 0);
  CHECK(value == 3, "a receive from MPI_PROC_NULL wrote %d", value);
}

// The usual border of a chain: a shift whose ends are MPI_PROC_NULL.
static void shift(int rank, int size) {
  const int to = rank + 1 < size ? rank + 1 : MPI_PROC_NULL, from = rank > 0 ? rank - 1 : MPI_PROC_NULL;
  int in = -1;
  MPI_Status status;
  MPI_Sendrecv(&rank, 1, MPI_INT, to, kTag, &in, 1, MPI_INT, from, kTag, MPI_COMM_WORLD, &status);
  CHECK(in == rank - 1, "the shift brought %d", in);
  CHECK(status.MPI_SOURCE == from, "the shift came from %d", status.MPI_SOURCE);
}

// No elements and no type: nothing is checked.
static void without_type(int rank, int size) {
  MPI_Status status;
  MPI_Request request;
  int value = 0;
  MPI_Send(NULL, 0, MPI_DATATYPE_NULL, MPI_PROC_NULL, kTag, MPI_COMM_WORLD);
  MPI_Recv(NULL, 0, MPI_DATATYPE_NULL, MPI_PROC_NULL, kTag, MPI_COMM_WORLD, &status);
  MPI_Isend(NULL, 0, MPI_DATATYPE_NULL, MPI_PROC_NULL, kTag, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, &status);
  MPI_Sendrecv(NULL, 0, MPI_DATATYPE_NULL, MPI_PROC_NULL, kTag, NULL, 0, MPI_DATATYPE_NULL, MPI_PROC_NULL, kTag,
               MPI_COMM_WORLD, &status);
  if (size < 2 || rank > 1) return;
  if (rank == 0)
    MPI_Send(NULL, 0, MPI_DATATYPE_NULL, 1, kTag, MPI_COMM_WORLD);
  else
    MPI_Recv(&value, 1, MPI_INT, 0, kTag, MPI_COMM_WORLD, &status);
  CHECK(value == 0, "a message without elements brought %d", value);
}

int main(int argc, char** argv) {
  suite_begin(&argc, &argv);
  sends();
  receives();
  shift(world_rank(), world_size());
  without_type(world_rank(), world_size());
  return suite_end("proc_null");
}
