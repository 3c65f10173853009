// The data of the collective operations and their results, for operations.c and its bound limits_operations.c.
#ifndef MARGAY_BENCH_PEERS_OPERATION_DATA_H
#define MARGAY_BENCH_PEERS_OPERATION_DATA_H

#include <string.h>

#include "common.h"

// Whether a rank sends, and receives, a block for each rank or only one.
struct OperationShape {
  const char* name;
  int sends_to_each, receives_from_each;
};
static const struct OperationShape kShapes[] = {{"bcast", 0, 0},    {"reduce", 0, 0},  {"allreduce", 0, 0},
                                                {"gather", 0, 1},   {"scatter", 1, 0}, {"allgather", 0, 1},
                                                {"alltoall", 1, 1}, {"scan", 0, 0},    {"reduce_scatter", 1, 0}};

static inline const struct OperationShape* shape_of(const char* name) {
  for (size_t i = 0; i < sizeof kShapes / sizeof *kShapes; i++) {
    if (strcmp(kShapes[i].name, name) == 0) return &kShapes[i];
  }
  fail("no such mode");
  return NULL;
}

// Word i of a rank's data is its rank + i, so the result of each operation is known.
static inline void fill_words(long* send, size_t words, int rank) {
  for (size_t i = 0; i < words; i++) send[i] = rank + (long)i;
}

// Ends the program if a word that rank `me` of `size` received is wrong; `words` of one block.
static inline void check_words(const char* name, const long* got, size_t words, long me, long size) {
  const long block = (long)words, sum_of_ranks = size * (size - 1) / 2;
  const long received = shape_of(name)->receives_from_each ? size * block : block;
  const int at_root = strcmp(name, "reduce") == 0 || strcmp(name, "gather") == 0;
  if ((at_root && me != 0) || (strcmp(name, "bcast") == 0 && me == 0)) return;
  for (long i = 0; i < received; i++) {
    long expected = i;  // bcast
    if (strcmp(name, "reduce") == 0 || strcmp(name, "allreduce") == 0) expected = sum_of_ranks + size * i;
    if (strcmp(name, "gather") == 0 || strcmp(name, "allgather") == 0) expected = i / block + i % block;
    if (strcmp(name, "scatter") == 0) expected = me * block + i;
    if (strcmp(name, "alltoall") == 0) expected = i / block + me * block + i % block;
    if (strcmp(name, "reduce_scatter") == 0) expected = sum_of_ranks + size * (me * block + i);
    if (strcmp(name, "scan") == 0) expected = me * (me + 1) / 2 + (me + 1) * i;
    if (got[i] != expected) fail("an operation gave a wrong result");
  }
}

#endif
