/* Programs whose result depends on the schedule, and correct variants of them (argument "right"). Each runs with three
   ranks. The message of rank 1 usually arrives first. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

static int rank, right;

static void send(int value, int to, int tag) {
  MPI_Send(&value, 1, MPI_INT, to, tag, MPI_COMM_WORLD);
}

static int receive(int from, int tag, MPI_Status* status) {
  int value = -1;
  MPI_Recv(&value, 1, MPI_INT, from, tag, MPI_COMM_WORLD, status);
  return value;
}

/* Rank 0 takes the first message for rank 1's. */
static void wildcard(void) {
  if (rank != 0) {
    send(10 * rank, 0, 0);
    return;
  }
  MPI_Status status;
  int values[3] = {0};
  if (right) {
    for (int i = 1; i < 3; ++i) {
      const int value = receive(MPI_ANY_SOURCE, 0, &status);
      values[status.MPI_SOURCE] = value;
    }
  } else {
    values[1] = receive(MPI_ANY_SOURCE, 0, &status);
    values[2] = receive(MPI_ANY_SOURCE, 0, &status);
  }
  printf("%d %d\n", values[1], values[2]);
}

/* The wildcard may take the message for which rank 0 waits afterwards. */
static void deadlock(void) {
  if (rank != 0) {
    send(rank, 0, 0);
    return;
  }
  MPI_Status status;
  receive(MPI_ANY_SOURCE, 0, &status);
  receive(right ? 3 - status.MPI_SOURCE : 2, 0, &status);
}

/* A deadlock that needs two choices: both wildcards take rank 2's messages. */
static void deep(void) {
  if (rank != 0) {
    send(rank, 0, 0);
    send(rank, 0, 0);
    return;
  }
  MPI_Status first, second;
  receive(MPI_ANY_SOURCE, 0, &first);
  receive(MPI_ANY_SOURCE, 0, &second);
  const int both = first.MPI_SOURCE == second.MPI_SOURCE && first.MPI_SOURCE == 2 && !right;
  for (int i = 0; i < 2; ++i) receive(both ? 2 : MPI_ANY_SOURCE, 0, &first);
}

/* Rank 2 may receive rank 1's message first, and then sends to rank 0 before rank 0 has received rank 1's. */
static void relay(void) {
  MPI_Status status;
  if (rank == 1) {
    send(1, 0, 0);
    send(1, 2, 0);
  } else if (rank == 2) {
    receive(MPI_ANY_SOURCE, 0, &status);
    send(2, 0, right ? 1 : 0);
  } else {
    receive(MPI_ANY_SOURCE, 0, &status);
    receive(right ? 2 : 3 - status.MPI_SOURCE, right ? 1 : 0, &status);
    if (!right) printf("last from %d\n", status.MPI_SOURCE);
  }
}

/* If rank 2's greeting arrives first, rank 0 makes rank 2 send (ready mode) before it has posted the receive. */
static void ready(void) {
  MPI_Status status;
  int value = 0;
  if (rank != 0) {
    send(rank, 0, 0);
    if (rank == 1) return;
    receive(0, 0, &status);
    value = 7;
    MPI_Rsend(&value, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
    return;
  }
  MPI_Request request;
  if (right) MPI_Irecv(&value, 1, MPI_INT, 2, 1, MPI_COMM_WORLD, &request);
  receive(MPI_ANY_SOURCE, 0, &status);
  const int early = status.MPI_SOURCE == 2;
  if (early) send(0, 2, 0);
  receive(MPI_ANY_SOURCE, 0, &status);
  if (!right) MPI_Irecv(&value, 1, MPI_INT, 2, 1, MPI_COMM_WORLD, &request);
  if (!early) send(0, 2, 0);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  printf("%d\n", value);
}

/* Two fan-in gathers back to back, after paper 001, section 3.3: a leaf sends its second contribution before the root
   is ready for the second gather, which may then be taken for the first of another leaf. "One could either use separate
   portals, sequence numbers, or some other form of matching criteria": the right variant has sequence numbers. */
static void overlap(void) {
  for (int gather = 0; gather < 2; ++gather) {
    const int tag = right ? gather : 0;
    if (rank != 0) {
      send(100 * gather + rank, 0, tag);
      continue;
    }
    int sum = 0;
    for (int i = 1; i < 3; ++i) {
      MPI_Status status;
      sum += receive(MPI_ANY_SOURCE, tag, &status);
    }
    printf("gather %d: %d\n", gather, sum);
  }
}

/* Each rank receives from all others, in two phases. There is no bug: the sums do not depend on the order. */
static void phases(void) {
  int size;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (int phase = 0; phase < 2; ++phase) {
    int sum = 0;
    for (int i = 0; i < size; ++i)
      if (i != rank) send(rank, i, 0);
    for (int i = 1; i < size; ++i) {
      MPI_Status status;
      sum += receive(MPI_ANY_SOURCE, 0, &status);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    printf("%d\n", sum);
  }
}

/* MPI_Probe, and a receive from any source. */
static void probe(void) {
  if (rank != 0) {
    send(10 * rank, 0, 0);
    return;
  }
  MPI_Status status;
  int values[3] = {0};
  for (int i = 1; i < 3; ++i) {
    MPI_Probe(MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &status);
    const int source = right ? status.MPI_SOURCE : i;
    values[source] = receive(MPI_ANY_SOURCE, 0, &status);
    if (right && status.MPI_SOURCE != source) printf("another message than the probe's\n");
  }
  printf("%d %d\n", values[1], values[2]);
}

/* MPI_Test in a loop, for a wildcard. */
static void test(void) {
  if (rank != 0) {
    send(10 * rank, 0, 0);
    return;
  }
  MPI_Status status;
  int values[3] = {0};
  for (int i = 1; i < 3; ++i) {
    MPI_Request request;
    int done = 0, value = 0;
    MPI_Irecv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &request);
    while (!done) MPI_Test(&request, &done, &status);
    values[right ? status.MPI_SOURCE : i] = value;
  }
  printf("%d %d\n", values[1], values[2]);
}

/* The order in which requests are complete. */
static void waitany(void) {
  if (rank != 0) {
    send(rank, 0, 0);
    return;
  }
  MPI_Request requests[2];
  int values[2] = {0}, first = 0;
  for (int i = 0; i < 2; ++i) MPI_Irecv(&values[i], 1, MPI_INT, i + 1, 0, MPI_COMM_WORLD, &requests[i]);
  if (!right) MPI_Waitany(2, requests, &first, MPI_STATUS_IGNORE);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  printf("%d %d\n", first, values[0] + values[1]);
}

/* Puts of two ranks into the same place, in the same epoch, with and without a fence between them. */
static void puts_(void) {
  int memory[2] = {0};
  MPI_Win window;
  MPI_Win_create(memory, sizeof memory, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &window);
  MPI_Win_fence(0, window);
  if (rank == 1) MPI_Put(&rank, 1, MPI_INT, 0, 0, 1, MPI_INT, window);
  if (right) MPI_Win_fence(0, window);
  if (rank == 2) MPI_Put(&rank, 1, MPI_INT, 0, 0, 1, MPI_INT, window);
  MPI_Win_fence(0, window);
  if (rank == 0) printf("%d\n", memory[0]);
  MPI_Win_free(&window);
}

int main(int argc, char** argv) {
  static const struct {
    const char* name;
    void (*run)(void);
  } kCases[] = {{"wildcard", wildcard}, {"deadlock", deadlock}, {"deep", deep},      {"relay", relay},
                {"ready", ready},       {"probe", probe},       {"test", test},      {"puts", puts_},
                {"overlap", overlap},   {"phases", phases},     {"waitany", waitany}};
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  right = argc > 2 && strcmp(argv[2], "right") == 0;
  for (unsigned i = 0; i < sizeof kCases / sizeof *kCases; ++i)
    if (argc > 1 && strcmp(argv[1], kCases[i].name) == 0) kCases[i].run();
  MPI_Finalize();
  return 0;
}
