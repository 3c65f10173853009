// Sample sort: each rank has a part of the keys; afterwards the ranks have them in order, rank 0 the smallest.
//
//   sample_sort [--keys N] [--seed S] [--check]
//
// Steps, with the collective of each:
//   1. Each rank sorts its own keys and takes evenly spaced samples.
//   2. MPI_Allgather: each rank gets all samples, sorts them, and takes size - 1 splitters, the borders between the
//      ranks' parts of the result. All ranks find the same splitters, because all have the same samples.
//   3. A rank's sorted keys form size runs, one for each rank. MPI_Alltoall exchanges their lengths.
//   4. MPI_Alltoallv moves each run to its rank.
//   5. Each rank sorts the keys that it received.
// With enough samples the parts have nearly the same length; the output shows how nearly.
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kSamplesOfRank = 64 };

struct Options {
  // The number of keys of all ranks together.
  long keys;
  uint64_t seed;
  int check;
};

static void* memory(size_t bytes) {
  void* found = malloc(bytes != 0 ? bytes : 1);
  if (found == NULL) {
    fprintf(stderr, "no memory for %zu bytes\n", bytes);
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  return found;
}

// Key number i, independent of the number of ranks: SplitMix64.
static uint64_t key(uint64_t seed, uint64_t i) {
  uint64_t x = seed + (i + 1) * 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

static int compare(const void* a, const void* b) {
  const uint64_t left = *(const uint64_t*)a, right = *(const uint64_t*)b;
  return (left > right) - (left < right);
}

static void sort(uint64_t* keys, int count) {
  qsort(keys, (size_t)count, sizeof *keys, compare);
}

// The number of sorted keys that are at most `border`.
static int count_up_to(const uint64_t* keys, int count, uint64_t border) {
  int low = 0, high = count;
  while (low < high) {
    const int middle = low + (high - low) / 2;
    if (keys[middle] <= border) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

// A rank without keys contributes the highest value, which does not move the splitters down.
static void find_splitters(const uint64_t* keys, int count, int size, uint64_t* splitters) {
  uint64_t mine[kSamplesOfRank];
  for (int i = 0; i < kSamplesOfRank; ++i) {
    mine[i] = count == 0 ? UINT64_MAX : keys[(size_t)i * (size_t)count / kSamplesOfRank];
  }
  const int samples = size * kSamplesOfRank;
  uint64_t* all = memory((size_t)samples * sizeof *all);
  MPI_Allgather(mine, kSamplesOfRank, MPI_UINT64_T, all, kSamplesOfRank, MPI_UINT64_T, MPI_COMM_WORLD);
  sort(all, samples);
  for (int rank = 1; rank < size; ++rank) splitters[rank - 1] = all[rank * kSamplesOfRank];
  free(all);
}

// Moves each run of the sorted keys to its rank. Returns the received keys, sorted.
static uint64_t* exchange(const uint64_t* keys, int count, int size, const uint64_t* splitters, int* received) {
  int* counts = memory(4 * (size_t)size * sizeof *counts);
  int *sent_at = counts + size, *in_counts = sent_at + size, *in_at = in_counts + size;
  int before = 0;
  for (int rank = 0; rank < size; ++rank) {
    const int end = rank + 1 < size ? count_up_to(keys, count, splitters[rank]) : count;
    sent_at[rank] = before;
    counts[rank] = end - before;
    before = end;
  }
  MPI_Alltoall(counts, 1, MPI_INT, in_counts, 1, MPI_INT, MPI_COMM_WORLD);
  *received = 0;
  for (int rank = 0; rank < size; ++rank) {
    in_at[rank] = *received;
    *received += in_counts[rank];
  }
  uint64_t* result = memory((size_t)*received * sizeof *result);
  MPI_Alltoallv(keys, counts, sent_at, MPI_UINT64_T, result, in_counts, in_at, MPI_UINT64_T, MPI_COMM_WORLD);
  sort(result, *received);
  free(counts);
  return result;
}

// Whether no key was lost (by sum and number of all keys), and all are in order, also across ranks.
static int is_sorted(const struct Options* options, const uint64_t* keys, int count, int rank, int size) {
  uint64_t sums[2] = {0, (uint64_t)count}, all[2], expected = 0;
  int in_order = 1;
  for (int i = 0; i < count; ++i) {
    sums[0] += keys[i];
    in_order &= i == 0 || keys[i - 1] <= keys[i];
  }
  MPI_Allreduce(sums, all, 2, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
  for (long i = 0; i < options->keys; ++i) expected += key(options->seed, (uint64_t)i);
  // The largest key of all lower ranks; a rank without keys contributes 0.
  uint64_t mine = count == 0 ? 0 : keys[count - 1], before = 0;
  MPI_Exscan(&mine, &before, 1, MPI_UINT64_T, MPI_MAX, MPI_COMM_WORLD);
  if (rank > 0 && count > 0) in_order &= before <= keys[0];
  int everywhere = 0;
  MPI_Allreduce(&in_order, &everywhere, 1, MPI_INT, MPI_LAND, MPI_COMM_WORLD);
  (void)size;
  return everywhere && all[0] == expected && all[1] == (uint64_t)options->keys;
}

static int read_options(int argc, char** argv, struct Options* options) {
  for (int i = 1; i < argc; ++i) {
    if (strcmp(argv[i], "--check") == 0) {
      options->check = 1;
    } else if (strcmp(argv[i], "--keys") == 0 && i + 1 < argc) {
      options->keys = atol(argv[++i]);
    } else if (strcmp(argv[i], "--seed") == 0 && i + 1 < argc) {
      options->seed = strtoull(argv[++i], NULL, 10);
    } else {
      return 0;
    }
  }
  return options->keys >= 0;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  struct Options options = {.keys = 100000, .seed = 1};
  if (!read_options(argc, argv, &options)) {
    if (rank == 0) fprintf(stderr, "usage: sample_sort [--keys N] [--seed S] [--check]\n");
    MPI_Finalize();
    return 2;
  }
  const long first = options.keys * rank / size, end = options.keys * (rank + 1) / size;
  const int count = (int)(end - first);
  uint64_t* keys = memory((size_t)count * sizeof *keys);
  for (long i = first; i < end; ++i) keys[i - first] = key(options.seed, (uint64_t)i);
  sort(keys, count);
  uint64_t* splitters = memory((size_t)size * sizeof *splitters);
  find_splitters(keys, count, size, splitters);
  int received;
  uint64_t* result = exchange(keys, count, size, splitters, &received);

  int longest;
  MPI_Reduce(&received, &longest, 1, MPI_INT, MPI_MAX, 0, MPI_COMM_WORLD);
  const int sorted = !options.check || is_sorted(&options, result, received, rank, size);
  if (rank == 0) {
    printf("%ld keys on %d ranks, the longest part %.2f of the mean\n", options.keys, size,
           options.keys == 0 ? 1.0 : (double)longest * size / (double)options.keys);
    if (options.check) printf(sorted ? "in order, and none lost\n" : "WRONG\n");
  }
  free(keys);
  free(splitters);
  free(result);
  MPI_Finalize();
  return sorted ? 0 : 1;
}
