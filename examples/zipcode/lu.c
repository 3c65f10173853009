/* LU factorization with partial pivoting on a grid of processes: P A = L U, and the solution of A x = b.
 *
 *   lu [N [P Q]]      default: N = 200, and the most square grid of all processes
 *
 * Element (i, j) of the matrix lies on process (i mod P, j mod Q) of a G2 mailer, so that all processes have work until
 * the end. Step k:
 *
 *   1. The column of processes that has column k of the matrix finds the pivot: g2_col_combine() with a method of this
 *      program, which keeps the larger value and its row.
 *   2. g2_row_fanout() passes the pivot's row to the other columns of processes.
 *   3. Each column of processes exchanges rows k and pivot between two of its members: a row is strided in memory,
 * which an invoice packs (g1_pack_send() on the column's mailer).
 *   4. g2_col_fanout() sends row k down each column, and g2_row_fanout() the multipliers along each row; then every
 *      process updates its part of the rest.
 *
 * Letters of the exchange, fan-outs of rows and of columns cannot be mixed up: rows, columns and the grid are mailers
 * with contexts of their own. The program checks the factors against serial code: equal pivots, the difference, the
 * residual of P A - L U, and that of the solution. Exit status 1 if one of them is wrong. */
#include <float.h>
#include <margay/zipcode.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct pivot {
  double magnitude;
  int row;
};
/* Between equal values the upper row, as in serial code. */
static struct pivot better_pivot(struct pivot a, struct pivot b) {
  const int takes_b = b.magnitude > a.magnitude || (b.magnitude == a.magnitude && b.row < a.row);
  return takes_b ? b : a;
}
ZIP_COMBINE_METHOD(largest_pivot, struct pivot, a, b, better_pivot(a, b));

/* A process's part of the matrix, column after column: element (i, j) is at [j / Q * rows + i / P]. */
struct part {
  ZIP_MAILER* grid;
  int n, P, Q, p, q;
  int rows, columns;
  double* a;
};

static void* memory(size_t bytes) {
  void* made = malloc(bytes > 0 ? bytes : 1);
  if (made == NULL) {
    fprintf(stderr, "lu: no memory for %zu bytes\n", bytes);
    exit(2);
  }
  return made;
}

/* The test matrix: pseudorandom numbers in [-1, 1), from the indices alone, so that each process makes its own part. */
static double element(int i, int j) {
  unsigned long long x = 0x9e3779b97f4a7c15ULL * (unsigned)(i + 1) + 0xd1b54a32d192ed03ULL * (unsigned)(j + 1);
  x = (x ^ (x >> 31)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 29)) * 0x94d049bb133111ebULL;
  return (double)((x ^ (x >> 32)) >> 11) / (double)(1ULL << 52) - 1.0;
}

static double* at(const struct part* part, int i, int j) {
  return &part->a[(size_t)(j / part->Q) * (size_t)part->rows + (size_t)(i / part->P)];
}

/* The first of this process's rows from row k on, as a local number; and the first of its columns from column k on. */
static int first_row(const struct part* part, int k) {
  return (k - part->p + part->P - 1) / part->P;
}
static int first_column(const struct part* part, int k) {
  return (k - part->q + part->Q - 1) / part->Q;
}

/* The row of the largest element of column k, from row k on. */
static int find_pivot(const struct part* part, int k) {
  int row = 0, *chosen = &row, length = sizeof row;
  if (part->q == k % part->Q) {
    struct pivot best = {-1, part->n};
    int r;
    for (r = first_row(part, k); r < part->rows; ++r) {
      const struct pivot mine = {fabs(part->a[(size_t)(k / part->Q) * (size_t)part->rows + (size_t)r]),
                                 r * part->P + part->p};
      best = better_pivot(best, mine);
    }
    g2_col_combine(part->grid, &best, largest_pivot, (int)sizeof best, 1);
    row = best.row;
  }
  g2_row_fanout(part->grid, (void**)&chosen, &length, k % part->Q);
  return row;
}

/* Exchanges two rows of the matrix: inside a process, or between two of its column. */
static void exchange_rows(const struct part* part, int one, int other) {
  const int mine = part->p == one % part->P ? one : other;
  const int peer = part->p == one % part->P ? other % part->P : one % part->P;
  ZIP_MAILER* column = g2_col(part->grid);
  int j;
  if (one == other) return;
  if (one % part->P == other % part->P) {
    if (part->p != peer) return;
    for (j = part->q; j < part->n; j += part->Q) {
      const double kept = *at(part, one, j);
      *at(part, one, j) = *at(part, other, j);
      *at(part, other, j) = kept;
    }
  } else if (part->p == one % part->P || part->p == other % part->P) {
    Zip_Invoice* row;
    char* letter;
    zip_new_invoice(&row, "%*.*d", part->columns, part->rows, &part->a[mine / part->P]);
    g1_pack_send(column, peer, row);
    letter = g1_recvb(column, peer);
    zip_unpack(column, row, ZIP_LETTER, letter);
    g1_free_letter(column, letter);
    zip_free_invoice(&row);
  }
}

/* Computes the multipliers, and updates the rest of the matrix. `row` and `column` have room for a process's part of
 * row k and of column k. */
static void eliminate(const struct part* part, int k, double* row, double* column) {
  const int r0 = first_row(part, k + 1), c0 = first_column(part, k), rows = part->rows - r0,
            columns = part->columns - c0;
  int length = columns * (int)sizeof(double), r, c;
  void* data = row;
  if (part->p == k % part->P)
    for (c = 0; c < columns; ++c) row[c] = part->a[(size_t)(c0 + c) * (size_t)part->rows + (size_t)(k / part->P)];
  g2_col_fanout(part->grid, &data, &length, k % part->P);
  /* The process that has column k also has the pivot, as the first element of its row. */
  if (part->q == k % part->Q) {
    double* multipliers = &part->a[(size_t)c0 * (size_t)part->rows + (size_t)r0];
    for (r = 0; r < rows; ++r) column[r] = multipliers[r] = multipliers[r] / row[0];
  }
  length = rows * (int)sizeof(double);
  data = column;
  g2_row_fanout(part->grid, &data, &length, k % part->Q);
  for (c = part->q == k % part->Q; c < columns; ++c) {
    double* below = &part->a[(size_t)(c0 + c) * (size_t)part->rows + (size_t)r0];
    for (r = 0; r < rows; ++r) below[r] -= column[r] * row[c];
  }
}

static void factorize(const struct part* part, int* pivots) {
  double* row = memory(sizeof(double) * (size_t)(part->columns + 1));
  double* column = memory(sizeof(double) * (size_t)(part->rows + 1));
  int k;
  for (k = 0; k < part->n; ++k) {
    pivots[k] = find_pivot(part, k);
    exchange_rows(part, k, pivots[k]);
    eliminate(part, k, row, column);
  }
  free(row);
  free(column);
}

/* The whole matrix, row after row, at process (0, 0): each process sends its part as a letter. */
static double* gather(const struct part* part) {
  const size_t n = (size_t)part->n;
  const int bytes = (int)sizeof(double) * part->rows * part->columns;
  char* letter = g2_new_letter(part->grid, bytes);
  double* whole;
  int p, q, i, j;
  memcpy(letter, part->a, (size_t)bytes);
  g2_send(part->grid, letter, 0, 0);
  if (part->p != 0 || part->q != 0) return NULL;
  whole = memory(sizeof(double) * n * n);
  for (p = 0; p < part->P; ++p) {
    for (q = 0; q < part->Q; ++q) {
      const int rows = (part->n - p + part->P - 1) / part->P;
      const double* its = (const double*)(letter = g2_recvb(part->grid, p, q));
      for (j = q; j < part->n; j += part->Q)
        for (i = p; i < part->n; i += part->P) whole[(size_t)i * n + (size_t)j] = its[j / part->Q * rows + i / part->P];
      g2_free_letter(part->grid, letter);
    }
  }
  return whole;
}

/* --- Serial code, for the check. --- */

static double* test_matrix(int n) {
  double* a = memory(sizeof(double) * (size_t)n * (size_t)n);
  int i, j;
  for (i = 0; i < n; ++i)
    for (j = 0; j < n; ++j) a[(size_t)i * (size_t)n + (size_t)j] = element(i, j);
  return a;
}

static void swap_rows(double* a, size_t n, int one, int other) {
  size_t j;
  for (j = 0; one != other && j < n; ++j) {
    const double kept = a[(size_t)one * n + j];
    a[(size_t)one * n + j] = a[(size_t)other * n + j];
    a[(size_t)other * n + j] = kept;
  }
}

static void factorize_serially(double* a, int size, int* pivots) {
  const size_t n = (size_t)size;
  size_t i, j, k;
  for (k = 0; k < n; ++k) {
    size_t best = k;
    for (i = k + 1; i < n; ++i)
      if (fabs(a[i * n + k]) > fabs(a[best * n + k])) best = i;
    pivots[k] = (int)best;
    swap_rows(a, n, (int)k, (int)best);
    for (i = k + 1; i < n; ++i) {
      a[i * n + k] /= a[k * n + k];
      for (j = k + 1; j < n; ++j) a[i * n + j] -= a[i * n + k] * a[k * n + j];
    }
  }
}

/* The largest element of |P A - L U|, as a multiple of n eps: all elements of A are at most 1. */
static double factor_residual(const double* lu, const int* pivots, int size) {
  const size_t n = (size_t)size;
  double* a = test_matrix(size);
  double most = 0;
  size_t i, j, k;
  for (k = 0; k < n; ++k) swap_rows(a, n, (int)k, pivots[k]);
  for (i = 0; i < n; ++i) {
    for (j = 0; j < n; ++j) {
      double sum = i <= j ? lu[i * n + j] : 0;
      for (k = 0; k < i && k <= j; ++k) sum += lu[i * n + k] * lu[k * n + j];
      if (!(fabs(sum - a[i * n + j]) <= most)) most = fabs(sum - a[i * n + j]);
    }
  }
  free(a);
  return most / (size * DBL_EPSILON);
}

/* Solves A x = b with b = A (1, ..., 1), and returns the largest element of |A x - b|, divided by n^2 eps max |x|. */
static double solution_residual(const double* lu, const int* pivots, int size) {
  const size_t n = (size_t)size;
  double *a = test_matrix(size), *b = memory(sizeof(double) * n), *x = memory(sizeof(double) * n), most = 0,
         largest = 0;
  size_t i, j;
  for (i = 0; i < n; ++i)
    for (b[i] = 0, j = 0; j < n; ++j) b[i] += a[i * n + j];
  memcpy(x, b, sizeof(double) * n);
  for (i = 0; i < n; ++i) {
    const double kept = x[i];
    x[i] = x[pivots[i]];
    x[pivots[i]] = kept;
  }
  for (i = 0; i < n; ++i)
    for (j = 0; j < i; ++j) x[i] -= lu[i * n + j] * x[j];
  for (i = n; i-- > 0;) {
    for (j = i + 1; j < n; ++j) x[i] -= lu[i * n + j] * x[j];
    x[i] /= lu[i * n + i];
    if (fabs(x[i]) > largest) largest = fabs(x[i]);
  }
  for (i = 0; i < n; ++i) {
    double rest = -b[i];
    for (j = 0; j < n; ++j) rest += a[i * n + j] * x[j];
    if (!(fabs(rest) <= most)) most = fabs(rest);
  }
  free(a);
  free(b);
  free(x);
  return most / ((double)size * size * DBL_EPSILON * largest);
}

/* Whether the factors are those of serial code. */
static int check(const struct part* part, const double* lu, const int* pivots) {
  const size_t elements = (size_t)part->n * (size_t)part->n;
  double *serial = test_matrix(part->n), difference = 0;
  int* its = memory(sizeof(int) * (size_t)part->n);
  double residual, solution;
  size_t i;
  int is_right;
  factorize_serially(serial, part->n, its);
  for (i = 0; i < elements; ++i)
    if (!(fabs(serial[i] - lu[i]) <= difference)) difference = fabs(serial[i] - lu[i]);
  residual = factor_residual(lu, pivots, part->n);
  solution = solution_residual(lu, pivots, part->n);
  /* The growth of elements under partial pivoting is small for such matrices; 10 is far above it. */
  is_right =
      memcmp(its, pivots, sizeof(int) * (size_t)part->n) == 0 && difference <= 1e-12 && residual < 10 && solution < 10;
  printf("lu: n %d, grid %d x %d: residual %.3f n eps, of the solution %.3f n^2 eps, difference from serial %.1e: %s\n",
         part->n, part->P, part->Q, residual, solution, difference, is_right ? "right" : "WRONG");
  free(serial);
  free(its);
  return is_right;
}

/* Size and shape from the command line; the same in all processes. */
static void read_arguments(int argc, char** argv, struct part* part) {
  const int nodes = zip_nodes();
  part->n = argc > 1 ? atoi(argv[1]) : 200;
  for (part->P = 1; (part->P + 1) * (part->P + 1) <= nodes; ++part->P) continue;
  while (nodes % part->P != 0) --part->P;
  part->Q = nodes / part->P;
  if (argc > 3) {
    part->P = atoi(argv[2]);
    part->Q = atoi(argv[3]);
  }
  if (part->n < 1 || part->P < 1 || part->Q < 1 || part->P * part->Q != nodes) {
    if (zip_my_node() == 0)
      fprintf(stderr, "usage: lu [N [P Q]] with N > 0 and P * Q = %d, the number of processes\n", nodes);
    zip_exit();
    exit(2);
  }
}

int main(int argc, char** argv) {
  struct part part;
  ZIP_ADDRESSEES* all = NULL;
  double* lu;
  int *pivots, i, j, is_right = 1;
  Zip_nohost_init();
  read_arguments(argc, argv, &part);
  if (zip_my_node() == 0) all = zip_new_cohort(zip_nodes() - 1, COHORT_FIRST_NODE, 0, 1);
  part.grid = g2_grid_open(&part.P, &part.Q, all);
  g2_pq(part.grid, part.p, part.q);
  part.rows = first_row(&part, part.n);
  part.columns = first_column(&part, part.n);
  part.a = memory(sizeof(double) * (size_t)part.rows * (size_t)part.columns);
  for (j = part.q; j < part.n; j += part.Q)
    for (i = part.p; i < part.n; i += part.P) *at(&part, i, j) = element(i, j);
  pivots = memory(sizeof(int) * (size_t)part.n);
  factorize(&part, pivots);
  lu = gather(&part);
  if (lu != NULL) is_right = check(&part, lu, pivots);
  free(lu);
  free(pivots);
  free(part.a);
  if (all != NULL) zip_free_addressees(&all);
  zip_close(&part.grid);
  zip_exit();
  return !is_right;
}
