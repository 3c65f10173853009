// A program that traces one short message through shared memory into a posted receive. Rank 0 records the address of
// each instruction of its MPI_Send, rank 1 those of the MPI_Wait that takes the message, in FOLDER/rank0 and
// FOLDER/rank1: the library's path, then addresses in it, in hexadecimal. tests/mpi/walk.py maps them to functions.
//
//   short_send FOLDER
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>
#include <unistd.h>

enum { kStepsMost = 100000, kSkipped = 77, kTag = 3, kPauseUs = 1000, kWarmRounds = 3, kPathBytes = 512 };

#if defined(__x86_64__) && defined(__linux__)

static unsigned long steps[kStepsMost];
static volatile int count;

static void step(int signal, siginfo_t* info, void* context) {
  (void)signal, (void)info;
  if (count < kStepsMost) steps[count++] = (unsigned long)((ucontext_t*)context)->uc_mcontext.gregs[REG_RIP];
}

// The trap flag: a SIGTRAP after each instruction; the flag is clear in the handler. Below the red zone of 128 bytes.
#define STEP_BY_STEP() \
  __asm__ volatile("sub $128, %%rsp; pushfq; orq $0x100, (%%rsp); popfq; add $128, %%rsp" ::: "memory", "cc")
#define AT_FULL_SPEED() \
  __asm__ volatile("sub $128, %%rsp; pushfq; andq $~0x100, (%%rsp); popfq; add $128, %%rsp" ::: "memory", "cc")

static void write_down(const char* folder, int rank) {
  Dl_info library, at;
  char path[kPathBytes];
  snprintf(path, sizeof path, "%s/rank%d", folder, rank);
  FILE* out = fopen(path, "w");
  if (out == NULL || dladdr((void*)MPI_Send, &library) == 0) MPI_Abort(MPI_COMM_WORLD, 1);
  fprintf(out, "%s\n", library.dli_fname);
  for (int i = 0; i < count; ++i) {
    if (dladdr((void*)steps[i], &at) == 0 || at.dli_fbase != library.dli_fbase) continue;
    fprintf(out, "%lx\n", steps[i] - (unsigned long)library.dli_fbase);
  }
  if (count == kStepsMost || fclose(out) != 0) MPI_Abort(MPI_COMM_WORLD, 1);
}

// Reports this rank's progress to the other by a file, not by MPI. So the message arrives when its receive is posted,
// and the wait begins when the message has arrived.
static void report(const char* folder, const char* what) {
  char path[kPathBytes];
  snprintf(path, sizeof path, "%s/%s", folder, what);
  FILE* out = fopen(path, "w");
  if (out == NULL || fclose(out) != 0) MPI_Abort(MPI_COMM_WORLD, 1);
}

static void await(const char* folder, const char* what) {
  char path[kPathBytes];
  snprintf(path, sizeof path, "%s/%s", folder, what);
  while (access(path, F_OK) != 0) usleep(kPauseUs);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  if (argc != 2) MPI_Abort(MPI_COMM_WORLD, 2);
  int rank = -1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_sigaction = step;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGTRAP, &action, NULL);

  // The first messages of a channel take additional steps, which are complete before the trace.
  char message[8] = "message", got[8] = "";
  MPI_Request request;
  for (int i = 0; i < kWarmRounds; ++i) {
    MPI_Irecv(got, sizeof got, MPI_CHAR, 1 - rank, kTag, MPI_COMM_WORLD, &request);
    MPI_Send(message, sizeof message, MPI_CHAR, 1 - rank, kTag, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  memset(got, 0, sizeof got);
  if (rank == 0) {
    await(argv[1], "posted");
    STEP_BY_STEP();
    MPI_Send(message, sizeof message, MPI_CHAR, 1, kTag, MPI_COMM_WORLD);
    AT_FULL_SPEED();
    report(argv[1], "sent");
  } else {
    MPI_Irecv(got, sizeof got, MPI_CHAR, 0, kTag, MPI_COMM_WORLD, &request);
    report(argv[1], "posted");
    await(argv[1], "sent");
    STEP_BY_STEP();
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    AT_FULL_SPEED();
    if (memcmp(got, message, sizeof got) != 0) MPI_Abort(MPI_COMM_WORLD, 1);
  }
  write_down(argv[1], rank);
  MPI_Finalize();
  return 0;
}

#else

int main(void) {
  return kSkipped;
}

#endif
