// Tests of calls that poll once (MPI_Test, MPI_Iprobe), and of MPI_Waitsome: they process all messages that have
// arrived.
// ranks: 2
// wires: shm
// reference: none (the standard does not define how much a poll processes)
#include <signal.h>
#include <unistd.h>

#include "check.h"

enum { kMessages = 60, kTag = 1, kLaterTag = 2, kManyTag = 3, kMany = 3000 };
enum { kTestall, kTest, kTestsome, kIprobe, kWaitsome, kWays };

// Rank 1 reports by a signal, not by MPI, that it has sent all messages. So no call of rank 0 makes progress before the
// tested one.
static void receive(int way, int* calls) {
  static int in[kMessages];
  MPI_Request requests[kMessages];
  MPI_Status statuses[kMessages];
  int indices[kMessages], flag = 0, count = 0, later = 0, done = 0;
  sigset_t signals;
  for (int i = 0; i < kMessages; ++i) MPI_Irecv(&in[i], 1, MPI_INT, 1, kTag, MPI_COMM_WORLD, &requests[i]);
  MPI_Barrier(MPI_COMM_WORLD);
  sigemptyset(&signals);
  sigaddset(&signals, SIGUSR1);
  sigwait(&signals, &count);
  for (*calls = 0; !done; ++*calls) {
    if (way == kTestall) {
      MPI_Testall(kMessages, requests, &flag, statuses);
      done = flag;
    } else if (way == kTest) {
      MPI_Test(&requests[kMessages - 1], &flag, &statuses[0]);
      done = flag;
    } else if (way == kIprobe) {
      MPI_Iprobe(1, kLaterTag, MPI_COMM_WORLD, &flag, &statuses[0]);
      done = flag;
    } else {
      int some = 0;
      (way == kTestsome ? MPI_Testsome : MPI_Waitsome)(kMessages, requests, &some, indices, statuses);
      later += some;
      done = later == kMessages;
    }
  }
  MPI_Waitall(kMessages, requests, statuses);
  MPI_Recv(&later, 1, MPI_INT, 1, kLaterTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  for (int i = 0; i < kMessages; ++i) CHECK(in[i] == i, "receive %d has %d", i, in[i]);
}

static void send_and_signal(int peer) {
  MPI_Barrier(MPI_COMM_WORLD);
  for (int i = 0; i < kMessages; ++i) MPI_Send(&i, 1, MPI_INT, 0, kTag, MPI_COMM_WORLD);
  MPI_Send(&peer, 1, MPI_INT, 0, kLaterTag, MPI_COMM_WORLD);
  kill(peer, SIGUSR1);
}

// Calls MPI_Waitsome until all messages are received, whatever the speed of the two ranks.
static void wait_for_many(int rank) {
  static int in[kMany], indices[kMany];
  static MPI_Request requests[kMany];
  int left = kMany;
  for (int i = 0; rank == 0 && i < kMany; ++i) {
    MPI_Irecv(&in[i], 1, MPI_INT, 1, kManyTag, MPI_COMM_WORLD, &requests[i]);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  for (int i = 0; rank == 1 && i < kMany; ++i) MPI_Send(&i, 1, MPI_INT, 0, kManyTag, MPI_COMM_WORLD);
  while (rank == 0 && left > 0) {
    int some = 0;
    MPI_Waitsome(kMany, requests, &some, indices, MPI_STATUSES_IGNORE);
    CHECK(some > 0 && some <= left, "%d of %d", some, left);
    if (some <= 0) return;
    left -= some;
  }
  for (int i = 0; rank == 0 && i < kMany; ++i) CHECK(in[i] == i, "receive %d has %d", i, in[i]);
}

int main(int argc, char** argv) {
  static const char* const names[] = {"Testall", "Test", "Testsome", "Iprobe", "Waitsome"};
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGUSR1);
  pthread_sigmask(SIG_BLOCK, &signals, NULL);
  MPI_Init(&argc, &argv);
  const int rank = world_rank();
  int peer = (int)getpid(), calls = 0;
  if (rank == 0) MPI_Send(&peer, 1, MPI_INT, 1, kTag, MPI_COMM_WORLD);
  if (rank == 1) MPI_Recv(&peer, 1, MPI_INT, 0, kTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  for (int way = 0; way < kWays; ++way) {
    if (rank == 1) {
      send_and_signal(peer);
      continue;
    }
    receive(way, &calls);
    // Two polls: during the first the coprocessor may have just begun.
    CHECK(calls <= 2, "%d calls of MPI_%s for %d messages that were there", calls, names[way], kMessages);
  }
  wait_for_many(rank);
  return suite_end("looks");
}
