// A program that waits for a message from a rank that can no longer be reached: cut WAIT [now]. With `now`, rank 0
// shuts its TCP connections down first; otherwise none can be opened (the caller has removed the network). Every rank
// sends to the other and then waits, by
//   WAIT: receive receive_any irecv_any test_any probe probe_any mprobe_any iprobe iprobe_any
// Exit status 0 means that a message arrived, which is a failure.
#include <mpi.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>

enum { kDescriptors = 64 };

static void cut_connections(void) {
  for (int descriptor = 3; descriptor < kDescriptors; ++descriptor) {
    struct sockaddr_in address;
    socklen_t length = sizeof address;
    if (getpeername(descriptor, (struct sockaddr*)&address, &length) == 0 && address.sin_family == AF_INET)
      shutdown(descriptor, SHUT_RDWR);
  }
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  if (argc < 2) MPI_Abort(MPI_COMM_WORLD, 99);
  int rank, mine = 1, theirs = 0, flag = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const char* wait = argv[1];
  if (argc > 2) {
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) cut_connections();
  }
  const int source = strstr(wait, "_any") != NULL ? MPI_ANY_SOURCE : 1 - rank;
  MPI_Request request;
  MPI_Message message;
  MPI_Isend(&mine, 1, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD, &request);
  MPI_Request_free(&request);
  if (strncmp(wait, "receive", 7) == 0) {
    MPI_Recv(&theirs, 1, MPI_INT, source, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  } else if (strcmp(wait, "irecv_any") == 0) {
    MPI_Irecv(&theirs, 1, MPI_INT, source, 0, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  } else if (strcmp(wait, "test_any") == 0) {
    MPI_Irecv(&theirs, 1, MPI_INT, source, 0, MPI_COMM_WORLD, &request);
    while (!flag) MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
  } else if (strncmp(wait, "probe", 5) == 0) {
    MPI_Probe(source, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  } else if (strcmp(wait, "mprobe_any") == 0) {
    MPI_Mprobe(source, 0, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
  } else {
    while (!flag) MPI_Iprobe(source, 0, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
  }
  MPI_Finalize();
  return 0;
}
