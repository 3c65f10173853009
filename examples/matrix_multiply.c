// C = A B for square matrices of integers, in two ways.
//
//   matrix_multiply [--size N] [--grid] [--check]
//
// By rows: rank 0 has A and B. MPI_Scatterv gives each rank some rows of A, MPI_Bcast all of B; each rank multiplies
// its rows, and MPI_Gatherv collects the rows of C. Every rank stores all of B.
//
// --grid: the ranks form a grid, and each has one block of A, B and C. In step k the ranks of column k broadcast their
// blocks of A along their rows, and the ranks of row k broadcast their blocks of B along their columns (SUMMA). Each
// rank adds the product of the two received blocks. A rank never has more than five blocks. MPI_Cart_sub creates the
// communicators of a row and of a column; blocks of the matrices on rank 0 are subarrays, distributed by MPI_Scatterv
// with a resized type.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void* memory(size_t bytes) {
  void* found = malloc(bytes != 0 ? bytes : 1);
  if (found == NULL) {
    fprintf(stderr, "no memory for %zu bytes\n", bytes);
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  return found;
}

static int a_at(int row, int column) {
  return (row * 31 + column * 17) % 23 - 11;
}
static int b_at(int row, int column) {
  return (row * 13 - column * 29) % 19;
}

// c += a b, for matrices of `rows` x `inner` and `inner` x `columns`.
static void add_product(const int* a, const int* b, int* c, int rows, int inner, int columns) {
  for (int i = 0; i < rows; ++i) {
    for (int k = 0; k < inner; ++k) {
      for (int j = 0; j < columns; ++j) c[i * columns + j] += a[i * inner + k] * b[k * columns + j];
    }
  }
}

static int* filled(int n, int (*at)(int, int)) {
  int* matrix = memory((size_t)n * (size_t)n * sizeof *matrix);
  for (int row = 0; row < n; ++row) {
    for (int column = 0; column < n; ++column) matrix[row * n + column] = at(row, column);
  }
  return matrix;
}

// Returns C on rank 0, NULL elsewhere.
static int* multiply_by_rows(int n, int rank, int size) {
  int* counts = memory(2 * (size_t)size * sizeof *counts);
  int* places = counts + size;
  for (int r = 0; r < size; ++r) {
    places[r] = n * r / size * n;
    counts[r] = (n * (r + 1) / size - n * r / size) * n;
  }
  int* a = rank == 0 ? filled(n, a_at) : NULL;
  int* b = rank == 0 ? filled(n, b_at) : memory((size_t)n * (size_t)n * sizeof *b);
  int* c = rank == 0 ? memory((size_t)n * (size_t)n * sizeof *c) : NULL;
  int* my_a = memory((size_t)counts[rank] * sizeof *my_a);
  int* my_c = calloc((size_t)counts[rank] + 1, sizeof *my_c);
  MPI_Scatterv(a, counts, places, MPI_INT, my_a, counts[rank], MPI_INT, 0, MPI_COMM_WORLD);
  MPI_Bcast(b, n * n, MPI_INT, 0, MPI_COMM_WORLD);
  add_product(my_a, b, my_c, n == 0 ? 0 : counts[rank] / n, n, n);
  MPI_Gatherv(my_c, counts[rank], MPI_INT, c, counts, places, MPI_INT, 0, MPI_COMM_WORLD);
  free(counts);
  free(a);
  free(b);
  free(my_a);
  free(my_c);
  return c;
}

// The datatype of a block in a padded matrix. Its extent is a block's width, so MPI_Scatterv can address blocks by
// multiples of it.
static MPI_Datatype block_type(int padded, int block) {
  const int sizes[2] = {padded, padded}, parts[2] = {block, block}, starts[2] = {0, 0};
  MPI_Datatype part, resized;
  MPI_Type_create_subarray(2, sizes, parts, starts, MPI_ORDER_C, MPI_INT, &part);
  MPI_Type_create_resized(part, 0, (MPI_Aint)block * (MPI_Aint)sizeof(int), &resized);
  MPI_Type_commit(&resized);
  MPI_Type_free(&part);
  return resized;
}

static int* padded_matrix(int n, int padded, int (*at)(int, int)) {
  int* matrix = calloc((size_t)padded * (size_t)padded + 1, sizeof *matrix);
  for (int row = 0; row < n; ++row) {
    for (int column = 0; column < n; ++column) matrix[row * padded + column] = at(row, column);
  }
  return matrix;
}

// Uses the largest square number of ranks; the others return NULL at once.
static int* multiply_on_grid(int n, int rank, int size) {
  int side = 1;
  while ((side + 1) * (side + 1) <= size) ++side;
  MPI_Comm grid, row, column;
  const int dims[2] = {side, side}, periods[2] = {0, 0};
  MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &grid);
  if (grid == MPI_COMM_NULL) return NULL;
  MPI_Cart_sub(grid, (const int[2]){0, 1}, &row);
  MPI_Cart_sub(grid, (const int[2]){1, 0}, &column);
  int mine[2];
  MPI_Cart_coords(grid, rank, 2, mine);

  const int block = (n + side - 1) / side, padded = block * side, elements = block * block;
  int *a = NULL, *b = NULL, *c = NULL, *wide = NULL;
  if (rank == 0) {
    a = padded_matrix(n, padded, a_at);
    b = padded_matrix(n, padded, b_at);
    wide = memory((size_t)padded * (size_t)padded * sizeof *wide);
  }
  int* counts = memory(2 * (size_t)(side * side) * sizeof *counts);
  int* places = counts + side * side;
  for (int r = 0; r < side * side; ++r) {
    counts[r] = 1;
    places[r] = r / side * block * side + r % side;
  }
  MPI_Datatype type = block_type(padded, block);
  int* blocks = calloc(5 * (size_t)elements + 1, sizeof *blocks);
  int *my_a = blocks, *my_b = my_a + elements, *my_c = my_b + elements, *their_a = my_c + elements,
      *their_b = their_a + elements;
  MPI_Scatterv(a, counts, places, type, my_a, elements, MPI_INT, 0, grid);
  MPI_Scatterv(b, counts, places, type, my_b, elements, MPI_INT, 0, grid);
  for (int k = 0; k < side; ++k) {
    if (mine[1] == k) memcpy(their_a, my_a, (size_t)elements * sizeof *my_a);
    if (mine[0] == k) memcpy(their_b, my_b, (size_t)elements * sizeof *my_b);
    MPI_Bcast(their_a, elements, MPI_INT, k, row);
    MPI_Bcast(their_b, elements, MPI_INT, k, column);
    add_product(their_a, their_b, my_c, block, block, block);
  }
  MPI_Gatherv(my_c, elements, MPI_INT, wide, counts, places, type, 0, grid);
  if (rank == 0) {
    c = memory((size_t)n * (size_t)n * sizeof *c);
    for (int r = 0; r < n; ++r) memcpy(c + r * n, wide + r * padded, (size_t)n * sizeof *c);
  }
  MPI_Type_free(&type);
  MPI_Comm_free(&row);
  MPI_Comm_free(&column);
  MPI_Comm_free(&grid);
  free(counts);
  free(blocks);
  free(a);
  free(b);
  free(wide);
  return c;
}

static int is_right(const int* c, int n) {
  int *a = filled(n, a_at), *b = filled(n, b_at);
  int* expected = calloc((size_t)n * (size_t)n + 1, sizeof *expected);
  add_product(a, b, expected, n, n, n);
  const int same = memcmp(expected, c, (size_t)n * (size_t)n * sizeof *c) == 0;
  free(a);
  free(b);
  free(expected);
  return same;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, size, n = 120, grid = 0, check = 0, known = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (int i = 1; i < argc; ++i) {
    if (strcmp(argv[i], "--grid") == 0) {
      grid = 1;
    } else if (strcmp(argv[i], "--check") == 0) {
      check = 1;
    } else if (strcmp(argv[i], "--size") == 0 && i + 1 < argc) {
      n = atoi(argv[++i]);
    } else {
      known = 0;
    }
  }
  if (!known || n < 1 || n > 4000) {
    if (rank == 0) fprintf(stderr, "usage: matrix_multiply [--size N] [--grid] [--check]   (N up to 4000)\n");
    MPI_Finalize();
    return 2;
  }
  int* c = grid ? multiply_on_grid(n, rank, size) : multiply_by_rows(n, rank, size);
  int right = 1;
  if (rank == 0) {
    long trace = 0;
    for (int i = 0; i < n; ++i) trace += c[i * n + i];
    printf("%d x %d, by %s: the diagonal's sum is %ld\n", n, n, grid ? "blocks on a grid" : "rows", trace);
    if (check) {
      right = is_right(c, n);
      printf(right ? "the same as the serial product\n" : "WRONG\n");
    }
  }
  free(c);
  MPI_Finalize();
  return right ? 0 : 1;
}
