// A benchmark of messages a second from rank 0 to rank 1, in windows of 64 with an answer after each.
//   rate --mode plain|late|wildcards|persistent [--sizes A,B] [--seconds S]
// Lines: "rate_MODE SIZE VALUE msg/s".
//   plain       receives and sends with their source and tag
//   late        the receives are posted when all messages have arrived, so they were unexpected
//   wildcards   MPI_ANY_SOURCE and MPI_ANY_TAG
//   persistent  MPI_Send_init and MPI_Recv_init, started for each window
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mpi_common.h"

enum { kWindow = 64, kTag = 1, kAllSent = 2, kAnswer = 3 };

struct Rate {
  int rank;
  int late;
  int wildcards;
  int persistent;
  int bytes;
  char* send;     // kWindow messages
  char* receive;  // as many
  MPI_Request requests[kWindow];
};

static char* place(const struct Rate* r, int k) {
  return (r->rank == 0 ? r->send : r->receive) + (size_t)k * (size_t)r->bytes;
}

static void send_window(struct Rate* r) {
  char mark = 0;
  if (r->persistent) MPI_Startall(kWindow, r->requests);
  for (int k = 0; !r->persistent && k < kWindow; k++) {
    MPI_Isend(place(r, k), r->bytes, MPI_BYTE, 1, kTag, MPI_COMM_WORLD, &r->requests[k]);
  }
  MPI_Waitall(kWindow, r->requests, MPI_STATUSES_IGNORE);
  if (r->late) MPI_Send(&mark, 1, MPI_CHAR, 1, kAllSent, MPI_COMM_WORLD);
  MPI_Recv(&mark, 1, MPI_CHAR, 1, kAnswer, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void receive_window(struct Rate* r) {
  char mark = 0;
  const int source = r->wildcards ? MPI_ANY_SOURCE : 0, tag = r->wildcards ? MPI_ANY_TAG : kTag;
  // Messages of a pair do not overtake: when this one has arrived, the window has.
  if (r->late) MPI_Recv(&mark, 1, MPI_CHAR, 0, kAllSent, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  if (r->persistent) MPI_Startall(kWindow, r->requests);
  for (int k = 0; !r->persistent && k < kWindow; k++) {
    MPI_Irecv(place(r, k), r->bytes, MPI_BYTE, source, tag, MPI_COMM_WORLD, &r->requests[k]);
  }
  MPI_Waitall(kWindow, r->requests, MPI_STATUSES_IGNORE);
  MPI_Send(&mark, 1, MPI_CHAR, 0, kAnswer, MPI_COMM_WORLD);
}

static double windows(void* state, long count) {
  struct Rate* r = state;
  const double start = now_s();
  for (long i = 0; i < count; i++) {
    if (r->rank == 0) {
      send_window(r);
    } else {
      receive_window(r);
    }
  }
  return now_s() - start;
}

static void make_persistent(struct Rate* r) {
  for (int k = 0; k < kWindow; k++) {
    if (r->rank == 0) MPI_Send_init(place(r, k), r->bytes, MPI_BYTE, 1, kTag, MPI_COMM_WORLD, &r->requests[k]);
    if (r->rank == 1) MPI_Recv_init(place(r, k), r->bytes, MPI_BYTE, 0, kTag, MPI_COMM_WORLD, &r->requests[k]);
  }
}

static void measure(struct World world, long size, const struct Options* options) {
  const size_t all = (size_t)size * kWindow;
  struct Rate r = {.rank = world.rank, .bytes = (int)size, .send = new_buffer(all), .receive = new_buffer(all)};
  r.late = strcmp(options->mode, "late") == 0;
  r.wildcards = strcmp(options->mode, "wildcards") == 0;
  r.persistent = strcmp(options->mode, "persistent") == 0;
  if (r.persistent) make_persistent(&r);

  fill_pattern(r.send, all, 1);
  windows(&r, 1);
  if (world.rank == 1) check_pattern(r.receive, all, 1, "window");
  const double step = time_of_step(windows, &r, options->seconds, agree_on);
  char name[32];
  snprintf(name, sizeof name, "rate_%s", options->mode);
  if (world.rank == 0) report(name, size, kWindow / step, "msg/s");

  for (int k = 0; r.persistent && k < kWindow; k++) MPI_Request_free(&r.requests[k]);
  free(r.send);
  free(r.receive);
}

int main(int argc, char** argv) {
  const struct World world = begin(&argc, &argv, 2);
  struct Options options = {.mode = "plain", .sizes = {8}, .size_count = 1, .seconds = 0.1};
  read_options(argc, argv, &options);
  for (int i = 0; i < options.size_count; i++) measure(world, options.sizes[i], &options);
  MPI_Finalize();
  return 0;
}
