// A benchmark of receiving many messages by calls that complete some of them.
//   some --mode waitsome|testsome|polled|polled_all [--sizes N,M] [--seconds S]
// Lines: "MODE N VALUE us", of one message of N that rank 0 sends as fast as it can, receives posted before.
//   waitsome, testsome  MPI_Waitsome, or MPI_Testsome in a loop, until all have arrived
//   polled              MPI_Testsome each half millisecond: a program that computes meanwhile
//   polled_all          MPI_Testall each half millisecond
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "mpi_common.h"

enum { kReady = 1, kDone = 2, kData = 3, kNapUs = 500 };
enum Way { kWaitsome, kTestsome, kPolled, kPolledAll };

struct Some {
  int rank;
  int messages;
  enum Way way;
  long* values;
  int* indices;
  MPI_Request* requests;
};

static void take(struct Some* s) {
  int left = s->messages;
  while (left > 0) {
    int some = 0, all = 0;
    if (s->way >= kPolled) usleep(kNapUs);
    if (s->way == kPolledAll) {
      MPI_Testall(s->messages, s->requests, &all, MPI_STATUSES_IGNORE);
      some = all ? left : 0;
    } else if (s->way == kWaitsome) {
      MPI_Waitsome(s->messages, s->requests, &some, s->indices, MPI_STATUSES_IGNORE);
    } else {
      MPI_Testsome(s->messages, s->requests, &some, s->indices, MPI_STATUSES_IGNORE);
    }
    left -= some;
  }
}

static double rounds(void* state, long count) {
  struct Some* s = state;
  double seconds = 0;
  char mark = 0;
  for (long i = 0; i < count; i++) {
    if (s->rank == 1) {
      for (int k = 0; k < s->messages; k++) {
        MPI_Irecv(&s->values[k], 1, MPI_LONG, 0, kData, MPI_COMM_WORLD, &s->requests[k]);
      }
      MPI_Send(&mark, 1, MPI_CHAR, 0, kReady, MPI_COMM_WORLD);
      take(s);
      MPI_Send(&mark, 1, MPI_CHAR, 0, kDone, MPI_COMM_WORLD);
      for (long k = 0; k < s->messages; k++) {
        if (s->values[k] != k) fail("a message matched the wrong receive");
      }
    } else {
      MPI_Recv(&mark, 1, MPI_CHAR, 1, kReady, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      const double start = now_s();
      for (long k = 0; k < s->messages; k++) MPI_Send(&k, 1, MPI_LONG, 1, kData, MPI_COMM_WORLD);
      MPI_Recv(&mark, 1, MPI_CHAR, 1, kDone, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      seconds += now_s() - start;
    }
  }
  return seconds;
}

static enum Way way_of(const char* mode) {
  if (strcmp(mode, "waitsome") == 0) return kWaitsome;
  if (strcmp(mode, "testsome") == 0) return kTestsome;
  return strcmp(mode, "polled") == 0 ? kPolled : kPolledAll;
}

int main(int argc, char** argv) {
  const struct World world = begin(&argc, &argv, 2);
  struct Options options = {.mode = "waitsome", .sizes = {1000}, .size_count = 1, .seconds = 0.1};
  read_options(argc, argv, &options);
  for (int i = 0; i < options.size_count; i++) {
    const size_t messages = (size_t)options.sizes[i];
    struct Some s = {.rank = world.rank, .messages = (int)messages, .way = way_of(options.mode)};
    s.values = (long*)new_buffer(messages * sizeof(long));
    s.indices = (int*)new_buffer(messages * sizeof(int));
    s.requests = (MPI_Request*)new_buffer(messages * sizeof(MPI_Request));
    const double step = time_of_step(rounds, &s, options.seconds, agree_on) / (double)messages;
    if (world.rank == 0) report(options.mode, options.sizes[i], step * 1e6, "us");
    free(s.values);
    free(s.indices);
    free(s.requests);
  }
  MPI_Finalize();
  return 0;
}
