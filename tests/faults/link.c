// Two ranks that use their connection for some seconds: link PLACE SECONDS
//   idle    both wait for a message that is sent when the time is over
//   busy    rank 0 sends long messages, each of which is answered
//   full    the same without answers, so that a receiver that does not take them closes the connection's window
//   first   rank 0 waits, then sends the first message that the link carries
//   asks    rank 0 sends a message once it has read a line, and both wait: for it, and for its answer
//   cycle   the same without the answer: each waits for the other, for ever
// Every number that arrives is checked.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { kCount = 1 << 16 };
static int numbers[kCount];

static int send_one(int round, int answered) {
  for (int i = 0; i < kCount; ++i) numbers[i] = round + i;
  MPI_Send(numbers, kCount, MPI_INT, 1, 1, MPI_COMM_WORLD);
  if (answered) MPI_Recv(numbers, 1, MPI_INT, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  return answered && numbers[0] != round;
}

static int take_one(int round, int answered) {
  MPI_Recv(numbers, kCount, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  int wrong = 0;
  for (int i = 0; i < kCount; ++i) wrong += numbers[i] != round + i;
  if (answered) MPI_Send(&round, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
  return wrong;
}

static int ask(int rank, int answers) {
  int word = 0;
  if (rank == 0) {
    const int line = getchar();
    MPI_Send(&line, 1, MPI_INT, 1, 2, MPI_COMM_WORLD);
    MPI_Recv(&word, 1, MPI_INT, 1, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return word != line;
  }
  MPI_Recv(&word, 1, MPI_INT, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  if (!answers) MPI_Recv(&word, 1, MPI_INT, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Send(&word, 1, MPI_INT, 0, 2, MPI_COMM_WORLD);
  return 0;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  if (argc < 3) MPI_Abort(MPI_COMM_WORLD, 99);
  const char* place = argv[1];
  const double seconds = atof(argv[2]);
  int rank = 0;
  int go_on = 1;
  int wrong = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const int streams = strcmp(place, "busy") == 0 || strcmp(place, "full") == 0;
  const double begin = MPI_Wtime();
  if (strcmp(place, "first") != 0) {
    wrong += rank == 0 ? send_one(0, 1) : take_one(0, 1);
    if (rank == 0) printf("connected\n"), fflush(stdout);
  }
  const int cycle = strcmp(place, "cycle") == 0;
  if (cycle || strcmp(place, "asks") == 0) wrong += ask(rank, !cycle);
  if (rank == 0 && !streams) usleep((useconds_t)(seconds * 1e6));
  for (int round = 1; go_on; ++round) {
    go_on = streams && MPI_Wtime() - begin < seconds;
    if (rank == 0) MPI_Send(&go_on, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
    if (rank == 1) MPI_Recv(&go_on, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    wrong += rank == 0 ? send_one(round, strcmp(place, "busy") == 0) : take_one(round, strcmp(place, "busy") == 0);
  }
  if (rank == 1) printf("all there, wrong numbers %d\n", wrong);
  MPI_Finalize();
  return 0;
}
