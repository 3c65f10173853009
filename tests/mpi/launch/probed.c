/* Each way to find a message without receiving it: MPI_Probe (tag 1), MPI_Iprobe after polls that find nothing (tag 2),
   MPI_Mprobe (tag 3), MPI_Improbe (tag 4), the last of which is never received. For a trace; two ranks. */
#include <mpi.h>

enum { kProbe = 1, kIprobe, kMprobe, kImprobe, kNone, kPolls = 7 };

int main(int argc, char** argv) {
  int rank, word = 0, flag = 0;
  MPI_Message message;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) {
    for (int tag = kProbe; tag <= kImprobe; ++tag) {
      if (tag == kIprobe) MPI_Recv(&word, 1, MPI_INT, 1, kNone, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      MPI_Send(&word, 1, MPI_INT, 1, tag, MPI_COMM_WORLD);
    }
  } else {
    MPI_Probe(0, kProbe, MPI_COMM_WORLD, MPI_STATUS_IGNORE);  // line: probe
    MPI_Recv(&word, 1, MPI_INT, 0, kProbe, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < kPolls; ++i) MPI_Iprobe(0, kNone, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    MPI_Send(&word, 1, MPI_INT, 0, kNone, MPI_COMM_WORLD);
    MPI_Probe(0, kIprobe, MPI_COMM_WORLD, MPI_STATUS_IGNORE);  // line: first
    for (int i = 0; i < kPolls; ++i) MPI_Iprobe(0, kNone, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    MPI_Iprobe(0, kIprobe, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);  // line: iprobe
    MPI_Recv(&word, 1, MPI_INT, 0, kIprobe, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Mprobe(0, kMprobe, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);  // line: mprobe
    MPI_Mrecv(&word, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
    MPI_Probe(0, kImprobe, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Improbe(0, kImprobe, MPI_COMM_WORLD, &flag, &message, MPI_STATUS_IGNORE);  // line: improbe
  }
  MPI_Finalize();
  return 0;
}
