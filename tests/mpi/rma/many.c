// Tests of thousands of windows, of pieces of MPI_Alloc_mem, of accesses without a flush, and of windows that are freed
// after an error. Mappings and memory do not grow with their number.
//
// ranks: 2 5
// reference: 2
// wires: shm uring
#include "windows.h"

#include <dirent.h>
#include <sys/mman.h>
#include <sys/stat.h>

enum { kWarm = 8, kWindows = 300, kPieces = 20000, kAccesses = 25000, kFailures = 1000 };

// Lines of /proc/self/maps.
static int mappings(void) {
  FILE* const file = fopen("/proc/self/maps", "r");
  int lines = 0;
  for (int c = fgetc(file); c != EOF; c = fgetc(file)) lines += c == '\n';
  fclose(file);
  return lines;
}

// Resident memory of this process, KiB, including shared memory.
static long resident(void) {
  FILE* const file = fopen("/proc/self/status", "r");
  char line[256];
  long value = 0;
  while (fgets(line, sizeof line, file) != NULL && sscanf(line, "VmRSS: %ld", &value) != 1) continue;
  fclose(file);
  return value;
}

// The system memory behind the unnamed files that this process has open, KiB.
static long memory_of_files(void) {
  DIR* const folder = opendir("/proc/self/fd");
  long blocks = 0;
  for (struct dirent* entry = readdir(folder); entry != NULL; entry = readdir(folder)) {
    char path[300], name[300];
    snprintf(path, sizeof path, "/proc/self/fd/%s", entry->d_name);
    const ssize_t length = readlink(path, name, sizeof name - 1);
    if (length <= 0) continue;
    name[length] = '\0';
    struct stat about;
    if (strstr(name, "margay-heap") != NULL && stat(path, &about) == 0) blocks += (long)about.st_blocks;
  }
  closedir(folder);
  return blocks / 2;
}

// Each rank adds to its neighbour's number, in each window.
static void use(MPI_Win win, const long* memory) {
  const long one = 1;
  const int next = (world_rank() + 1) % world_size();
  MPI_Win_fence(0, win);
  MPI_Accumulate(&one, 1, MPI_LONG, next, 3, 1, MPI_LONG, MPI_SUM, win);
  MPI_Win_fence(0, win);
  CHECK(memory[3] == 1, "the neighbour added %ld", memory[3]);
}

enum kind { kOfAllocate, kOfShared, kOfAllocMem, kKinds };

static MPI_Win make(enum kind kind, long** memory) {
  MPI_Win win = MPI_WIN_NULL;
  if (kind == kOfAllocate) MPI_Win_allocate(64, sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, memory, &win);
  if (kind == kOfShared) MPI_Win_allocate_shared(64, sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, memory, &win);
  if (kind == kOfAllocMem) {
    MPI_Alloc_mem(64, MPI_INFO_NULL, memory);
    memset(*memory, 0, 64);
    MPI_Win_create(*memory, 64, sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  }
  return win;
}

static void many_windows(enum kind kind) {
  static MPI_Win wins[kWindows];
  static long* memory[kWindows];
  int before = 0;
  for (int i = 0; i < kWindows; ++i) {
    if (i == kWarm) before = mappings();
    wins[i] = make(kind, &memory[i]);
  }
  const int grown = mappings() - before;
  CHECK(!on_margay() || grown < kWindows / 8, "%d windows of kind %d: %d mappings more", kWindows, (int)kind, grown);
  for (int i = 0; i < kWindows; i += 57) {
    memset(memory[i], 0, 64);
    MPI_Barrier(MPI_COMM_WORLD);
    use(wins[i], memory[i]);
  }
  for (int i = 0; i < kWindows; ++i) {
    MPI_Win_free(&wins[i]);
    if (kind == kOfAllocMem) MPI_Free_mem(memory[i]);
  }
}

// Leaves almost none of the mappings that the system allows, as a program might: new windows succeed nevertheless.
static void few_mappings_left(void) {
  enum { kLeft = 200, kMost = 1 << 18 };
  FILE* const file = fopen("/proc/sys/vm/max_map_count", "r");
  int most = 0;
  if (file == NULL || fscanf(file, "%d", &most) != 1) most = kMost + 1;
  if (file != NULL) fclose(file);
  const long page = sysconf(_SC_PAGESIZE);
  const int count = most - mappings() - kLeft;
  if (most > kMost || count <= 0) return;
  char* const pages = mmap(NULL, (size_t)(count * page), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  int refused = 0;
  for (int i = 1; i < count; i += 2) refused += mprotect(pages + i * page, (size_t)page, PROT_READ) != 0;
  CHECK(refused == 0, "%d mappings were refused, %d are there", refused, mappings());
  CHECK(most - mappings() < 2 * kLeft, "%d mappings of %d are there", mappings(), most);
  many_windows(kOfAllocate);
  munmap(pages, (size_t)(count * page));
}

static void many_pieces(void) {
  long** const pieces = malloc(kPieces * sizeof *pieces);
  const long before = resident();
  const int mapped = mappings();
  for (long i = 0; i < kPieces; ++i) {
    MPI_Alloc_mem(64, MPI_INFO_NULL, &pieces[i]);
    for (int at = 0; at < 8; ++at) pieces[i][at] = i + at;
  }
  const long grown = resident() - before;
  CHECK(grown < kPieces, "%d pieces of 64 bytes take %ld KiB", kPieces, grown);
  CHECK(mappings() - mapped < 100, "%d pieces are %d mappings more", kPieces, mappings() - mapped);
  int wrong = 0;
  for (long i = 0; i < kPieces; ++i) {
    for (int at = 0; at < 8; ++at) wrong += pieces[i][at] != i + at;
  }
  CHECK(wrong == 0, "%d numbers are not as they were written", wrong);
  for (long i = 0; i < kPieces; ++i) MPI_Free_mem(pieces[i * 7919 % kPieces]);
  free(pieces);
}

// Accesses to a dynamic window, which are messages also on one node.
static void many_accesses(void) {
  static long memory[8];
  static long got[kAccesses];
  const int accesses = on_margay() ? kAccesses : 1024;  // MPICH has 65,536 requests, and aborts when they are exhausted
  const int next = (world_rank() + 1) % world_size();
  MPI_Win win;
  MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  memset(memory, 0, sizeof memory);
  memory[1] = 7 + next;
  MPI_Win_attach(win, memory, sizeof memory);
  MPI_Aint address = 0, mine = 0;
  MPI_Get_address(memory, &mine);
  MPI_Sendrecv(&mine, 1, MPI_AINT, (world_rank() + world_size() - 1) % world_size(), 0, &address, 1, MPI_AINT, next, 0,
               MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Barrier(MPI_COMM_WORLD);
  const long before = resident();
  const long one = 1;
  MPI_Win_lock_all(0, win);
  for (int i = 0; i < accesses; ++i) {
    MPI_Get(&got[i], 1, MPI_LONG, next, address + (MPI_Aint)sizeof(long), 1, MPI_LONG, win);
    MPI_Accumulate(&one, 1, MPI_LONG, next, address, 1, MPI_LONG, MPI_SUM, win);
  }
  const long grown = resident() - before;
  MPI_Win_unlock_all(win);
  // The address sanitizer keeps freed memory in quarantine: in its build all memory ever allocated counts.
  const long most = getenv("ASAN_OPTIONS") != NULL ? 48000 : 12000;
  CHECK(!on_margay() || grown < most, "%d gets without a flush take %ld KiB", kAccesses, grown);
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK(memory[0] == accesses, "of %d sums %ld are there", accesses, memory[0]);
  const long expected = 7 + (next + 1) % world_size();
  for (int i = 0; i < accesses; ++i) CHECK(got[i] == expected, "get %d brought %ld", i, got[i]);
  MPI_Win_detach(win, memory);
  MPI_Win_free(&win);
}

// An access to memory that is not attached: margay reports it when the window is freed.
static void many_failures(void) {
  if (!on_margay()) return;
  static long memory[1];
  const int next = (world_rank() + 1) % world_size();
  long before = 0;
  int wrong = 0;
  for (int i = 0; i < kFailures; ++i) {
    MPI_Win win;
    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    if (i == kFailures / 10) before = memory_of_files();
    MPI_Win_fence(0, win);
    MPI_Put(memory, 1, MPI_LONG, next, 64, 1, MPI_LONG, win);
    int error_class = MPI_SUCCESS;
    MPI_Error_class(MPI_Win_free(&win), &error_class);
    wrong += error_class != MPI_ERR_RMA_RANGE || win != MPI_WIN_NULL;
  }
  const long grown = memory_of_files() - before;
  CHECK(wrong == 0, "%d windows of %d are not freed with the error", wrong, kFailures);
  CHECK(grown < 70, "%d windows freed after an error keep %ld KiB", kFailures, grown);
}

int main(int argc, char** argv) {
  suite_begin(&argc, &argv);
  MPI_Comm node;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  int on_node = 0;
  MPI_Comm_size(node, &on_node);
  MPI_Comm_free(&node);
  many_windows(kOfAllocate);
  if (on_node == world_size()) many_windows(kOfShared);
  many_windows(kOfAllocMem);
  if (on_margay()) few_mappings_left();
  many_pieces();
  many_accesses();
  many_failures();
  return suite_end("rma_many");
}
