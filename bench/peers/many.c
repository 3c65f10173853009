// A benchmark of messages a second among many ranks: each sends to all others at once, and receives from all others.
//   many [--sizes BYTES] [--seconds S]
// Lines: "many RANKS VALUE msg/s", of all ranks together, in rounds of kWindow messages for each ordered pair.
#include <stdlib.h>

#include "mpi_common.h"

enum { kWindow = 8, kTag = 1 };

struct Many {
  struct World world;
  int bytes;
  char* send;     // one message, the same for all
  char* receive;  // kWindow for each rank
  MPI_Request* requests;
};

static double rounds(void* state, long count) {
  struct Many* m = state;
  const int size = m->world.size;
  const double start = now_s();
  for (long i = 0; i < count; i++) {
    int n = 0;
    for (int k = 0; k < kWindow; k++) {
      for (int step = 1; step < size; step++) {
        const int source = (m->world.rank + size - step) % size;
        char* place = m->receive + ((size_t)source * kWindow + (size_t)k) * (size_t)m->bytes;
        MPI_Irecv(place, m->bytes, MPI_BYTE, source, kTag, MPI_COMM_WORLD, &m->requests[n++]);
      }
    }
    for (int k = 0; k < kWindow; k++) {
      for (int step = 1; step < size; step++) {
        const int destination = (m->world.rank + step) % size;
        MPI_Isend(m->send, m->bytes, MPI_BYTE, destination, kTag, MPI_COMM_WORLD, &m->requests[n++]);
      }
    }
    MPI_Waitall(n, m->requests, MPI_STATUSES_IGNORE);
  }
  return now_s() - start;
}

int main(int argc, char** argv) {
  const struct World world = begin(&argc, &argv, 0);
  struct Options options = {.sizes = {8}, .size_count = 1, .seconds = 0.1};
  read_options(argc, argv, &options);
  struct Many m = {.world = world, .bytes = (int)options.sizes[0]};
  const size_t bytes = (size_t)m.bytes, messages = (size_t)world.size * kWindow;
  m.send = new_buffer(bytes);
  m.receive = new_buffer(messages * bytes);
  m.requests = malloc(2 * messages * sizeof(MPI_Request));
  if (m.requests == NULL) fail("out of memory");
  fill_pattern(m.send, bytes, (unsigned)world.rank);
  rounds(&m, 1);
  for (size_t i = 0; i < messages; i++) {
    const size_t source = i / kWindow;
    if (source != (size_t)world.rank) check_pattern(m.receive + i * bytes, bytes, (unsigned)source, "round");
  }
  const double step = time_of_step(rounds, &m, options.seconds, agree_on);
  const double all = (double)world.size * (world.size - 1) * kWindow;
  if (world.rank == 0) report("many", world.size, all / step, "msg/s");
  free(m.send);
  free(m.receive);
  free(m.requests);
  MPI_Finalize();
  return 0;
}
