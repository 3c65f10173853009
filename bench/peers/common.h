// The common part of the benchmark programs that needs no MPI: time, processors, buffers, arguments, statistics,
// output.
#ifndef MARGAY_BENCH_PEERS_COMMON_H
#define MARGAY_BENCH_PEERS_COMMON_H

#include <stddef.h>
#include <sys/types.h>

enum { kSizesMax = 64, kPageBytes = 4096 };

// The arguments of every program: [--mode NAME] [--sizes A,B,C] [--seconds S] [--block B] [--processes N]
// [--file F]. Missing arguments leave their fields unchanged.
struct Options {
  const char* mode;
  long sizes[kSizesMax];
  int size_count;
  double seconds;    // approximate duration for each size
  long block;        // bytes of a vector's block; 0: contiguous
  long processes;    // number of processes that a program without MPI starts
  const char* file;  // by which two jobs meet
};
void read_options(int argc, char** argv, struct Options* options);

double now_s(void);
void nap(long milliseconds);

// Pins the calling thread to the `index`th of the processors that the process could use initially.
void pin_to(int index);
// Removes the pinning.
void unpin(void);
// The number of processors that the process could use initially.
int processors(void);

// Page-aligned, every page written. Never NULL: on failure the program ends with a message.
char* new_buffer(size_t bytes);
// A pattern that differs from seed to seed and from byte to byte; and the check, which on failure ends the program with
// a message.
void fill_pattern(char* buffer, size_t bytes, unsigned seed);
void check_pattern(const char* buffer, size_t bytes, unsigned seed, const char* what);

// Prints "what" and ends the process with status 1.
void fail(const char* what);

// A child that runs `work`, which never returns, on the `processor`th processor (-1: on any) until end_child() or the
// end of this process. Its memory is a copy of this process's, at the same addresses.
pid_t start_child(void (*work)(void* state), void* state, int processor);
void end_child(pid_t child);
// Zeroed memory that children share; never NULL.
void* new_shared(size_t bytes);

// One step, repeated `count` times; returns the duration in seconds.
typedef double (*Step)(void* state, long count);
// Returns rank 0's value on all ranks, after all have called.
typedef long (*Agree)(long value);
long alone(long value);  // of a program of one process: returns its argument

// The median of `count` values, which it sorts.
double median_of(double* values, int count);

// The seconds of one step: the median over batches, which together take about `seconds`. The first batches, which also
// find how many steps make a batch, do not count. All ranks call it; the value is rank 0's.
double time_of_step(Step step, void* state, double seconds, Agree agree);

// One result line: case, size, value, unit. Flushed, so that a program that is ended later keeps it.
void report(const char* name, long size, double value, const char* unit);

#endif
