// Collective operations by length, on as many ranks as it is started with.
//   operations [--mode bcast|reduce|allreduce|gather|scatter|allgather|alltoall|reduce_scatter|scan] [--sizes
//   BYTES,...]
//              [--seconds S]
// BYTES: of one rank's contribution (bcast: of the data; reduce_scatter, alltoall: of one block). Lines:
// "MODE_RANKS BYTES VALUE us".
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mpi_common.h"

struct Operation;
typedef void (*Call)(const struct Operation*);

struct Operation {
  struct World world;
  Call call;
  int bytes;
  char* send;
  char* receive;
};

static void bcast(const struct Operation* o) {
  MPI_Bcast(o->world.rank == 0 ? o->send : o->receive, o->bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
}
static void reduce(const struct Operation* o) {
  MPI_Reduce(o->send, o->receive, o->bytes / 8, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
}
static void allreduce(const struct Operation* o) {
  MPI_Allreduce(o->send, o->receive, o->bytes / 8, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
}
static void gather(const struct Operation* o) {
  MPI_Gather(o->send, o->bytes, MPI_BYTE, o->receive, o->bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
}
static void scatter(const struct Operation* o) {
  MPI_Scatter(o->send, o->bytes, MPI_BYTE, o->receive, o->bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
}
static void allgather(const struct Operation* o) {
  MPI_Allgather(o->send, o->bytes, MPI_BYTE, o->receive, o->bytes, MPI_BYTE, MPI_COMM_WORLD);
}
static void alltoall(const struct Operation* o) {
  MPI_Alltoall(o->send, o->bytes, MPI_BYTE, o->receive, o->bytes, MPI_BYTE, MPI_COMM_WORLD);
}
static void reduce_scatter(const struct Operation* o) {
  MPI_Reduce_scatter_block(o->send, o->receive, o->bytes / 8, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
}
static void scan(const struct Operation* o) {
  MPI_Scan(o->send, o->receive, o->bytes / 8, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
}

static const struct {
  const char* name;
  Call call;
  int sent_blocks_of_all, received_blocks_of_all;
} kOperations[] = {{"bcast", bcast, 0, 0},       {"reduce", reduce, 0, 0},   {"allreduce", allreduce, 0, 0},
                   {"gather", gather, 0, 1},     {"scatter", scatter, 1, 0}, {"allgather", allgather, 0, 1},
                   {"alltoall", alltoall, 1, 1}, {"scan", scan, 0, 0},       {"reduce_scatter", reduce_scatter, 1, 0}};

static double rounds(void* state, long count) {
  const struct Operation* o = state;
  const double start = now_s();
  for (long i = 0; i < count; i++) o->call(o);
  return now_s() - start;
}

// Word i of a rank's buffer is its rank + i: what each operation comes to is known.
static void check(const struct Operation* o, const char* name) {
  const long me = o->world.rank, size = o->world.size, words = o->bytes / 8;
  const long* got = (const long*)o->receive;
  const long sum_of_ranks = size * (size - 1) / 2;
  for (long i = 0; i < words; i++) {
    long expected = got[i];
    if (strcmp(name, "bcast") == 0 && me != 0) expected = i;
    if ((strcmp(name, "reduce") == 0 && me == 0) || strcmp(name, "allreduce") == 0) expected = sum_of_ranks + size * i;
    if ((strcmp(name, "gather") == 0 && me == 0) || strcmp(name, "allgather") == 0) expected = i;
    if (strcmp(name, "scatter") == 0) expected = me * words + i;
    if (strcmp(name, "alltoall") == 0) expected = me * words + i;
    if (strcmp(name, "reduce_scatter") == 0) expected = sum_of_ranks + size * (me * words + i);
    if (strcmp(name, "scan") == 0) expected = me * (me + 1) / 2 + (me + 1) * i;
    if (got[i] != expected) fail("an operation gave a wrong result");
  }
}

int main(int argc, char** argv) {
  const struct World world = begin(&argc, &argv, 0);
  struct Options options = {.mode = "allreduce", .sizes = {8, 65536}, .size_count = 2, .seconds = 0.05};
  read_options(argc, argv, &options);
  size_t which = 0;
  while (which < sizeof kOperations / sizeof *kOperations && strcmp(kOperations[which].name, options.mode) != 0)
    which++;
  if (which == sizeof kOperations / sizeof *kOperations) fail("no such mode");
  char name[64];
  snprintf(name, sizeof name, "%s_%d", options.mode, world.size);
  for (int i = 0; i < options.size_count; i++) {
    const size_t bytes = (size_t)options.sizes[i], all = bytes * (size_t)world.size;
    struct Operation o = {.world = world, .call = kOperations[which].call, .bytes = (int)bytes};
    o.send = new_buffer(kOperations[which].sent_blocks_of_all ? all : bytes);
    o.receive = new_buffer(kOperations[which].received_blocks_of_all ? all : bytes);
    const size_t sent = (kOperations[which].sent_blocks_of_all ? all : bytes) / 8;
    for (size_t word = 0; word < sent; word++) ((long*)o.send)[word] = world.rank + (long)word;
    rounds(&o, 1);
    check(&o, options.mode);
    const double step = time_of_step(rounds, &o, options.seconds, agree_on);
    if (world.rank == 0) report(name, options.sizes[i], step * 1e6, "us");
    free(o.send);
    free(o.receive);
  }
  MPI_Finalize();
  return 0;
}
