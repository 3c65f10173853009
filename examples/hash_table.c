// A hash table distributed over the memory of all ranks: a rank inserts keys without the owner's help.
//
//   hash_table [KEYS of each rank]
//
// Method:
//   1. MPI_Win_allocate: each rank contributes a part of the table, slots of a key and a count. A hash of the key
//      determines the first slot to try, and the rank that owns it.
//   2. A rank claims a slot for a key by MPI_Compare_and_swap: "if the slot is free (0), it is mine now". If several
//      ranks try at once, exactly one succeeds. The function returns the former contents: free, or the same key
//      (another rank was faster, which is as good), or another key. In the last case the rank tries the next slot.
//   3. The slot's key never changes again, so its count can be raised by a plain MPI_Accumulate.
// There is no mutual exclusion: lock_all only begins the epoch in which the others' memory may be accessed.
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

// Words of a slot; number of different keys.
enum { kWords = 2, kDifferent = 500 };

struct Table {
  MPI_Win win;
  // This rank's slots: key, count, key, count, ...
  int64_t* mine;
  // The number of slots of each rank, and the number of ranks.
  int slots, size;
};

static uint64_t hash(uint64_t x) {  // SplitMix64
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

// Key number i of a rank, never 0. Many keys occur on several ranks.
static int64_t key_of(int rank, int i) {
  return 1 + (int64_t)(hash((uint64_t)rank << 32 | (uint64_t)i) % kDifferent);
}

// Adds 1 to the key's count. Returns the number of slots examined, 0 if the table is full.
static int count_key(const struct Table* table, int64_t key) {
  const int64_t free_slot = 0, one = 1;
  const uint64_t all = (uint64_t)table->slots * (uint64_t)table->size;
  uint64_t slot = hash((uint64_t)key) % all;
  for (uint64_t tries = 1; tries <= all; ++tries, slot = (slot + 1) % all) {
    const int owner = (int)(slot / (uint64_t)table->slots);
    const MPI_Aint at = (MPI_Aint)(slot % (uint64_t)table->slots) * kWords;
    int64_t found = -1;
    MPI_Compare_and_swap(&key, &free_slot, &found, MPI_INT64_T, owner, at, table->win);
    // Completes the swap, so `found` is valid.
    MPI_Win_flush(owner, table->win);
    if (found != free_slot && found != key) continue;
    MPI_Accumulate(&one, 1, MPI_INT64_T, owner, at + 1, 1, MPI_INT64_T, MPI_SUM, table->win);
    // Local completion suffices: `one` may leave its scope.
    MPI_Win_flush_local(owner, table->win);
    return (int)tries;
  }
  return 0;
}

// Every rank can compute the keys of all ranks: each must be in one slot, with the right count. Returns the number of
// errors.
static int check(const struct Table* table, int keys) {
  int expected[kDifferent + 1] = {0}, counted[kDifferent + 1] = {0}, slots[kDifferent + 1] = {0}, wrong = 0;
  for (int rank = 0; rank < table->size; ++rank) {
    for (int i = 0; i < keys; ++i) ++expected[key_of(rank, i)];
  }
  for (int i = 0; i < table->slots; ++i) {
    const int64_t key = table->mine[i * kWords];
    if (key == 0) continue;
    counted[key] += (int)table->mine[i * kWords + 1];
    ++slots[key];
  }
  MPI_Allreduce(MPI_IN_PLACE, counted, kDifferent + 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Allreduce(MPI_IN_PLACE, slots, kDifferent + 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  for (int key = 1; key <= kDifferent; ++key)
    wrong += counted[key] != expected[key] || slots[key] != (expected[key] > 0);
  return wrong;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int keys = argc > 1 ? atoi(argv[1]) : 2000;
  struct Table table = {.size = 1};
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &table.size);
  // Half of the slots stay free, which keeps searches short.
  table.slots = 2 * kDifferent / table.size + 1;
  MPI_Win_allocate(table.slots * kWords * (MPI_Aint)sizeof(int64_t), sizeof(int64_t), MPI_INFO_NULL, MPI_COMM_WORLD,
                   &table.mine, &table.win);
  MPI_Win_lock_all(0, table.win);
  for (int i = 0; i < table.slots * kWords; ++i) table.mine[i] = 0;
  MPI_Win_sync(table.win);
  // All slots of all ranks are initialised.
  MPI_Barrier(MPI_COMM_WORLD);

  long looked = 0, all_looked = 0;
  int full = 0;
  for (int i = 0; i < keys; ++i) {
    const int tries = count_key(&table, key_of(rank, i));
    looked += tries;
    full |= tries == 0;
  }
  // Completes this rank's accumulates at their targets. After the barrier the accumulates of all ranks are complete.
  MPI_Win_unlock_all(table.win);
  MPI_Barrier(MPI_COMM_WORLD);

  MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, table.win);
  const int wrong = check(&table, keys) + full;
  MPI_Win_unlock(rank, table.win);
  MPI_Reduce(&looked, &all_looked, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) {
    printf("%d ranks counted %d keys each; a key was found in slot %.2f of its row\n", table.size, keys,
           (double)all_looked / ((double)keys * table.size));
    if (wrong == 0)
      puts("every key is there once, with its number");
    else
      printf("%d keys are wrong\n", wrong);
  }
  MPI_Win_free(&table.win);
  MPI_Finalize();
  return wrong != 0;
}
