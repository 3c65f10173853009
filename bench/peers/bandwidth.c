// A benchmark of the bandwidth between two ranks: a window of messages, then an answer.
//   bandwidth --mode one|both [--sizes A,B] [--seconds S]
// Lines: "bandwidth SIZE VALUE MB/s" or "both SIZE VALUE MB/s" (the sum of both directions; 1 MB is 1,000,000 bytes).
// All messages are sent from one buffer; each is received into its own, as MPI requires. The receive buffers together
// hold at most kReceiveBytes, so windows of large messages are shorter than kWindow.
#include <stdlib.h>
#include <string.h>

#include "mpi_common.h"

enum { kWindow = 64, kWindowMin = 2, kReceiveBytes = 8 << 20 };

struct Stream {
  int rank;
  int both;
  int window;
  int bytes;
  char* send;
  char* receive;  // `window` messages, one after the other
};

static double stream(void* state, long count) {
  const struct Stream* s = state;
  const int peer = 1 - s->rank;
  const int sends = s->both || s->rank == 0, receives = s->both || s->rank == 1;
  char answer = 0;
  MPI_Request requests[2 * kWindow];
  const double start = now_s();
  for (long i = 0; i < count; i++) {
    int n = 0;
    for (int k = 0; receives && k < s->window; k++) {
      char* place = s->receive + (size_t)k * (size_t)s->bytes;
      MPI_Irecv(place, s->bytes, MPI_BYTE, peer, 1, MPI_COMM_WORLD, &requests[n++]);
    }
    for (int k = 0; sends && k < s->window; k++) {
      MPI_Isend(s->send, s->bytes, MPI_BYTE, peer, 1, MPI_COMM_WORLD, &requests[n++]);
    }
    MPI_Waitall(n, requests, MPI_STATUSES_IGNORE);
    if (s->rank == 1) MPI_Send(&answer, 1, MPI_CHAR, peer, 2, MPI_COMM_WORLD);
    if (s->rank == 0) MPI_Recv(&answer, 1, MPI_CHAR, peer, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  return now_s() - start;
}

static void measure(struct World world, long size, const struct Options* options, char* send, char* receive) {
  struct Stream s = {world.rank, strcmp(options->mode, "both") == 0, kWindow, (int)size, send, receive};
  if (size * s.window > kReceiveBytes) s.window = (int)(kReceiveBytes / size);
  if (s.window < kWindowMin) s.window = kWindowMin;

  fill_pattern(send, (size_t)size, (unsigned)world.rank);
  memset(receive, 0, (size_t)size * (size_t)s.window);
  stream(&s, 1);
  for (int k = 0; (s.both || world.rank == 1) && k < s.window; k++) {
    check_pattern(receive + (size_t)k * (size_t)size, (size_t)size, (unsigned)(1 - world.rank), "window");
  }
  const double step = time_of_step(stream, &s, options->seconds, agree_on);
  const double bytes = (double)size * s.window * (s.both ? 2 : 1);
  if (world.rank == 0) report(s.both ? "both" : "bandwidth", size, bytes / step / 1e6, "MB/s");
}

int main(int argc, char** argv) {
  const struct World world = begin(&argc, &argv, 2);
  struct Options options = {.mode = "one", .sizes = {8, 8192, 1048576}, .size_count = 3, .seconds = 0.05};
  read_options(argc, argv, &options);
  long largest = kReceiveBytes / kWindowMin;
  for (int i = 0; i < options.size_count; i++) {
    if (options.sizes[i] < 1) fail("a bandwidth needs at least one byte");
    if (options.sizes[i] > largest) largest = options.sizes[i];
  }
  char* send = new_buffer((size_t)largest);
  char* receive = new_buffer((size_t)largest * kWindowMin);
  for (int i = 0; i < options.size_count; i++) measure(world, options.sizes[i], &options, send, receive);
  free(send);
  free(receive);
  MPI_Finalize();
  return 0;
}
