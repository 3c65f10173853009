// Tests that connections at ports use up no contexts: two groups connect, merge and disconnect more often than a
// process has pairs of contexts (4,096).
// ranks: 2 3
// reference: none: Debian's MPICH has no ports with UCX
// wires: shm epoll
#include "check.h"

enum { kRounds = 2100, kTag = 4 };

int main(int argc, char** argv) {
  suite_begin(&argc, &argv);
  char port[MPI_MAX_PORT_NAME] = "";
  if (world_rank() == 0) MPI_Open_port(MPI_INFO_NULL, port);
  MPI_Bcast(port, sizeof port, MPI_CHAR, 0, MPI_COMM_WORLD);
  MPI_Comm group, inter, all;
  MPI_Comm_split(MPI_COMM_WORLD, world_rank() != 0, 0, &group);
  for (int round = 0; round < kRounds; ++round) {
    // The roots change.
    int size = 0;
    MPI_Comm_size(group, &size);
    if (world_rank() == 0)
      MPI_Comm_accept(port, MPI_INFO_NULL, 0, group, &inter);
    else
      MPI_Comm_connect(port, MPI_INFO_NULL, round % size, group, &inter);
    MPI_Intercomm_merge(inter, world_rank() != 0, &all);
    int sum = 0, one = 1;
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, all);
    CHECK(sum == world_size(), "round %d: %d processes", round, sum);
    // A message that no process receives must not reach a later communicator of the same contexts.
    if (round % 100 == 0 && world_rank() == 1) MPI_Send(&round, 1, MPI_INT, 0, kTag, inter);
    int flag = 0;
    if (round % 100 == 1) MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, inter, &flag, MPI_STATUS_IGNORE);
    CHECK(!flag, "round %d: a message of an earlier communicator", round);
    MPI_Comm_free(&all);
    MPI_Comm_disconnect(&inter);
  }
  MPI_Comm_free(&group);
  if (world_rank() == 0) MPI_Close_port(port);
  return suite_end("ports_many");
}
