// A test of messages for which the heap of 64 KiB has no space: each is held, with all behind it, until the second heap
// opens. That must depend neither on the free space in the first one, nor on silence of the other ranks. Three ranks.
#include <mpi.h>
#include <stdio.h>

enum { kFill = 8, kFillBytes = 7000, kHeldBytes = 16000 };
enum { kFillTag = 1, kBetweenTag = 2, kHeldTag = 3, kBehindTag = 4, kTrafficTag = 5 };

static char body[kHeldBytes];

// The sends in progress; nonblocking, because a send to the rank itself must not block.
static MPI_Request sends[2 * kFill + 2];
static int started;

static void send_one(int bytes, int to, int tag) {
  MPI_Isend(body, bytes, MPI_BYTE, to, tag, MPI_COMM_WORLD, &sends[started++]);
}

static void end_sends(void) {
  MPI_Waitall(started, sends, MPI_STATUSES_IGNORE);
  started = 0;
}

static void fill(int to) {
  for (int i = 0; i < kFill; ++i) {
    send_one(kFillBytes, to, kFillTag);
    send_one(0, to, kBetweenTag);
  }
}

static void receive(int count, int bytes, int from, int tag) {
  for (int i = 0; i < count; ++i) MPI_Recv(body, bytes, MPI_BYTE, from, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

// The heap has enough free space in total, but not in one piece.
static void fragmented(int rank, int from, int to) {
  if (rank == from) fill(to);
  if (rank == from && from != to) end_sends();
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == to) receive(kFill, kFillBytes, from, kFillTag);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == from) {
    send_one(kHeldBytes, to, kHeldTag);
    send_one(4, to, kBehindTag);
  }
  if (rank == to) {
    receive(1, 4, from, kBehindTag);
    receive(1, kHeldBytes, from, kHeldTag);
    receive(kFill, 0, from, kBetweenTag);
  }
  if (rank == from) end_sends();
  MPI_Barrier(MPI_COMM_WORLD);
}

// A third rank continues to send until the message behind the held one has arrived.
static void beside_traffic(int rank, int from, int to, int third) {
  if (rank == from) {
    fill(to);
    send_one(kHeldBytes, to, kHeldTag);
    send_one(4, to, kBehindTag);
    end_sends();
  } else if (rank == third) {
    for (int go = 1; go;) {
      MPI_Send(body, 8, MPI_BYTE, to, kTrafficTag, MPI_COMM_WORLD);
      MPI_Recv(&go, 1, MPI_INT, to, kTrafficTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
  } else {
    MPI_Request behind;
    int here = 0;
    MPI_Irecv(body, 4, MPI_BYTE, from, kBehindTag, MPI_COMM_WORLD, &behind);
    while (!here) {
      receive(1, 8, third, kTrafficTag);
      MPI_Test(&behind, &here, MPI_STATUS_IGNORE);
      const int go = !here;
      MPI_Send(&go, 1, MPI_INT, third, kTrafficTag, MPI_COMM_WORLD);
    }
    receive(1, kHeldBytes, from, kHeldTag);
    receive(kFill, kFillBytes, from, kFillTag);
    receive(kFill, 0, from, kBetweenTag);
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char** argv) {
  int rank = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  fragmented(rank, 0, 1);
  fragmented(rank, 2, 1);
  fragmented(rank, 0, 0);
  beside_traffic(rank, 0, 1, 2);
  beside_traffic(rank, 2, 1, 0);
  if (rank == 0) printf("all came\n");
  MPI_Finalize();
  return 0;
}
