// A measurement of the heap memory that a process keeps after the end of its part in a job. "world": only MPI_Init;
// "session": only a session; then another session. "left": the messages in the heap are never received.
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { kMessages = 4000, kBytes = 1000, kEnough = 2000 };  // KiB of the 4,000 in the heap

static long resident_kib(void) {
  long pages = 0, resident = 0;
  FILE* file = fopen("/proc/self/statm", "r");
  if (fscanf(file, "%ld %ld", &pages, &resident) != 2) resident = 0;
  fclose(file);
  return resident * (sysconf(_SC_PAGESIZE) / 1024);
}

// Fills the last rank's heap with messages of the first one. Returns the peak of the process's memory in KiB.
static long fill_heap(MPI_Comm comm, int left) {
  static char body[kBytes];
  int rank = 0, size = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  if (rank == 0) {
    for (int i = 0; i < kMessages; ++i) MPI_Send(body, kBytes, MPI_BYTE, size - 1, 1, comm);
    MPI_Send(body, 1, MPI_BYTE, size - 1, 2, comm);
  }
  if (rank != size - 1) return 0;
  MPI_Recv(body, 1, MPI_BYTE, 0, 2, comm, MPI_STATUS_IGNORE);
  const long most = resident_kib();
  for (int i = 0; i < kMessages && !left; ++i) MPI_Recv(body, kBytes, MPI_BYTE, 0, 1, comm, MPI_STATUS_IGNORE);
  return most;
}

static MPI_Comm world_of(MPI_Session session) {
  MPI_Group group;
  MPI_Comm comm;
  MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
  MPI_Comm_create_from_group(group, "gives_back", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
  MPI_Group_free(&group);
  return comm;
}

int main(int argc, char** argv) {
  const int world = argc > 1 && strcmp(argv[1], "world") == 0;
  const int left = argc > 2 && strcmp(argv[2], "left") == 0;
  MPI_Session session = MPI_SESSION_NULL;
  MPI_Comm comm = MPI_COMM_NULL;
  long most = 0;
  if (world) {
    MPI_Init(&argc, &argv);
    most = fill_heap(MPI_COMM_WORLD, left);
    MPI_Finalize();
  } else {
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
    comm = world_of(session);
    most = fill_heap(comm, left);
    MPI_Barrier(comm);
    MPI_Comm_free(&comm);
    MPI_Session_finalize(&session);
  }
  const int heap = most == 0 || most - resident_kib() > kEnough;
  const int code = MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
  if (code == MPI_SUCCESS) {
    comm = world_of(session);
    MPI_Barrier(comm);
    MPI_Comm_free(&comm);
    MPI_Session_finalize(&session);
  }
  printf("heap %s, session %s\n", heap ? "given back" : "kept", code == MPI_SUCCESS ? "again" : "refused");
  return 0;
}
