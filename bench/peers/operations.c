// A benchmark of collective operations by length, on any number of ranks.
//   operations [--mode bcast|reduce|allreduce|gather|scatter|allgather|alltoall|reduce_scatter|scan]
//              [--sizes BYTES,...] [--seconds S]
// BYTES: of one rank's contribution (bcast: of the data; scatter, reduce_scatter, alltoall: of one block). Lines:
// "MODE_RANKS BYTES VALUE us", of one of many calls in a row until all ranks have their results.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mpi_common.h"
#include "operation_data.h"

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
} kCalls[] = {{"bcast", bcast},       {"reduce", reduce},   {"allreduce", allreduce},
              {"gather", gather},     {"scatter", scatter}, {"allgather", allgather},
              {"alltoall", alltoall}, {"scan", scan},       {"reduce_scatter", reduce_scatter}};

static Call call_of(const char* name) {
  size_t which = 0;
  while (strcmp(kCalls[which].name, name) != 0) which++;  // shape_of has the same names, and was called before
  return kCalls[which].call;
}

static double rounds(void* state, long count) {
  const struct Operation* o = state;
  const double start = now_s();
  for (long i = 0; i < count; i++) o->call(o);
  return until_all_ended(start);
}

int main(int argc, char** argv) {
  const struct World world = begin(&argc, &argv, 0);
  struct Options options = {.mode = "allreduce", .sizes = {8, 65536}, .size_count = 2, .seconds = 0.05};
  read_options(argc, argv, &options);
  const struct OperationShape* shape = shape_of(options.mode);
  char name[64];
  snprintf(name, sizeof name, "%s_%d", options.mode, world.size);
  for (int i = 0; i < options.size_count; i++) {
    const size_t bytes = (size_t)options.sizes[i], all = bytes * (size_t)world.size;
    const size_t sent = shape->sends_to_each ? all : bytes;
    struct Operation o = {.world = world, .call = call_of(options.mode), .bytes = (int)bytes};
    o.send = new_buffer(sent);
    o.receive = new_buffer(shape->receives_from_each ? all : bytes);
    fill_words((long*)o.send, sent / 8, world.rank);
    rounds(&o, 1);
    check_words(options.mode, (const long*)o.receive, bytes / 8, world.rank, world.size);
    const double step = time_of_step(rounds, &o, options.seconds, agree_on);
    if (world.rank == 0) report(name, options.sizes[i], step * 1e6, "us");
    free(o.send);
    free(o.receive);
  }
  MPI_Finalize();
  return 0;
}
