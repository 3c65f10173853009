// A benchmark of the one-way latency of a ping-pong between two ranks.
//   latency [--sizes A,B] [--seconds S] [--block B]
// Lines: "latency SIZE VALUE us". With --block B the message is a vector of blocks of B bytes with gaps as wide
// ("vectorB").
#include <stdio.h>
#include <stdlib.h>

#include "mpi_common.h"

struct PingPong {
  int rank;
  char* send;
  char* receive;
  int count;
  MPI_Datatype type;
};

static double ping_pong(void* state, long count) {
  const struct PingPong* p = state;
  const int peer = 1 - p->rank;
  const double start = now_s();
  for (long i = 0; i < count; i++) {
    if (p->rank == 0) MPI_Send(p->send, p->count, p->type, peer, 1, MPI_COMM_WORLD);
    MPI_Recv(p->receive, p->count, p->type, peer, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (p->rank == 1) MPI_Send(p->send, p->count, p->type, peer, 1, MPI_COMM_WORLD);
  }
  return now_s() - start;
}

// Each rank sends its own pattern once. The gaps of a vector must stay zero.
static void verify(struct PingPong* p, long size, long block) {
  const size_t extent = (size_t)(block == 0 ? size : 2 * size);
  for (size_t i = 0; i < extent; i++) p->receive[i] = 0;
  fill_pattern(p->send, extent, (unsigned)p->rank);
  ping_pong(p, 1);
  if (block == 0) {
    check_pattern(p->receive, extent, (unsigned)(1 - p->rank), "ping-pong");
    return;
  }
  char* expected = new_buffer(extent);
  fill_pattern(expected, extent, (unsigned)(1 - p->rank));
  for (size_t i = 0; i < extent; i++) {
    const int gap = (i / (size_t)block) % 2 == 1;
    if (p->receive[i] != (gap ? 0 : expected[i])) fail("a vector arrived with a wrong byte");
  }
  free(expected);
}

static void measure(struct World world, long size, const struct Options* options, char* send, char* receive) {
  struct PingPong p = {world.rank, send, receive, (int)size, MPI_BYTE};
  char name[32] = "latency";
  if (options->block != 0) {
    MPI_Type_vector((int)(size / options->block), (int)options->block, (int)(2 * options->block), MPI_BYTE, &p.type);
    MPI_Type_commit(&p.type);
    p.count = 1;
    snprintf(name, sizeof name, "vector%ld", options->block);
  }
  verify(&p, size, options->block);
  const double step = time_of_step(ping_pong, &p, options->seconds, agree_on);
  if (world.rank == 0) report(name, size, step / 2 * 1e6, "us");
  if (options->block != 0) MPI_Type_free(&p.type);
}

int main(int argc, char** argv) {
  const struct World world = begin(&argc, &argv, 2);
  struct Options options = {.sizes = {0, 8, 1024}, .size_count = 3, .seconds = 0.05};
  read_options(argc, argv, &options);
  long largest = 1;
  for (int i = 0; i < options.size_count; i++) {
    if (options.sizes[i] > largest) largest = options.sizes[i];
  }
  char* send = new_buffer(2 * (size_t)largest);
  char* receive = new_buffer(2 * (size_t)largest);
  for (int i = 0; i < options.size_count; i++) measure(world, options.sizes[i], &options, send, receive);
  free(send);
  free(receive);
  MPI_Finalize();
  return 0;
}
