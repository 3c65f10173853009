// Two-dimensional heat diffusion: a plain MPI program, which runs under any MPI.
//
//   mpicc -O2 -o heat2d heat2d.c
//   mpiexec -n 4 ./heat2d --input data/heat_start.pgm --output heat_end.ppm --check
//
// Rank 0 reads the start temperatures from a grey image (PGM, binary). The image is divided into a grid of blocks, one
// for each rank. In each step every rank exchanges its borders with its four neighbours (rows are contiguous, columns
// use a vector datatype) and then moves each inner point towards the mean of its neighbours. The image's own border
// keeps its temperature. Every 20 steps all ranks determine the largest change (Allreduce), and stop when it is small.
// Rank 0 collects the blocks and writes a coloured image (PPM).
//
// A step reads old values only (Jacobi), so the result does not depend on the division into blocks, down to the last
// bit. With --check rank 0 computes the same steps alone and compares the results.
#include <math.h>
#include <mpi.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kTagNorth = 1, kTagSouth, kTagWest, kTagEast, kTagBlock, kStepsPerCheck = 20 };

struct Options {
  const char* input;
  const char* output;
  int steps;
  double tolerance;
  int check;
};

// A rectangle of the image with a border of one point on each side: the halo, or the image's fixed edge.
struct Block {
  // Position of the first inner point in the image.
  int x, y;
  // Inner points.
  int width, height;
  double* old_values;
  double* new_values;
};

struct Grid {
  // Columns and rows of blocks.
  int rank, columns, rows;
  // Ranks, or MPI_PROC_NULL at the image's edge.
  int north, south, west, east;
  int image_width, image_height;
};

static void die(const char* what, const char* which) {
  fprintf(stderr, "heat2d: %s%s%s\n", what, which ? ": " : "", which ? which : "");
  MPI_Abort(MPI_COMM_WORLD, 2);
}

static double* doubles(size_t count) {
  double* memory = calloc(count, sizeof *memory);
  if (memory == NULL) die("no memory", NULL);
  return memory;
}

static size_t stride_of(const struct Block* block) {
  return (size_t)block->width + 2;
}

// Index of a point: inner points are 0 … width−1, 0 … height−1; −1 and width or height are the border.
static size_t at(const struct Block* block, int x, int y) {
  return (size_t)(y + 1) * stride_of(block) + (size_t)(x + 1);
}

// The first of `length` points in part `index` of `parts`.
static int part_begin(int length, int parts, int index) {
  return (int)((long)length * index / parts);
}

// The grid of blocks with the shortest borders for this many ranks.
static struct Grid make_grid(int ranks, int width, int height) {
  struct Grid grid = {0, ranks, 1, 0, 0, 0, 0, width, height};
  double shortest = INFINITY;
  for (int columns = 1; columns <= ranks; ++columns) {
    if (ranks % columns != 0) continue;
    const int rows = ranks / columns;
    const double border = (double)height * (columns - 1) + (double)width * (rows - 1);
    if (border < shortest && columns <= width - 2 && rows <= height - 2) {
      shortest = border;
      grid.columns = columns;
      grid.rows = rows;
    }
  }
  if (shortest == INFINITY) die("more ranks than the image can be cut for", NULL);
  return grid;
}

static void place(struct Grid* grid, int rank) {
  const int column = rank % grid->columns, row = rank / grid->columns;
  grid->rank = rank;
  grid->north = row > 0 ? rank - grid->columns : MPI_PROC_NULL;
  grid->south = row < grid->rows - 1 ? rank + grid->columns : MPI_PROC_NULL;
  grid->west = column > 0 ? rank - 1 : MPI_PROC_NULL;
  grid->east = column < grid->columns - 1 ? rank + 1 : MPI_PROC_NULL;
}

// A rank's block. Only inner points of the image are divided: its outermost frame is fixed.
static struct Block make_block(const struct Grid* grid, int rank) {
  const int column = rank % grid->columns, row = rank / grid->columns;
  const int inner_width = grid->image_width - 2, inner_height = grid->image_height - 2;
  struct Block block;
  block.x = 1 + part_begin(inner_width, grid->columns, column);
  block.y = 1 + part_begin(inner_height, grid->rows, row);
  block.width = 1 + part_begin(inner_width, grid->columns, column + 1) - block.x;
  block.height = 1 + part_begin(inner_height, grid->rows, row + 1) - block.y;
  block.old_values = NULL;
  block.new_values = NULL;
  return block;
}

static void allocate(struct Block* block) {
  const size_t points = stride_of(block) * ((size_t)block->height + 2);
  block->old_values = doubles(points);
  block->new_values = doubles(points);
}

static void release(struct Block* block) {
  free(block->old_values);
  free(block->new_values);
}

// Reads a number from the image's header; comments extend from # to the end of the line.
static int read_number(FILE* file, const char* name) {
  int value = -1, c = fgetc(file);
  while (c == '#' || c == ' ' || c == '\n' || c == '\r' || c == '\t') {
    if (c == '#')
      while (c != '\n' && c != EOF) c = fgetc(file);
    c = fgetc(file);
  }
  ungetc(c, file);
  if (fscanf(file, "%d", &value) != 1 || value <= 0 || value > 32768) die("not a binary PGM image", name);
  return value;
}

// Reads the temperatures of a grey image, one double for each point. The caller frees them.
static double* read_image(const char* name, int* width, int* height) {
  FILE* file = fopen(name, "rb");
  if (file == NULL) die("cannot open", name);
  if (fgetc(file) != 'P' || fgetc(file) != '5') die("not a binary PGM image", name);
  *width = read_number(file, name);
  *height = read_number(file, name);
  if (read_number(file, name) > 255) die("more than 8 bits a point", name);
  fgetc(file);
  if (*width < 3 || *height < 3) die("smaller than 3 by 3 points", name);
  double* values = doubles((size_t)*width * (size_t)*height);
  for (size_t i = 0; i < (size_t)*width * (size_t)*height; ++i) {
    const int c = fgetc(file);
    if (c == EOF) die("the image ends early", name);
    values[i] = c;
  }
  fclose(file);
  return values;
}

static unsigned char shade(double value) {
  return (unsigned char)(value <= 0 ? 0 : value >= 255 ? 255 : value + 0.5);
}

// Black, violet, orange, yellow, white: the colours of a heat camera.
static void write_image(const char* name, const double* values, int width, int height) {
  FILE* file = fopen(name, "wb");
  if (file == NULL) die("cannot write", name);
  fprintf(file, "P6\n%d %d\n255\n", width, height);
  for (size_t i = 0; i < (size_t)width * (size_t)height; ++i) {
    const double t = values[i] / 255;
    const unsigned char colour[3] = {shade(255 * sqrt(t)), shade(255 * t * t * t),
                                     shade(t < 0.5 ? 160 * sin(2 * 3.14159265 * t) : 255 * pow(2 * t - 1, 4))};
    fwrite(colour, 1, 3, file);
  }
  if (fclose(file) != 0) die("cannot write", name);
}

// The datatype of a block with its border inside the whole image.
static MPI_Datatype image_part(const struct Grid* grid, const struct Block* block) {
  MPI_Datatype type;
  MPI_Type_vector(block->height + 2, block->width + 2, grid->image_width, MPI_DOUBLE, &type);
  MPI_Type_commit(&type);
  return type;
}

static double* corner(double* image, const struct Grid* grid, const struct Block* block) {
  return image + (size_t)(block->y - 1) * (size_t)grid->image_width + (size_t)(block->x - 1);
}

// Rank 0 sends each rank its block, the border included.
static void scatter_image(const struct Grid* grid, int ranks, double* image, struct Block* mine) {
  const int points = (mine->width + 2) * (mine->height + 2);
  MPI_Request request;
  MPI_Irecv(mine->old_values, points, MPI_DOUBLE, 0, kTagBlock, MPI_COMM_WORLD, &request);
  for (int rank = 0; grid->rank == 0 && rank < ranks; ++rank) {
    const struct Block block = make_block(grid, rank);
    MPI_Datatype part = image_part(grid, &block);
    MPI_Send(corner(image, grid, &block), 1, part, rank, kTagBlock, MPI_COMM_WORLD);
    MPI_Type_free(&part);
  }
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  memcpy(mine->new_values, mine->old_values, sizeof(double) * (size_t)points);
}

// Collects the inner points of all blocks in rank 0's image.
static void collect_image(const struct Grid* grid, int ranks, double* image, const struct Block* mine) {
  MPI_Datatype inner;
  MPI_Request request;
  MPI_Type_vector(mine->height, mine->width, mine->width + 2, MPI_DOUBLE, &inner);
  MPI_Type_commit(&inner);
  MPI_Isend(mine->old_values + at(mine, 0, 0), 1, inner, 0, kTagBlock, MPI_COMM_WORLD, &request);
  for (int rank = 0; grid->rank == 0 && rank < ranks; ++rank) {
    const struct Block block = make_block(grid, rank);
    MPI_Datatype part;
    MPI_Type_vector(block.height, block.width, grid->image_width, MPI_DOUBLE, &part);
    MPI_Type_commit(&part);
    MPI_Recv(corner(image, grid, &block) + grid->image_width + 1, 1, part, rank, kTagBlock, MPI_COMM_WORLD,
             MPI_STATUS_IGNORE);
    MPI_Type_free(&part);
  }
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Type_free(&inner);
}

static void exchange_halo(const struct Grid* grid, struct Block* block, MPI_Datatype column) {
  double* values = block->old_values;
  const int w = block->width, h = block->height;
  MPI_Request requests[8];
  MPI_Irecv(values + at(block, 0, -1), w, MPI_DOUBLE, grid->north, kTagSouth, MPI_COMM_WORLD, &requests[0]);
  MPI_Irecv(values + at(block, 0, h), w, MPI_DOUBLE, grid->south, kTagNorth, MPI_COMM_WORLD, &requests[1]);
  MPI_Irecv(values + at(block, -1, 0), 1, column, grid->west, kTagEast, MPI_COMM_WORLD, &requests[2]);
  MPI_Irecv(values + at(block, w, 0), 1, column, grid->east, kTagWest, MPI_COMM_WORLD, &requests[3]);
  MPI_Isend(values + at(block, 0, 0), w, MPI_DOUBLE, grid->north, kTagNorth, MPI_COMM_WORLD, &requests[4]);
  MPI_Isend(values + at(block, 0, h - 1), w, MPI_DOUBLE, grid->south, kTagSouth, MPI_COMM_WORLD, &requests[5]);
  MPI_Isend(values + at(block, 0, 0), 1, column, grid->west, kTagWest, MPI_COMM_WORLD, &requests[6]);
  MPI_Isend(values + at(block, w - 1, 0), 1, column, grid->east, kTagEast, MPI_COMM_WORLD, &requests[7]);
  MPI_Waitall(8, requests, MPI_STATUSES_IGNORE);
}

// One step of the whole block. Returns the largest change of a point.
static double diffuse(struct Block* block) {
  const size_t stride = stride_of(block);
  double largest = 0;
  for (int y = 0; y < block->height; ++y)
    for (int x = 0; x < block->width; ++x) {
      const double* p = block->old_values + at(block, x, y);
      const double change = 0.2 * ((p[-1] + p[1]) + (p[-(ptrdiff_t)stride] + p[stride]) - 4 * p[0]);
      block->new_values[at(block, x, y)] = p[0] + change;
      if (fabs(change) > largest) largest = fabs(change);
    }
  double* swap = block->old_values;
  block->old_values = block->new_values;
  block->new_values = swap;
  return largest;
}

// Steps until the changes are small. Returns their number. Both buffers begin with the same border, so each has the
// image's fixed edge.
static int run(const struct Grid* grid, struct Block* block, const struct Options* options) {
  MPI_Datatype column;
  MPI_Type_vector(block->height, 1, block->width + 2, MPI_DOUBLE, &column);
  MPI_Type_commit(&column);
  int step = 0;
  double largest = INFINITY;
  while (step < options->steps && largest > options->tolerance) {
    exchange_halo(grid, block, column);
    const double mine = diffuse(block);
    if (++step % kStepsPerCheck == 0) MPI_Allreduce(&mine, &largest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  }
  MPI_Type_free(&column);
  return step;
}

// Whether the same steps on the whole image, by one rank without messages, give another result.
static int differs_from_serial(const double* start, const double* end, int width, int height, int steps) {
  struct Grid grid = make_grid(1, width, height);
  struct Block all = make_block(&grid, 0);
  allocate(&all);
  const size_t bytes = sizeof(double) * (size_t)width * (size_t)height;
  memcpy(all.old_values, start, bytes);
  memcpy(all.new_values, start, bytes);
  for (int i = 0; i < steps; ++i) diffuse(&all);
  const int differs = memcmp(all.old_values, end, bytes) != 0;
  release(&all);
  return differs;
}

static struct Options parse(int argc, char** argv) {
  struct Options options = {NULL, NULL, 200, 0.01, 0};
  for (int i = 1; i < argc; ++i) {
    const char* value = i + 1 < argc ? argv[i + 1] : NULL;
    if (strcmp(argv[i], "--check") == 0) {
      options.check = 1;
      continue;
    }
    if (value == NULL) die("a value is missing after", argv[i]);
    if (strcmp(argv[i], "--input") == 0)
      options.input = value;
    else if (strcmp(argv[i], "--output") == 0)
      options.output = value;
    else if (strcmp(argv[i], "--steps") == 0)
      options.steps = atoi(value);
    else if (strcmp(argv[i], "--tolerance") == 0)
      options.tolerance = atof(value);
    else
      die("unknown option (there are --input FILE, --output FILE, --steps N, --tolerance T, --check)", argv[i]);
    ++i;
  }
  if (options.input == NULL) die("--input FILE.pgm is needed", NULL);
  return options;
}

// Prints rank 0's result. Returns the exit status.
static int report(const struct Options* options, const struct Grid* grid, const double* start, const double* end,
                  int steps) {
  const int width = grid->image_width, height = grid->image_height;
  printf("heat2d: %dx%d points in %dx%d blocks, %d steps\n", width, height, grid->columns, grid->rows, steps);
  if (options->output != NULL) write_image(options->output, end, width, height);
  if (!options->check) return 0;
  const int differs = differs_from_serial(start, end, width, height, steps);
  printf("heat2d: %s\n", differs ? "DIFFERS from the serial result" : "the same bits as the serial result");
  return differs;
}

int main(int argc, char** argv) {
  int rank = -1, ranks = -1, shape[2] = {0, 0}, status = 0;
  double* start = NULL;
  double* end = NULL;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const struct Options options = parse(argc, argv);
  if (rank == 0) start = read_image(options.input, &shape[0], &shape[1]);
  MPI_Bcast(shape, 2, MPI_INT, 0, MPI_COMM_WORLD);
  struct Grid grid = make_grid(ranks, shape[0], shape[1]);
  place(&grid, rank);
  struct Block block = make_block(&grid, rank);
  allocate(&block);
  scatter_image(&grid, ranks, start, &block);
  const int steps = run(&grid, &block, &options);
  if (rank == 0) {
    const size_t points = (size_t)shape[0] * (size_t)shape[1];
    end = doubles(points);
    memcpy(end, start, sizeof(double) * points);
  }
  collect_image(&grid, ranks, end, &block);
  if (rank == 0) status = report(&options, &grid, start, end, steps);
  release(&block);
  free(start);
  free(end);
  MPI_Finalize();
  return status;
}
