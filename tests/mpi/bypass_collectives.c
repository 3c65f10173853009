// Tests of nonblocking collectives while a member computes without calling MPI: the other members get their results
// before it returns to MPI, whatever its position in a tree.
// ranks: 2 5
// reference: none, MPICH makes progress only inside its calls
#include "away.h"

enum { kBcast, kReduce, kAllreduce, kScan, kAllgather, kAlltoall, kBarrier, kFunctions };
static const char* const kNames[] = {"Ibcast", "Ireduce", "Iallreduce", "Iscan", "Iallgather", "Ialltoall", "Ibarrier"};
static const int kCounts[] = {1, 20000};
enum { kCountMost = 20000, kRanksMost = 5 };

static int rank, size;
static int out[kCountMost * kRanksMost], in[kCountMost * kRanksMost];

static void begin(int function, int count, int root, MPI_Request* request) {
  const MPI_Comm world = MPI_COMM_WORLD;
  for (int i = 0; i < count * size; ++i) out[i] = rank + 1, in[i] = rank == root ? 7 : -1;
  switch (function) {
    case kBcast:
      MPI_Ibcast(in, count, MPI_INT, root, world, request);
      break;
    case kReduce:
      MPI_Ireduce(out, in, count, MPI_INT, MPI_SUM, root, world, request);
      break;
    case kAllreduce:
      MPI_Iallreduce(out, in, count, MPI_INT, MPI_SUM, world, request);
      break;
    case kScan:
      MPI_Iscan(out, in, count, MPI_INT, MPI_SUM, world, request);
      break;
    case kAllgather:
      MPI_Iallgather(out, count, MPI_INT, in, count, MPI_INT, world, request);
      break;
    case kAlltoall:
      MPI_Ialltoall(out, count, MPI_INT, in, count, MPI_INT, world, request);
      break;
    default:
      MPI_Ibarrier(world, request);
  }
}

static void check(int function, int count, int root) {
  const int all = size * (size + 1) / 2;
  for (int i = 0; i < count * size; ++i) {
    const int of_all = function == kReduce ? rank == root : function == kAllreduce;
    int right = in[i];
    if (function == kBcast) right = i < count || rank == root ? 7 : -1;
    if (of_all && i < count) right = all;
    if (function == kScan && i < count) right = (rank + 1) * (rank + 2) / 2;
    if (function == kAllgather || function == kAlltoall) right = i / count + 1;
    if (in[i] == right) continue;
    CHECK(0, "%s of %d, root %d: element %d is %d, not %d", kNames[function], count, root, i, in[i], right);
    return;
  }
}

int main(int argc, char** argv) {
  suite_begin(&argc, &argv);
  rank = world_rank();
  size = world_size();
  struct shared* shared = map_shared();
  int done = 0;
  for (int function = 0; function < kFunctions; ++function)
    for (int i = 0; i < 2; ++i)
      for (int away = 0; away < size; ++away) {
        const int root = i == 0 ? 0 : size - 1;
        MPI_Request request;
        begin(function, kCounts[i], root, &request);
        done += size - 1;
        if (rank == away) {
          away_until(shared, done, (function + away) % 2 ? ASLEEP : COMPUTING, kNames[function]);
          MPI_Wait(&request, MPI_STATUS_IGNORE);
        } else {
          MPI_Wait(&request, MPI_STATUS_IGNORE);
          atomic_fetch_add(&shared->done, 1);
        }
        check(function, kCounts[i], root);
        MPI_Barrier(MPI_COMM_WORLD);
      }
  return suite_end("bypass_collectives");
}
