// Tests of windows and pieces without sufficient memory: all members get the error, whichever of them lacks the memory,
// and all can continue. Memory that is not accessed takes no physical memory.
//
// ranks: 1 3
// reference: none, it begins windows that are larger than the machine, and ends the job
// compilers: ours
// wires: shm uring
// sanitized: none, a sanitizer has more addresses than the limit leaves
#include "windows.h"

#include <sys/resource.h>

static const MPI_Aint kGiB = (MPI_Aint)1 << 30;

// KiB of a line of /proc/self/status.
static long status(const char* line) {
  FILE* const file = fopen("/proc/self/status", "r");
  char text[256];
  long value = 0;
  while (fgets(text, sizeof text, file) != NULL) {
    if (strncmp(text, line, strlen(line)) == 0) value = atol(text + strlen(line));
  }
  fclose(file);
  return value;
}

enum form { kAllocate, kSharedInOne, kSharedApart, kForms };
static const char* const kNames[kForms] = {"MPI_Win_allocate", "MPI_Win_allocate_shared", "the same, apart"};

static int try_window(enum form form, MPI_Aint bytes, MPI_Comm comm) {
  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, "alloc_shared_noncontig", form == kSharedApart ? "true" : "false");
  char* memory = NULL;
  MPI_Win win = MPI_WIN_NULL;
  const int error = form == kAllocate ? MPI_Win_allocate(bytes, 1, info, comm, &memory, &win)
                                      : MPI_Win_allocate_shared(bytes, 1, info, comm, &memory, &win);
  MPI_Info_free(&info);
  int error_class = MPI_SUCCESS;
  MPI_Error_class(error, &error_class);
  CHECK((error == MPI_SUCCESS) == (win != MPI_WIN_NULL), "%s: class %d, window 0x%x", kNames[form], error_class,
        (unsigned)win);
  if (win != MPI_WIN_NULL) MPI_Win_free(&win);
  return error_class;
}

static void works_after(MPI_Comm comm) {
  for (enum form form = 0; form < kForms; ++form) {
    const int error_class = try_window(form, 100, comm);
    CHECK(error_class == MPI_SUCCESS, "%s of 100 bytes afterwards: class %d", kNames[form], error_class);
  }
}

static void too_much(MPI_Comm comm) {
  int rank = 0, size = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  const MPI_Aint sizes[] = {1000 * 1000 * kGiB, (MPI_Aint)1 << 62, (MPI_Aint)(~(size_t)0 >> 1)};
  for (int i = 0; i < 3; ++i) {
    for (enum form form = 0; form < kForms; ++form) {
      for (int who = 0; who <= size; ++who) {  // in the last round all members
        const int error_class = try_window(form, who == rank || who == size ? sizes[i] : 8, comm);
        CHECK(error_class == MPI_ERR_NO_MEM, "%s, size %d too long on %d of %d: class %d", kNames[form], i, who, size,
              error_class);
      }
    }
    void* memory = NULL;
    int error_class = MPI_SUCCESS;
    MPI_Error_class(MPI_Alloc_mem(sizes[i], MPI_INFO_NULL, &memory), &error_class);
    CHECK(error_class == MPI_ERR_NO_MEM, "MPI_Alloc_mem of size %d: class %d", i, error_class);
  }
  works_after(comm);
}

// A limit on one member's addresses, as by `ulimit -v`.
static void few_addresses(MPI_Comm comm) {
  int rank = 0, size = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  struct rlimit limit, few;
  getrlimit(RLIMIT_AS, &limit);
  few = limit;
  few.rlim_cur = ((rlim_t)status("VmSize:") << 10) + (64 << 20);
  if (rank == size - 1) setrlimit(RLIMIT_AS, &few);
  const int error_class = try_window(kAllocate, kGiB, comm);
  void* memory = NULL;
  int piece_class = MPI_SUCCESS;
  if (rank == size - 1) MPI_Error_class(MPI_Alloc_mem(kGiB, MPI_INFO_NULL, &memory), &piece_class);
  const int small_class = try_window(kAllocate, 100, comm);
  setrlimit(RLIMIT_AS, &limit);
  CHECK(small_class == MPI_SUCCESS, "without many addresses a small window: class %d", small_class);
  if (status("VmSize:") > 1 << 20 && error_class == MPI_SUCCESS) return;  // addresses that it has reserved suffice
  CHECK(error_class == MPI_ERR_NO_MEM, "without addresses on one member: class %d", error_class);
  CHECK(rank != size - 1 || piece_class == MPI_ERR_NO_MEM, "without addresses MPI_Alloc_mem: class %d", piece_class);
  works_after(comm);
}

static void untouched(MPI_Comm comm) {
  const long before = status("VmRSS:");
  char* memory = NULL;
  MPI_Win win;
  if (MPI_Win_allocate(kGiB, 1, MPI_INFO_NULL, comm, &memory, &win) != MPI_SUCCESS) return;  // a small machine
  CHECK(status("VmRSS:") - before < 100000, "an untouched window takes %ld KiB", status("VmRSS:") - before);
  memory[0] = memory[kGiB - 1] = 1;
  MPI_Win_free(&win);
  if (MPI_Alloc_mem(kGiB, MPI_INFO_NULL, &memory) != MPI_SUCCESS) return;
  CHECK(status("VmRSS:") - before < 100000, "an untouched piece takes %ld KiB", status("VmRSS:") - before);
  memory[0] = memory[kGiB - 1] = 1;
  MPI_Free_mem(memory);
}

int main(int argc, char** argv) {
  suite_begin(&argc, &argv);
  MPI_Comm node;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  MPI_Comm_set_errhandler(node, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  few_addresses(node);
  too_much(node);
  untouched(MPI_COMM_WORLD);
  for (int who = 0; who < world_size(); ++who) {
    const int error_class = try_window(kAllocate, who == world_rank() ? (MPI_Aint)1 << 62 : 8, MPI_COMM_WORLD);
    CHECK(error_class == MPI_ERR_NO_MEM, "no memory on %d of the world: class %d", who, error_class);
  }
  MPI_Comm_free(&node);
  return suite_end("rma_no_memory");
}
