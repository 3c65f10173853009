// Tests of persistent collectives, which are matched in the order of their creation, in whatever order each rank starts
// them (MPI 4.0, 6.13): one at a time in opposite orders, many at once in a different order on each rank, some not
// started in every round, and new ones created while others live.
// ranks: 2 3 5
// reference: none, MPICH 4.0.2 matches them in the order in which they are started
#include "check.h"

enum { kMade = 300, kRounds = 20, kCount = 3000 };

static int rank, size;

static void one_at_a_time_in_opposite_orders(void) {
  int data[2] = {-1, -1};
  MPI_Request requests[2];
  for (int i = 0; i < 2; ++i) MPI_Bcast_init(&data[i], 1, MPI_INT, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[i]);
  for (int round = 0; round < 200; ++round) {
    for (int i = 0; i < 2; ++i) data[i] = rank == 0 ? 10 * round + i : -1;
    const int first = rank % 2;
    MPI_Start(&requests[first]);
    MPI_Start(&requests[1 - first]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < 2; ++i) CHECK(data[i] == 10 * round + i, "round %d, request %d: %d", round, i, data[i]);
  }
  for (int i = 0; i < 2; ++i) MPI_Request_free(&requests[i]);
}

static void shuffle(int* order, int count, unsigned seed) {
  for (int i = count - 1; i > 0; --i) {
    seed = seed * 1664525u + 1013904223u;
    const int other = (int)(seed >> 8) % (i + 1);
    const int kept = order[i];
    order[i] = order[other];
    order[other] = kept;
  }
}

// The requests that are started in a round, the same on all ranks.
static int is_started(int made, int round) {
  return (made * 7 + round) % 3 != 0;
}

static void many_in_an_order_of_ones_own(void) {
  static MPI_Request requests[kMade];
  static int mine[kMade], result[kMade], order[kMade];
  int* rows = malloc(sizeof(int) * (size_t)(kMade * size));
  for (int i = 0; i < kMade; ++i) {
    order[i] = i;
    switch (i % 4) {
      case 0:
        MPI_Bcast_init(&result[i], 1, MPI_INT, i % size, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[i]);
        break;
      case 1:
        MPI_Allreduce_init(&mine[i], &result[i], 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[i]);
        break;
      case 2:
        MPI_Gather_init(&mine[i], 1, MPI_INT, rows + i * size, 1, MPI_INT, i % size, MPI_COMM_WORLD, MPI_INFO_NULL,
                        &requests[i]);
        break;
      default:
        MPI_Barrier_init(MPI_COMM_WORLD, MPI_INFO_NULL, &requests[i]);
    }
  }
  for (int round = 0; round < kRounds; ++round) {
    shuffle(order, kMade, (unsigned)(round * 100 + rank));
    for (int at = 0; at < kMade; ++at) {
      const int i = order[at];
      if (!is_started(i, round)) continue;
      mine[i] = rank + i + round;
      result[i] = rank == i % size ? i * 1000 + round : -1;
      MPI_Start(&requests[i]);
    }
    // A blocking call between them.
    int sum = 1;
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK(sum == size, "round %d: %d", round, sum);
    MPI_Waitall(kMade, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < kMade; ++i) {
      if (!is_started(i, round)) continue;
      const int total = size * (i + round) + size * (size - 1) / 2;
      if (i % 4 == 0) CHECK(result[i] == i * 1000 + round, "round %d, bcast %d: %d", round, i, result[i]);
      if (i % 4 == 1) CHECK(result[i] == total, "round %d, allreduce %d: %d, not %d", round, i, result[i], total);
      for (int from = 0; i % 4 == 2 && rank == i % size && from < size; ++from) {
        CHECK(rows[i * size + from] == from + i + round, "round %d, gather %d: %d of rank %d", round, i,
              rows[i * size + from], from);
      }
    }
  }
  for (int i = 0; i < kMade; ++i) MPI_Request_free(&requests[i]);
  free(rows);
}

// Long ones, created and freed again beside one that remains.
static void made_anew(void) {
  int* stays = malloc(sizeof(int) * kCount);
  int* comes = malloc(sizeof(int) * kCount);
  MPI_Request requests[2];
  MPI_Bcast_init(stays, kCount, MPI_INT, size - 1, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[0]);
  for (int round = 0; round < 30; ++round) {
    MPI_Bcast_init(comes, kCount, MPI_INT, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[1]);
    for (int i = 0; i < kCount; ++i) {
      stays[i] = rank == size - 1 ? i + round : -1;
      comes[i] = rank == 0 ? i - round : -1;
    }
    MPI_Start(&requests[(rank + round) % 2]);
    MPI_Start(&requests[(rank + round + 1) % 2]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    int wrong = 0;
    for (int i = 0; i < kCount; ++i) wrong += (stays[i] != i + round) + (comes[i] != i - round);
    CHECK(wrong == 0, "round %d: %d elements are wrong", round, wrong);
    MPI_Request_free(&requests[1]);
  }
  MPI_Request_free(&requests[0]);
  free(stays);
  free(comes);
}

int main(int argc, char** argv) {
  suite_begin(&argc, &argv);
  rank = world_rank();
  size = world_size();
  one_at_a_time_in_opposite_orders();
  many_in_an_order_of_ones_own();
  made_anew();
  return suite_end("persistent_collectives");
}
