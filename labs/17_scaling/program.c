/* Lab 17: strong scaling of the diffusion of heat, against two models. Page: page.md. */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "variant.h"

enum { kTag = 7, kMostRanks = 1024 };

/* A block of rows or columns of the plate: `width` x `height` cells, with a border of one cell on each side. */
struct Block {
  int columns, rows; /* blocks of the plate */
  int x, y;          /* of this block */
  int width, height;
  double *now, *next;
};

static int at(const struct Block* b, int x, int y) {
  return (y + 1) * (b->width + 2) + x + 1;
}

/* The rank of a neighbouring block, or MPI_PROC_NULL beyond the plate's edge. */
static int neighbour(const struct Block* b, int dx, int dy) {
  const int x = b->x + dx, y = b->y + dy;
  return x < 0 || y < 0 || x >= b->columns || y >= b->rows ? MPI_PROC_NULL : y * b->columns + x;
}

/* The virtual time of a computation: the run counts none by itself (--compute none). */
static void compute_ns(long ns) {
  usleep((useconds_t)(ns / 1000));
}

/* Exchanges the borders with the four neighbours. */
static void exchange(struct Block* b, MPI_Comm comm) {
  const int w = b->width, h = b->height;
  double *n = b->now, *in = calloc(2 * (size_t)h, sizeof *in), *out = calloc(2 * (size_t)h, sizeof *out);
  MPI_Request requests[8];
  for (int y = 0; y < h; ++y) out[y] = n[at(b, 0, y)], out[h + y] = n[at(b, w - 1, y)];
  MPI_Irecv(n + at(b, 0, -1), w, MPI_DOUBLE, neighbour(b, 0, -1), kTag, comm, &requests[0]);
  MPI_Irecv(n + at(b, 0, h), w, MPI_DOUBLE, neighbour(b, 0, 1), kTag, comm, &requests[1]);
  MPI_Irecv(in, h, MPI_DOUBLE, neighbour(b, -1, 0), kTag, comm, &requests[2]);
  MPI_Irecv(in + h, h, MPI_DOUBLE, neighbour(b, 1, 0), kTag, comm, &requests[3]);
  MPI_Isend(n + at(b, 0, 0), w, MPI_DOUBLE, neighbour(b, 0, -1), kTag, comm, &requests[4]);
  MPI_Isend(n + at(b, 0, h - 1), w, MPI_DOUBLE, neighbour(b, 0, 1), kTag, comm, &requests[5]);
  MPI_Isend(out, h, MPI_DOUBLE, neighbour(b, -1, 0), kTag, comm, &requests[6]);
  MPI_Isend(out + h, h, MPI_DOUBLE, neighbour(b, 1, 0), kTag, comm, &requests[7]);
  MPI_Waitall(8, requests, MPI_STATUSES_IGNORE);
  for (int y = 0; y < h; ++y) {
    if (b->x > 0) n[at(b, -1, y)] = in[y];
    if (b->x < b->columns - 1) n[at(b, w, y)] = in[h + y];
  }
  free(in);
  free(out);
}

/* One step. Returns the block's heat after it. */
static double diffuse(struct Block* b) {
  const int stride = b->width + 2;
  double heat = 0;
  for (int y = 0; y < b->height; ++y)
    for (int x = 0; x < b->width; ++x) {
      const double* p = b->now + at(b, x, y);
      heat += b->next[at(b, x, y)] = p[0] + 0.2 * (p[-1] + p[1] + p[-stride] + p[stride] - 4 * p[0]);
    }
  double* swap = b->now;
  b->now = b->next;
  b->next = swap;
  compute_ns((long)b->width * b->height * kCellNs);
  return heat;
}

/* The steps on all ranks of `comm`, a power of two. Returns the plate's heat at the end. */
static double run(MPI_Comm comm) {
  int rank, ranks;
  double heat = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  struct Block b = {1, 1, 0, 0, 0, 0, NULL, NULL};
  while (b.columns * b.rows < ranks) *(b.columns > b.rows ? &b.rows : &b.columns) *= 2;
  b.x = rank % b.columns, b.y = rank / b.columns;
  b.width = kSide / b.columns, b.height = kSide / b.rows;
  const size_t cells = (size_t)(b.width + 2) * (size_t)(b.height + 2);
  b.now = calloc(cells, sizeof(double));
  b.next = calloc(cells, sizeof(double));
  for (int y = 0; y < b.height; ++y)
    for (int x = 0; x < b.width; ++x) b.now[at(&b, x, y)] = (b.x * b.width + x) ^ (b.y * b.height + y);
  for (int step = 0; step < kSteps; ++step) {
    exchange(&b, comm);
    const double mine = diffuse(&b);
    MPI_Allreduce(&mine, &heat, 1, MPI_DOUBLE, MPI_SUM, comm);
    if (rank == 0) compute_ns(kSerialNs); /* writes the step's report; the others wait in the next step */
    MPI_Barrier(comm);
  }
  free(b.now);
  free(b.next);
  return heat;
}

/* Amdahl's speed-up on so many ranks, for the serial fraction f of the work on one rank. */
static double amdahl(int ranks) {
  double f = 0, speed_up = 0;
  (void)ranks;
  /* BLANK 1: set f from kSide, kCellNs and kSerialNs, and speed_up */
  /* END 1 */
  (void)f;
  return speed_up;
}

/* Microseconds of all steps on so many ranks, a power of two: computation, serial part, and messages. */
static double model(int ranks) {
  double step_us = 0;
  (void)ranks;
  /* BLANK 2: set step_us, with kAlphaUs for each message that follows another one; a border's bytes may be left out */
  /* END 2 */
  return kSteps * step_us;
}

int main(int argc, char** argv) {
  int rank, size;
  double alone = 0, heat_alone = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (rank == 0) printf("ranks           us     speed-up       Amdahl     model us\n");
  for (int ranks = 1; ranks <= size && ranks <= kMostRanks; ranks *= 2) {
    MPI_Comm part;
    MPI_Comm_split(MPI_COMM_WORLD, rank < ranks ? 0 : MPI_UNDEFINED, 0, &part);
    if (part == MPI_COMM_NULL) continue;
    MPI_Barrier(part);
    const double begin = MPI_Wtime();
    const double heat = run(part);
    const double us = 1e6 * (MPI_Wtime() - begin);
    if (ranks == 1) alone = us, heat_alone = heat;
    if (rank == 0) printf("%5d %12.1f %12.3f %12.3f %12.1f\n", ranks, us, alone / us, amdahl(ranks), model(ranks));
    if (rank == 0 && fabs(heat - heat_alone) > 1e-9 * heat_alone) printf("the heat differs: %.17g\n", heat);
    MPI_Comm_free(&part);
  }
  MPI_Finalize();
  return 0;
}
