// A test of MPI_Cancel of sends that wait behind a full wire: MPI_Wait must not depend on their receiver, which is
// outside of MPI and waits for a signal until all of them are complete. Two ranks, a heap of 64 KiB: the messages that
// fill the wire exceed the capacity of heap, rings and sockets.
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { kFill = 2048, kFillBytes = 16000, kLongBytes = 300000, kCancelled = 7, kRounds = 3 };
enum { kFillTag = 1, kCancelledTag = 2, kLastTag = 3 };

static int failures;

static void start(MPI_Request requests[kCancelled], unsigned char* body, int to) {
  MPI_Datatype every_other;
  MPI_Type_vector(50, 1, 2, MPI_INT, &every_other);
  MPI_Type_commit(&every_other);
  MPI_Isend(body, 4, MPI_BYTE, to, kCancelledTag, MPI_COMM_WORLD, &requests[0]);
  MPI_Issend(body, 4, MPI_BYTE, to, kCancelledTag, MPI_COMM_WORLD, &requests[1]);
  MPI_Isend(body, kLongBytes, MPI_BYTE, to, kCancelledTag, MPI_COMM_WORLD, &requests[2]);
  MPI_Issend(body, kLongBytes, MPI_BYTE, to, kCancelledTag, MPI_COMM_WORLD, &requests[3]);
  MPI_Isend(body, 1, every_other, to, kCancelledTag, MPI_COMM_WORLD, &requests[4]);
  MPI_Send_init(body, 1000, MPI_BYTE, to, kCancelledTag, MPI_COMM_WORLD, &requests[5]);
  MPI_Ssend_init(body, kLongBytes, MPI_BYTE, to, kCancelledTag, MPI_COMM_WORLD, &requests[6]);
  MPI_Startall(2, &requests[5]);
  MPI_Type_free(&every_other);
}

static void cancel_all(MPI_Request requests[kCancelled], const char* where) {
  for (int i = 0; i < kCancelled; ++i) {
    int flag = 0;
    MPI_Status status;
    MPI_Cancel(&requests[i]);
    MPI_Wait(&requests[i], &status);
    MPI_Test_cancelled(&status, &flag);
    if (!flag) {
      printf("%s: send %d was not cancelled\n", where, i);
      ++failures;
    }
    if (i >= 5) MPI_Request_free(&requests[i]);
  }
}

// The fill arrives completely and in order; no cancelled message arrives.
static void receive_rest(unsigned char* body, int from) {
  int flag = 0;
  for (int i = 0; i < kFill; ++i) {
    MPI_Recv(body, kFillBytes, MPI_BYTE, from, kFillTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (body[0] != (unsigned char)i || body[kFillBytes - 1] != (unsigned char)i) ++failures;
  }
  MPI_Recv(body, 1, MPI_BYTE, from, kLastTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Iprobe(from, kCancelledTag, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
  if (flag || failures) printf("wrong messages came: %d\n", failures);
}

int main(int argc, char** argv) {
  static MPI_Request fill[kFill], cancelled[kCancelled], last;
  int rank = 0, number = 0;
  sigset_t go;
  sigemptyset(&go);
  sigaddset(&go, SIGUSR1);
  sigprocmask(SIG_BLOCK, &go, NULL);
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  unsigned char* body = malloc((size_t)kFill * kFillBytes);
  int pid = (int)getpid();
  if (rank == 1) {
    MPI_Send(&pid, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
    sigwait(&go, &number);
    receive_rest(body, 0);
  } else {
    MPI_Recv(&pid, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int to = 1; to >= 0; --to) {
      for (int i = 0; i < kFill; ++i) {
        unsigned char* at = body + (size_t)i * kFillBytes;
        at[0] = at[kFillBytes - 1] = (unsigned char)i;
        MPI_Isend(at, kFillBytes, MPI_BYTE, to, kFillTag, MPI_COMM_WORLD, &fill[i]);
      }
      for (int round = 0; round < kRounds; ++round) {
        start(cancelled, body, to);
        cancel_all(cancelled, to == 0 ? "to itself" : "to another");
      }
      MPI_Isend(body, 1, MPI_BYTE, to, kLastTag, MPI_COMM_WORLD, &last);
      if (to == 1) kill((pid_t)pid, SIGUSR1);
      if (to == 0) receive_rest(malloc(kFillBytes), 0);
      MPI_Waitall(kFill, fill, MPI_STATUSES_IGNORE);
      MPI_Wait(&last, MPI_STATUS_IGNORE);
    }
    if (!failures) printf("all given back\n");
  }
  MPI_Finalize();
  return failures != 0;
}
