// Tests of communicator creation by calls that are gates (each 64th call on a communicator). Here the agreement on a
// context takes several rounds, and a member must not mistake a message of one round for one of the next.
// ranks: 5
// reference: 2
#include "check.h"

enum { kRounds = 3, kGate = 64, kKept = 6 };

// Creates communicators of two ranks each. Each rank is also a member of others, so the ranks' sets of free contexts
// differ, and an agreement needs several rounds.
static void take_contexts(int rank, int size, int round, MPI_Comm* kept, int* count) {
  MPI_Group all, some;
  MPI_Comm_group(MPI_COMM_WORLD, &all);
  for (int first = 0; first < size && *count < kKept; ++first) {
    if ((first + round) % 3 == 0) continue;
    const int members[] = {first, (first + 1 + round % (size - 1)) % size};
    if (members[0] == members[1] || (rank != members[0] && rank != members[1])) continue;
    MPI_Group_incl(all, 2, members, &some);
    MPI_Comm_create_group(MPI_COMM_WORLD, some, first, &kept[(*count)++]);
    MPI_Group_free(&some);
  }
  MPI_Group_free(&all);
}

static void check_works(MPI_Comm communicator, int size, const char* how, int round) {
  int sum = 0, one = 1;
  MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, communicator);
  CHECK(sum == size, "round %d: %s makes a communicator that sums to %d", round, how, sum);
}

int main(int argc, char** argv) {
  suite_begin(&argc, &argv);
  int rank = 0, size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  for (int round = 0; round < kRounds; ++round) {
    MPI_Comm kept[kKept], copy, made[3];
    MPI_Request request;
    int count = 0;
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    take_contexts(rank, size, round, kept, &count);
    for (int call = 1; call < kGate; ++call) MPI_Barrier(copy);
    int error = MPI_Comm_idup(copy, &made[0], &request);
    if (error == MPI_SUCCESS) error = MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(error == MPI_SUCCESS, "round %d: MPI_Comm_idup at a gate: error %d", round, error);
    for (int call = 1; call < kGate; ++call) MPI_Barrier(copy);
    const int dup_error = MPI_Comm_dup(copy, &made[1]);
    CHECK(dup_error == MPI_SUCCESS, "round %d: MPI_Comm_dup at a gate: error %d", round, dup_error);
    for (int call = 1; call < kGate; ++call) MPI_Barrier(copy);
    const int split_error = MPI_Comm_split(copy, 0, -rank, &made[2]);
    CHECK(split_error == MPI_SUCCESS, "round %d: MPI_Comm_split at a gate: error %d", round, split_error);
    if (error == MPI_SUCCESS) check_works(made[0], size, "MPI_Comm_idup", round);
    if (dup_error == MPI_SUCCESS) check_works(made[1], size, "MPI_Comm_dup", round);
    if (split_error == MPI_SUCCESS) check_works(made[2], size, "MPI_Comm_split", round);
    if (error == MPI_SUCCESS) MPI_Comm_free(&made[0]);
    if (dup_error == MPI_SUCCESS) MPI_Comm_free(&made[1]);
    if (split_error == MPI_SUCCESS) MPI_Comm_free(&made[2]);
    MPI_Comm_free(&copy);
    for (int i = 0; i < count; ++i) MPI_Comm_free(&kept[i]);
  }
  return suite_end("agree at gates");
}
