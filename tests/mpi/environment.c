// Tests of MPI_Initialized and MPI_Finalized before, between and after MPI_Init and MPI_Finalize; and of clocks, names
// and versions.
// ranks: 1 3
// reference: 1
#include "check.h"

static void before(void) {
  int flag = 7, version = 0, subversion = -1, length = 0;
  char text[MPI_MAX_LIBRARY_VERSION_STRING] = "";
  MPI_Initialized(&flag);
  CHECK(flag == 0, "Initialized before MPI_Init: %d", flag);
  flag = 7;
  MPI_Finalized(&flag);
  CHECK(flag == 0, "Finalized before MPI_Init: %d", flag);
  MPI_Get_version(&version, &subversion);
  CHECK(version >= 3 && subversion >= 0, "version %d.%d", version, subversion);
  MPI_Get_library_version(text, &length);
  CHECK(length > 0 && (size_t)length == strlen(text), "library version of length %d", length);
}

static void between(int argc, char** argv) {
  int flag = 0, length = 0;
  MPI_Initialized(&flag);
  CHECK(flag == 1, "Initialized after MPI_Init: %d", flag);
  MPI_Finalized(&flag);
  CHECK(flag == 0, "Finalized before MPI_Finalize: %d", flag);
  CHECK(argc >= 1 && argv[argc] == NULL, "argc %d", argc);
  char name[MPI_MAX_PROCESSOR_NAME] = "", host[256] = "";
  MPI_Get_processor_name(name, &length);
  gethostname(host, sizeof host);
  CHECK(length > 0 && (size_t)length == strlen(name), "processor name of length %d", length);
  CHECK(strncmp(name, host, strlen(host)) == 0, "processor name %s on host %s", name, host);
  const double tick = MPI_Wtick(), start = MPI_Wtime();
  CHECK(tick > 0 && tick <= 1e-3, "Wtick %g", tick);
  double last = start;
  for (int i = 0; i < 10000; ++i) {
    const double now = MPI_Wtime();
    CHECK(now >= last, "Wtime went back by %g", last - now);
    last = now;
  }
  const double slept = MPI_Wtime();
  usleep(20000);
  const double passed = MPI_Wtime() - slept;
  CHECK(passed >= 0.0199 && passed < 60, "20 ms of sleep are %g s", passed);
}

// Every MPI accepts tags up to 32767.
static void largest_tag(void) {
  const int largest = 32767, rank = world_rank();
  int value = 5, in = 0;
  MPI_Sendrecv(&value, 1, MPI_INT, rank, largest, &in, 1, MPI_INT, rank, largest, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  CHECK(in == 5, "with the largest tag came %d", in);
}

int main(int argc, char** argv) {
  before();
  suite_begin(&argc, &argv);
  between(argc, argv);
  largest_tag();
  const int status = suite_end("environment");
  int flag = 0, version = 0, subversion = 0, length = 0;
  char text[MPI_MAX_LIBRARY_VERSION_STRING];
  MPI_Initialized(&flag);
  if (flag != 1) return 3;
  MPI_Finalized(&flag);
  if (flag != 1) return 4;
  MPI_Get_version(&version, &subversion);
  MPI_Get_library_version(text, &length);
  return status;
}
