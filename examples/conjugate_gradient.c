// Conjugate gradients for Poisson's equation on a square, with f = 1 inside and 0 at the border: N x N points, divided
// into a grid of blocks, one for each rank.
//
//   conjugate_gradient [--size N] [--tolerance T] [--check]
//
// Points of interest:
//   - Halos by MPI_Ineighbor_alltoallw, in one call for all four sides: rows are contiguous, columns use a vector
//     datatype, each at its own address in the block. During the transfer the block's inner points are computed, which
//     need no halo; then its rim.
//   - Dot products by MPI_Iallreduce: while the square of the new residual is summed over all ranks, the solution is
//     updated, which does not need it.
//   - All ranks stop at the same step, because all of them get the same bits from an allreduce.
// --check computes the residual b - A x of the result from scratch.
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// A rank's part of the square. Vectors have a halo of one point on each side.
struct Block {
  // Inner points.
  int width, height;
  // Width including the halo.
  int stride;
  MPI_Comm grid;
  // Types and counts of the data to and from each neighbor: above, below, left, right.
  MPI_Datatype types[4];
  int counts[4];
  // Bytes from the beginning of a vector.
  MPI_Aint rim[4], halo[4];
};

// A vector of zeros: the halo at the square's border must be 0.
static double* vector(const struct Block* block) {
  double* made = calloc((size_t)block->stride * (size_t)(block->height + 2), sizeof *made);
  if (made == NULL) {
    fprintf(stderr, "no memory for a block\n");
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  return made;
}

// Index of inner point (x, y); -1 and width or height are the halo.
static int at(const struct Block* block, int x, int y) {
  return (y + 1) * block->stride + x + 1;
}

// Creates the grid of ranks and this rank's block.
static void cut(int n, int size, struct Block* block) {
  int dims[2] = {0, 0}, coords[2], rank;
  const int periods[2] = {0, 0};
  MPI_Dims_create(size, 2, dims);
  MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &block->grid);
  MPI_Comm_rank(block->grid, &rank);
  MPI_Cart_coords(block->grid, rank, 2, coords);
  block->height = n * (coords[0] + 1) / dims[0] - n * coords[0] / dims[0];
  block->width = n * (coords[1] + 1) / dims[1] - n * coords[1] / dims[1];
  block->stride = block->width + 2;
  MPI_Datatype row, column;
  MPI_Type_contiguous(block->width, MPI_DOUBLE, &row);
  MPI_Type_vector(block->height, 1, block->stride, MPI_DOUBLE, &column);
  MPI_Type_commit(&row);
  MPI_Type_commit(&column);
  // Neighbors are in the order of the dimensions: rows first, and the lower side of each dimension first.
  const int rims[4] = {at(block, 0, 0), at(block, 0, block->height - 1), at(block, 0, 0),
                       at(block, block->width - 1, 0)};
  const int halos[4] = {at(block, 0, -1), at(block, 0, block->height), at(block, -1, 0), at(block, block->width, 0)};
  for (int side = 0; side < 4; ++side) {
    block->types[side] = side < 2 ? row : column;
    block->counts[side] = 1;
    block->rim[side] = (MPI_Aint)rims[side] * (MPI_Aint)sizeof(double);
    block->halo[side] = (MPI_Aint)halos[side] * (MPI_Aint)sizeof(double);
  }
}

static double laplacian(const struct Block* block, const double* v, int x, int y) {
  const int here = at(block, x, y);
  return 4 * v[here] - v[here - 1] - v[here + 1] - v[here - block->stride] - v[here + block->stride];
}

static void apply_row(const struct Block* block, const double* v, double* result, int y, int from, int to) {
  for (int x = from; x < to; ++x) result[at(block, x, y)] = laplacian(block, v, x, y);
}

// Computes result = A v, and returns this rank's part of the dot product of v and A v. Fills v's halo.
static double apply(const struct Block* block, double* v, double* result) {
  MPI_Request request;
  MPI_Ineighbor_alltoallw(v, block->counts, block->rim, block->types, v, block->counts, block->halo, block->types,
                          block->grid, &request);
  for (int y = 1; y < block->height - 1; ++y) apply_row(block, v, result, y, 1, block->width - 1);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  for (int y = 0; y < block->height; ++y) {
    if (y == 0 || y == block->height - 1) {
      apply_row(block, v, result, y, 0, block->width);
    } else {
      apply_row(block, v, result, y, 0, 1);
      apply_row(block, v, result, y, block->width > 1 ? block->width - 1 : block->width, block->width);
    }
  }
  double sum = 0;
  for (int y = 0; y < block->height; ++y) {
    for (int x = 0; x < block->width; ++x) sum += v[at(block, x, y)] * result[at(block, x, y)];
  }
  return sum;
}

// y += factor x, for inner points.
static void add(const struct Block* block, double* y, double factor, const double* x) {
  for (int row = 0; row < block->height; ++row) {
    for (int i = at(block, 0, row); i < at(block, block->width, row); ++i) y[i] += factor * x[i];
  }
}

// This rank's part of the dot product of v with itself.
static double square(const struct Block* block, const double* v) {
  double sum = 0;
  for (int row = 0; row < block->height; ++row) {
    for (int i = at(block, 0, row); i < at(block, block->width, row); ++i) sum += v[i] * v[i];
  }
  return sum;
}

// Solves A x = b, with x = 0 initially. Returns the number of steps.
static int solve(const struct Block* block, double tolerance, int steps_max, double* x) {
  double *r = vector(block), *p = vector(block), *ap = vector(block);
  for (int row = 0; row < block->height; ++row) {
    for (int i = at(block, 0, row); i < at(block, block->width, row); ++i) r[i] = p[i] = 1;
  }
  double mine = square(block, r), old, all;
  MPI_Allreduce(&mine, &old, 1, MPI_DOUBLE, MPI_SUM, block->grid);
  // Compares squares, which avoids a root in each step.
  const double enough = tolerance * tolerance * old;
  int step = 0;
  for (; step < steps_max && old > enough; ++step) {
    mine = apply(block, p, ap);
    MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, block->grid);
    const double alpha = old / all;
    add(block, r, -alpha, ap);
    mine = square(block, r);
    MPI_Request request;
    MPI_Iallreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, block->grid, &request);
    // Overlaps with the sum.
    add(block, x, alpha, p);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    const double beta = all / old;
    old = all;
    for (int row = 0; row < block->height; ++row) {
      for (int i = at(block, 0, row); i < at(block, block->width, row); ++i) p[i] = r[i] + beta * p[i];
    }
  }
  free(r);
  free(p);
  free(ap);
  return step;
}

// The length of b - A x relative to that of b.
static double residual(const struct Block* block, double* x) {
  double* ax = vector(block);
  apply(block, x, ax);
  double mine[2] = {0, 0}, all[2];
  for (int row = 0; row < block->height; ++row) {
    for (int i = at(block, 0, row); i < at(block, block->width, row); ++i) mine[0] += (1 - ax[i]) * (1 - ax[i]);
  }
  mine[1] = (double)block->width * block->height;
  MPI_Allreduce(mine, all, 2, MPI_DOUBLE, MPI_SUM, block->grid);
  free(ax);
  return sqrt(all[0] / all[1]);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, size, n = 96, check = 0, known = 1;
  double tolerance = 1e-8;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (int i = 1; i < argc; ++i) {
    if (strcmp(argv[i], "--check") == 0) {
      check = 1;
    } else if (strcmp(argv[i], "--size") == 0 && i + 1 < argc) {
      n = atoi(argv[++i]);
    } else if (strcmp(argv[i], "--tolerance") == 0 && i + 1 < argc) {
      tolerance = atof(argv[++i]);
    } else {
      known = 0;
    }
  }
  if (!known || n < size || !(tolerance > 0)) {
    if (rank == 0)
      fprintf(stderr, "usage: conjugate_gradient [--size N] [--tolerance T] [--check]   (N: ranks at least)\n");
    MPI_Finalize();
    return 2;
  }
  struct Block block;
  cut(n, size, &block);
  double* x = vector(&block);
  const int steps_max = 20 * n;
  const int steps = solve(&block, tolerance, steps_max, x);
  double largest = 0, mine = 0;
  for (int row = 0; row < block.height; ++row) {
    for (int i = at(&block, 0, row); i < at(&block, block.width, row); ++i) mine = x[i] > mine ? x[i] : mine;
  }
  MPI_Reduce(&mine, &largest, 1, MPI_DOUBLE, MPI_MAX, 0, block.grid);
  int right = steps < steps_max;
  // Rounding depends on the division into blocks, so only the digits that do not depend on it are printed.
  if (rank == 0) printf("%d x %d points: the largest value is %.4f\n", n, n, largest);
  if (check) {
    const double left = residual(&block, x);
    right = right && left <= 10 * tolerance;
    if (rank == 0) printf(right ? "the residual is as small as asked\n" : "WRONG: residual %g\n", left);
  }
  MPI_Type_free(&block.types[0]);
  MPI_Type_free(&block.types[2]);
  MPI_Comm_free(&block.grid);
  free(x);
  MPI_Finalize();
  return right ? 0 : 1;
}
