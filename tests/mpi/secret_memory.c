// Tests of collective calls on blocks in memory that no other process can read (memfd_secret): a block that others
// would read in place is copied first.
// ranks: 2 3
// reference: none, Debian's read such memory with process_vm_readv too, and end
#include <sys/mman.h>
#include <sys/syscall.h>

#include "check.h"

enum { kBytes = 100000 };

int main(int argc, char** argv) {
  suite_begin(&argc, &argv);
  const int rank = world_rank(), size = world_size();
  const size_t all = (size_t)size * kBytes;
  char* secret = MAP_FAILED;
#ifdef SYS_memfd_secret
  const int descriptor = (int)syscall(SYS_memfd_secret, 0);
  if (descriptor >= 0 && ftruncate(descriptor, (off_t)all) == 0) {
    secret = mmap(NULL, all, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  }
#endif
  // Without memfd_secret: ordinary memory.
  if (secret == MAP_FAILED) secret = memory_of(all);
  memset(secret, 'a' + rank, all);
  char* got = memory_of(all);
  MPI_Alltoall(secret, kBytes, MPI_CHAR, got, kBytes, MPI_CHAR, MPI_COMM_WORLD);
  for (int from = 0; from < size; ++from) {
    CHECK(got[(size_t)from * kBytes] == 'a' + from, "block of %d", from);
    CHECK(got[(size_t)(from + 1) * kBytes - 1] == 'a' + from, "block of %d", from);
  }
  MPI_Gather(secret, kBytes, MPI_CHAR, got, kBytes, MPI_CHAR, 0, MPI_COMM_WORLD);
  for (int from = 0; rank == 0 && from < size; ++from)
    CHECK(got[(size_t)from * kBytes] == 'a' + from, "block of %d", from);
  free(got);
  return suite_end("secret_memory");
}
