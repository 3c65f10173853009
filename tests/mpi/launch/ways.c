// Messages whose bodies are transferred by each method, with a tag for each.
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

enum {
  kCell = 1,
  kRing,
  kHeap,
  kAfter,
  kLong,
  kPulled,
  kBehind,
  kPieces,
  kBuffered,
  kReplace,
  kSelf,
  kSelfLong,
  kShared,
  kCut,
  kReady = 100
};
enum { kShort = 40, kWhole = 4000, kLongBytes = 20000, kSharedBytes = 8 << 20 };

static int rank;
static char* memory;

// From rank 0 to 1, into a receive that is posted.
static void expected(int tag, int count, MPI_Datatype type, int room) {
  MPI_Request request;
  if (rank == 0) {
    MPI_Recv(NULL, 0, MPI_BYTE, 1, kReady, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (tag == kBuffered) {
      MPI_Bsend(memory, count, type, 1, tag, MPI_COMM_WORLD);
    } else {
      MPI_Send(memory, count, type, 1, tag, MPI_COMM_WORLD);
    }
  } else {
    MPI_Irecv(memory, room, type, 0, tag, MPI_COMM_WORLD, &request);
    MPI_Send(NULL, 0, MPI_BYTE, 0, kReady, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
}

// The same before the receive is posted: an empty message follows it, and is received first.
static void unexpected(int tag, int behind, int count, int room) {
  MPI_Request request;
  if (rank == 0) {
    MPI_Isend(memory, count, MPI_BYTE, 1, tag, MPI_COMM_WORLD, &request);
    MPI_Send(NULL, 0, MPI_BYTE, 1, behind, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  } else {
    MPI_Status status;
    MPI_Recv(NULL, 0, MPI_BYTE, 0, behind, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Recv(memory, room, MPI_BYTE, 0, tag, MPI_COMM_WORLD, &status);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
  }
}

static void to_itself(int tag, int count) {
  MPI_Request request;
  if (rank != 0) return;
  MPI_Irecv(memory + kSharedBytes / 2, count, MPI_BYTE, 0, tag, MPI_COMM_SELF, &request);
  MPI_Send(memory, count, MPI_BYTE, 0, tag, MPI_COMM_SELF);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  memory = malloc(kSharedBytes);
  memset(memory, rank, kSharedBytes);
  int room = kWhole + MPI_BSEND_OVERHEAD;
  void* attached = malloc((size_t)room);
  MPI_Buffer_attach(attached, room);
  MPI_Datatype every_other;
  MPI_Type_vector(100, 1, 2, MPI_INT, &every_other);
  MPI_Type_commit(&every_other);

  expected(kCell, kShort, MPI_BYTE, kShort);
  expected(kRing, kWhole, MPI_BYTE, kWhole);
  unexpected(kHeap, kAfter, kShort, kShort);
  expected(kLong, kLongBytes, MPI_BYTE, kLongBytes);
  unexpected(kPulled, kBehind, kLongBytes, kLongBytes);
  expected(kPieces, 1, every_other, 1);
  expected(kBuffered, kWhole, MPI_BYTE, kWhole);
  MPI_Sendrecv_replace(memory, kShort, MPI_BYTE, 1 - rank, kReplace, 1 - rank, kReplace, MPI_COMM_WORLD,
                       MPI_STATUS_IGNORE);
  to_itself(kSelf, kShort);
  to_itself(kSelfLong, kLongBytes);
  expected(kShared, kSharedBytes, MPI_BYTE, kSharedBytes);
  unexpected(kCut, kAfter, kShort, kShort / 2);

  MPI_Type_free(&every_other);
  MPI_Buffer_detach(&attached, &room);
  free(attached);
  free(memory);
  MPI_Finalize();
  return 0;
}
