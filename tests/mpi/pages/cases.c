// The programs whose pages pages.py examines: one case for each run, selected by the first argument.
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { kLong = 1 << 20, kMillisecond = 1000 };

static int rank, size;
static char body[kLong];

static void send_to(int to, int tag, int bytes) {
  MPI_Send(body, bytes, MPI_CHAR, to, tag, MPI_COMM_WORLD);
}

static void receive_from(int from, int tag, int bytes) {
  MPI_Recv(body, bytes, MPI_CHAR, from, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

// Two ranks. A receive stays posted while sends complete: long, synchronous, buffered; its number may equal theirs.
static void standing(void) {
  static char room[kLong];
  if (rank == 0) {
    int word;
    MPI_Request receive;
    MPI_Irecv(&word, 1, MPI_INT, 1, 77, MPI_COMM_WORLD, &receive);
    send_to(1, 1, kLong);
    MPI_Ssend(body, 4, MPI_CHAR, 1, 2, MPI_COMM_WORLD);
    MPI_Buffer_attach(room, kLong);
    MPI_Bsend(body, 4, MPI_CHAR, 1, 3, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Wait(&receive, MPI_STATUS_IGNORE);
  } else {
    for (int tag = 1; tag <= 3; ++tag) receive_from(0, tag, kLong);
    MPI_Barrier(MPI_COMM_WORLD);
    receive_from(0, 78, 4);
  }
}

// Three ranks. Rank 1 sends and receives nothing and is then killed, while rank 2 receives a long message of rank 0.
static void killed(void) {
  MPI_Request send;
  if (rank == 0) {
    MPI_Isend(body, kLong, MPI_CHAR, 2, 1, MPI_COMM_WORLD, &send);
    usleep(400 * kMillisecond);
  } else if (rank == 1) {
    usleep(50 * kMillisecond);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    usleep(150 * kMillisecond);
    raise(SIGKILL);
  } else {
    usleep(100 * kMillisecond);
    receive_from(0, 1, kLong);
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

// Four ranks. Two halves have the same context, one of them again after it was freed; rank 0 then has another partner.
static void halves(void) {
  MPI_Comm half;
  MPI_Comm_split(MPI_COMM_WORLD, rank / 2, rank, &half);
  if (rank % 2 == 1) usleep(20 * kMillisecond);
  MPI_Barrier(half);
  MPI_Comm_free(&half);
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
  MPI_Barrier(half);
  MPI_Comm_free(&half);
}

// Persistent calls, one of them started more often than its number's bits can count.
static void persistent(void) {
  int word = 1, sum;
  MPI_Request both[2], barrier;
  MPI_Bcast_init(&word, 1, MPI_INT, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &both[0]);
  MPI_Allreduce_init(&word, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &both[1]);
  for (int i = 0; i < 2; ++i) {
    MPI_Startall(2, both);
    MPI_Waitall(2, both, MPI_STATUSES_IGNORE);
  }
  MPI_Barrier_init(MPI_COMM_WORLD, MPI_INFO_NULL, &barrier);
  for (int i = 0; i < 2050; ++i) {
    MPI_Start(&barrier);
    MPI_Wait(&barrier, MPI_STATUS_IGNORE);
  }
  for (int i = 0; i < 2; ++i) MPI_Request_free(&both[i]);
  MPI_Request_free(&barrier);
}

// Two ranks. Calls whose ranks have blocks of different lengths.
static void uneven(void) {
  static int from[4000], to[4000];
  const int counts[2] = {100, 300}, places[2] = {0, 1000};
  MPI_Allgatherv(from, counts[rank], MPI_INT, to, counts, places, MPI_INT, MPI_COMM_WORLD);
  MPI_Gatherv(from, counts[rank], MPI_INT, to, counts, places, MPI_INT, 0, MPI_COMM_WORLD);
  const int mine[2] = {counts[rank], counts[rank]};
  MPI_Alltoallv(from, mine, places, MPI_INT, to, counts, places, MPI_INT, MPI_COMM_WORLD);
}

// Two ranks. More messages than fit into the heap of 64 KiB: those that are held enter it when the first ones have left
// it. Also a long message, of which only the header is stored.
static void heap(void) {
  enum { kShort = 8000, kCount = 12, kFirst = 5, kBig = 40000 };
  if (rank == 0) {
    for (int tag = 0; tag < kCount; ++tag) send_to(1, tag, kShort);
    send_to(1, kCount, kBig);
  } else {
    usleep(30 * kMillisecond);
    for (int tag = 0; tag < kFirst; ++tag) receive_from(0, tag, kBig);
    for (int tag = kCount; tag >= kFirst; --tag) receive_from(0, tag, kBig);
  }
}

static void bucket(void) {
  static int words[400000];
  MPI_Bcast(words, 400000, MPI_INT, 2, MPI_COMM_WORLD);
}

// Two ranks. Rank 0 waits in probes for tags 1 and 2, which rank 1 sends late; tags 3 and 4 arrive before them, and so
// before their probes.
static void probes(void) {
  MPI_Message message;
  if (rank == 0) {
    MPI_Mprobe(1, 1, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
    MPI_Mrecv(body, 4, MPI_CHAR, &message, MPI_STATUS_IGNORE);
    MPI_Mprobe(1, 3, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
    MPI_Mrecv(body, 4, MPI_CHAR, &message, MPI_STATUS_IGNORE);
    MPI_Send(body, 1, MPI_CHAR, 1, 9, MPI_COMM_WORLD);
    MPI_Probe(1, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    receive_from(1, 2, 4);
    int found = 0;
    while (!found) MPI_Improbe(1, 4, MPI_COMM_WORLD, &found, &message, MPI_STATUS_IGNORE);
    MPI_Mrecv(body, 4, MPI_CHAR, &message, MPI_STATUS_IGNORE);
  } else {
    usleep(200 * kMillisecond);  // by then rank 0 is in its probe
    send_to(0, 3, 4);
    send_to(0, 1, 4);
    receive_from(0, 9, 1);
    usleep(200 * kMillisecond);
    send_to(0, 4, 4);
    send_to(0, 2, 4);
  }
}

// Four ranks in two groups. Rank 0 broadcasts to the other group; rank 2 is in rank 0's group and takes no part.
static void aside(void) {
  MPI_Comm half, between;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank % 2, 33, &between);
  MPI_Comm_set_name(between, "between");
  MPI_Bcast(body, 4, MPI_CHAR, rank == 0 ? MPI_ROOT : rank == 2 ? MPI_PROC_NULL : 0, between);
  MPI_Comm_free(&between);
  MPI_Comm_free(&half);
}

static void* exchange(void* unused) {
  (void)unused;
  if (rank == 0) {
    receive_from(1, 5, 4);
  } else {
    usleep(20 * kMillisecond);
    send_to(0, 5, 4);
  }
  return NULL;
}

static void threads(void) {
  pthread_t other;
  pthread_create(&other, NULL, exchange, NULL);
  MPI_Barrier(MPI_COMM_WORLD);
  pthread_join(other, NULL);
}

// Two ranks. Rank 0 puts 3 integers to the second place of rank 1's window, gets 1 from its first, and adds 2 from
// its third on.
static void onesided(void) {
  int mine[3] = {1, 2, 3};
  int* memory;
  MPI_Win window;
  MPI_Win_allocate(8 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
  MPI_Win_set_name(window, "board");
  MPI_Win_fence(0, window);
  if (rank == 0) MPI_Put(mine, 3, MPI_INT, 1, 1, 3, MPI_INT, window);
  MPI_Win_fence(0, window);
  if (rank == 0) MPI_Get(mine, 1, MPI_INT, 1, 0, 1, MPI_INT, window);
  MPI_Win_fence(0, window);
  if (rank == 0) MPI_Accumulate(mine + 1, 2, MPI_INT, 1, 2, 2, MPI_INT, MPI_SUM, window);
  MPI_Win_fence(0, window);
  MPI_Win_free(&window);
}

// Two ranks. One call of MPI_Bcast, two of MPI_Barrier and three of MPI_Alltoall.
static void numbers(void) {
  int one = 1, both[2] = {1, 2}, from[2];
  MPI_Alltoall(both, 1, MPI_INT, from, 1, MPI_INT, MPI_COMM_WORLD);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Bcast(&one, 1, MPI_INT, 0, MPI_COMM_WORLD);
  MPI_Alltoall(both, 1, MPI_INT, from, 1, MPI_INT, MPI_COMM_WORLD);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Alltoall(both, 1, MPI_INT, from, 1, MPI_INT, MPI_COMM_WORLD);
}

// Two ranks. 100,000 messages.
static void many(void) {
  for (int i = 0; i < 50000; ++i) {
    if (rank == 0) {
      send_to(1, i % 7, 8);
      receive_from(1, i % 7, 8);
    } else {
      receive_from(0, i % 7, 8);
      send_to(0, i % 7, 8);
    }
  }
}

int main(int argc, char** argv) {
  static const struct {
    const char* name;
    void (*run)(void);
  } kCases[] = {{"standing", standing}, {"killed", killed},   {"halves", halves}, {"persistent", persistent},
                {"uneven", uneven},     {"heap", heap},       {"bucket", bucket}, {"probes", probes},
                {"aside", aside},       {"threads", threads}, {"many", many},     {"onesided", onesided},
                {"apart", onesided},    {"numbers", numbers}};
  int provided;
  const int wanted = argc > 1 && strcmp(argv[1], "threads") == 0 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE;
  MPI_Init_thread(&argc, &argv, wanted, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (size_t i = 0; i < sizeof kCases / sizeof *kCases; ++i) {
    if (argc > 1 && strcmp(argv[1], kCases[i].name) == 0) kCases[i].run();
  }
  return MPI_Finalize();
}
