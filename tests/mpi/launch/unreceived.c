/* Messages that are never received, on the world and on a communicator that is freed; the last is long, and its request
   is freed. Or ("clean") all of them are received; or ("late") they arrive after the receiver has freed their
   communicators: a copy, with a short and a long message, a split, a disconnected copy, a copy of MPI_COMM_SELF; or
   ("ready") they are ready sends without a posted receive, or ("ready waits") with a receive that is posted too late,
   so that all wait. Two ranks. */
#include <mpi.h>
#include <string.h>

static char body[100000];

/* Rank 1 frees its communicators, and signals that; only then rank 0 sends. */
static void late(int rank) {
  MPI_Comm copy, part, left, self;
  MPI_Request request;
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &part);
  MPI_Comm_dup(MPI_COMM_WORLD, &left);
  MPI_Comm_dup(MPI_COMM_SELF, &self);
  if (rank == 1) {
    MPI_Comm_free(&copy);
    MPI_Comm_free(&part);
    MPI_Comm_disconnect(&left);
    MPI_Send(NULL, 0, MPI_BYTE, 0, 1, MPI_COMM_WORLD);
  } else {
    MPI_Recv(NULL, 0, MPI_BYTE, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Send(body, 1, MPI_INT, 1, 11, copy);
    MPI_Send(body, 2, MPI_INT, 0, 12, part);
    MPI_Send(body, 3, MPI_INT, 1, 13, left);
    MPI_Isend(body, sizeof body, MPI_BYTE, 1, 14, copy, &request);
    MPI_Request_free(&request);
    MPI_Send(body, 4, MPI_INT, 0, 15, self);
    MPI_Comm_free(&copy);
    MPI_Comm_free(&part);
    MPI_Comm_disconnect(&left);
  }
  MPI_Comm_free(&self);
}

int main(int argc, char** argv) {
  int rank = 0;
  MPI_Comm other;
  MPI_Request request;
  MPI_Init(&argc, &argv);
  const int clean = argc > 1 && strcmp(argv[1], "clean") == 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (argc > 1 && strcmp(argv[1], "late") == 0) {
    late(rank);
    MPI_Finalize();
    return 0;
  }
  if (argc > 1 && strcmp(argv[1], "ready") == 0) {
    if (rank == 0) MPI_Rsend(body, 3, MPI_INT, 1, 11, MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
  }
  if (argc > 1 && strcmp(argv[1], "ready waits") == 0) {
    if (rank == 0) {
      MPI_Rsend(body, 3, MPI_INT, 1, 11, MPI_COMM_WORLD);
      MPI_Send(body, 1, MPI_INT, 1, 12, MPI_COMM_WORLD);
      MPI_Recv(body, 1, MPI_INT, 1, 13, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
      MPI_Recv(body, 1, MPI_INT, 0, 12, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      MPI_Recv(body, 3, MPI_INT, 0, 11, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
  }
  MPI_Comm_dup(MPI_COMM_WORLD, &other);
  MPI_Comm_set_name(other, "other");
  if (rank == 0) {
    const int four[4] = {1, 2, 3, 4};
    MPI_Send(four, 4, MPI_INT, 1, 7, MPI_COMM_WORLD);
    MPI_Send(body, 10, MPI_BYTE, 1, 8, other);
    MPI_Isend(body, sizeof body, MPI_CHAR, 1, 9, MPI_COMM_WORLD, &request);
    MPI_Request_free(&request);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 1 && clean) {
    MPI_Recv(body, 4, MPI_INT, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Recv(body, 10, MPI_BYTE, 0, 8, other, MPI_STATUS_IGNORE);
    MPI_Recv(body, sizeof body, MPI_CHAR, 0, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  MPI_Comm_free(&other);
  MPI_Finalize();
  return 0;
}
