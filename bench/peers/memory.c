// A measurement of the memory of an idle rank: after MPI_Init and a barrier every rank sleeps, then reads its resident
// memory. Compiled with -DBARE and no MPI it is the bare C program for comparison.
// Lines of each rank: "resident SIZE VALUE KiB" (shared pages counted in full), "proportional SIZE VALUE KiB" (shared
// pages divided by their users), "peak SIZE VALUE KiB" (the most resident memory so far), where SIZE is the number of
// ranks.
#include <stdio.h>

#ifndef BARE
#include <mpi.h>
#endif

#include "common.h"

static long line_of(const char* file, const char* key) {
  char line[256];
  long kib = -1, value = 0;
  char format[64];
  snprintf(format, sizeof format, "%s %%ld kB", key);
  FILE* in = fopen(file, "r");
  if (in == NULL) fail("a file in /proc/self cannot be read");
  while (fgets(line, sizeof line, in) != NULL) {
    if (sscanf(line, format, &value) == 1) kib = value;
  }
  fclose(in);
  return kib;
}

int main(int argc, char** argv) {
  int size = 1;
#ifdef BARE
  (void)argc;
  (void)argv;
#else
  MPI_Init(&argc, &argv);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Barrier(MPI_COMM_WORLD);
#endif
  nap(300);
  const long resident = line_of("/proc/self/smaps_rollup", "Rss:");
  const long proportional = line_of("/proc/self/smaps_rollup", "Pss:");
  const long peak = line_of("/proc/self/status", "VmHWM:");
  nap(300);  // until all have read: the end of a rank would leave its shared pages to the others
  report("resident", size, (double)resident, "KiB");
  report("proportional", size, (double)proportional, "KiB");
  report("peak", size, (double)peak, "KiB");
#ifndef BARE
  MPI_Finalize();
#endif
  return 0;
}
