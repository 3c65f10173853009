/* Some ranks of MPI_COMM_WORLD create communicators, in each way that needs no call of the others; between, all
   continue to use MPI_COMM_WORLD. Finally two groups are merged. Four ranks. */
#include <mpi.h>

static void talk(int rank, int tag) {
  int word = 0;
  if (rank == 2) MPI_Send(&word, 1, MPI_INT, 0, tag, MPI_COMM_WORLD);
  if (rank == 0) MPI_Recv(&word, 1, MPI_INT, 2, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char** argv) {
  const int upper_ranks[2] = {3, 2}, lower_ranks[2] = {0, 1};
  int rank;
  MPI_Group all, upper, lower;
  MPI_Comm made, inter, merged;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_group(MPI_COMM_WORLD, &all);
  MPI_Group_incl(all, 2, upper_ranks, &upper);
  MPI_Group_incl(all, 2, lower_ranks, &lower);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank >= 2) {
    MPI_Comm_create_group(MPI_COMM_WORLD, upper, 7, &made);
    MPI_Comm_free(&made);
  }
  talk(rank, 5);
  if (rank >= 2) {
    MPI_Comm_create_from_group(upper, "upper", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &made);
    MPI_Comm_free(&made);
  }
  talk(rank, 6);
  MPI_Intercomm_create_from_groups(rank < 2 ? lower : upper, 0, rank < 2 ? upper : lower, 0, "both", MPI_INFO_NULL,
                                   MPI_ERRORS_ARE_FATAL, &inter);
  MPI_Comm_set_name(inter, "inter");
  talk(rank, 8);
  MPI_Intercomm_merge(inter, rank < 2, &merged);
  MPI_Comm_free(&merged);
  MPI_Comm_free(&inter);
  MPI_Group_free(&upper);
  MPI_Group_free(&lower);
  MPI_Group_free(&all);
  MPI_Finalize();
  return 0;
}
