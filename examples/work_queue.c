// A work queue for tasks of uneven size, by a counter that all ranks share: a free rank takes the next task, without a
// master. The tasks: for each row of points c of the plane, for how many steps z -> z^2 + c stays near 0 (Mandelbrot).
//
//   work_queue [ROWS]
//
// Steps:
//   1. Rank 0 exposes the number of the next task. MPI_Fetch_and_op with MPI_SUM reads and increments it atomically, so
//      no task is taken twice or skipped, even if several ranks ask at once. Rank 0 need not answer; it works, too.
//   2. Each rank puts its results into rank 0's window, row by row: no two ranks write to the same place.
//   3. MPI_Win_unlock_all completes the puts; after the barrier rank 0 has all of them.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { kColumns = 64, kSteps = 2000 };

static int steps_of(int row, int rows, int column) {
  const double re = -2.0 + 3.0 * column / kColumns, im = -1.2 + 2.4 * row / rows;
  double x = 0, y = 0;
  int steps = 0;
  for (; steps < kSteps && x * x + y * y < 4; ++steps) {
    const double next = x * x - y * y + re;
    y = 2 * x * y + im;
    x = next;
  }
  return steps;
}

// Window of rank 0: [0] the next task, [1 ...] the rows of results. Returns the number of tasks that this rank did.
static int work(MPI_Win win, int rows) {
  const int one = 1;
  int task = 0, done = 0, results[kColumns];
  for (;; ++done) {
    MPI_Fetch_and_op(&one, &task, MPI_INT, 0, 0, MPI_SUM, win);
    MPI_Win_flush(0, win);  // `task` is valid
    if (task >= rows) return done;
    for (int i = 0; i < kColumns; ++i) results[i] = steps_of(task, rows, i);
    MPI_Put(results, kColumns, MPI_INT, 0, 1 + (MPI_Aint)task * kColumns, kColumns, MPI_INT, win);
    MPI_Win_flush_local(0, win);  // `results` may be used again
  }
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int rows = argc > 1 ? atoi(argv[1]) : 200;
  int rank = 0, size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int words = rank == 0 ? 1 + rows * kColumns : 0;
  int* memory = NULL;
  MPI_Win win;
  MPI_Win_allocate(words * (MPI_Aint)sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
  MPI_Win_lock_all(0, win);
  for (int i = 0; i < words; ++i) memory[i] = i == 0 ? 0 : -1;
  MPI_Win_sync(win);
  MPI_Barrier(MPI_COMM_WORLD);

  const int done = work(win, rows);
  MPI_Win_unlock_all(win);
  int all = 0, wrong = 0;
  MPI_Reduce(&done, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);  // after it all results have arrived

  if (rank == 0) {
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
    // Each rank's last request returned no task.
    wrong = all != rows || memory[0] != rows + size;
    for (int i = 0; i < rows * kColumns; ++i) wrong += memory[1 + i] != steps_of(i / kColumns, rows, i % kColumns);
    MPI_Win_unlock(0, win);
    printf("%d ranks did %d tasks, rank 0 %d of them\n", size, all, done);
    if (wrong == 0)
      puts("every task was done once, and rightly");
    else
      printf("%d results are wrong\n", wrong);
  }
  MPI_Win_free(&win);
  MPI_Finalize();
  return wrong != 0;
}
