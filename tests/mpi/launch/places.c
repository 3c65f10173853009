// Mistakes of a program, for places.py, each in a line that a comment labels: reports must name that line.
#include <dlfcn.h>
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

static int rank;
static char** arguments;

static void truncated(void) {
  int numbers[2] = {0, 0};
  if (rank == 0) MPI_Send(numbers, 2, MPI_INT, 1, 0, MPI_COMM_WORLD);
  if (rank == 1) MPI_Recv(numbers, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* truncated */
}

static void waited(void) {
  int numbers[2] = {0, 0};
  MPI_Request request = MPI_REQUEST_NULL;
  if (rank == 1) MPI_Irecv(numbers, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, &request);
  if (rank == 0) MPI_Send(numbers, 2, MPI_INT, 1, 0, MPI_COMM_WORLD);
  MPI_Wait(&request, MPI_STATUS_IGNORE); /* waited */
}

static void handled(void) {
  MPI_Comm_call_errhandler(MPI_COMM_WORLD, MPI_ERR_TAG); /* handled */
}

static void leaks(void) {
  static int number;
  MPI_Request request;
  MPI_Comm copy;
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);                                          /* leaked communicator */
  MPI_Irecv(&number, 1, MPI_INT, MPI_ANY_SOURCE, 77, MPI_COMM_WORLD, &request); /* leaked request */
}

static void types(void) {
  float floats[2] = {0, 0};
  if (rank == 0) MPI_Send(floats, 2, MPI_FLOAT, 1, 0, MPI_COMM_WORLD);
  if (rank == 1) MPI_Recv(floats, 2, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* types */
}

// Two mismatching calls in the same order, and a matching one between them.
static void collectives(void) {
  int numbers[2] = {0, 0}, sums[2];
  if (rank == 0) {
    MPI_Bcast(numbers, 2, MPI_INT, 0, MPI_COMM_WORLD); /* collectives 1 on 0 */
  } else {
    MPI_Bcast(numbers, 2, MPI_FLOAT, 0, MPI_COMM_WORLD); /* collectives 1 on 1 */
  }
  MPI_Allreduce(numbers, sums, 2, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) {
    MPI_Allreduce(numbers, sums, 2, MPI_INT, MPI_SUM, MPI_COMM_WORLD); /* collectives 2 on 0 */
  } else {
    MPI_Allreduce(numbers, sums, 2, MPI_INT, MPI_MAX, MPI_COMM_WORLD); /* collectives 2 on 1 */
  }
}

// Calls in different order: later calls are not compared.
static void order(void) {
  int number = 0, sum;
  if (rank == 0) {
    MPI_Bcast(&number, 1, MPI_INT, 0, MPI_COMM_WORLD); /* order on 0 */
    MPI_Barrier(MPI_COMM_WORLD);
  } else {
    MPI_Barrier(MPI_COMM_WORLD); /* order on 1 */
    MPI_Bcast(&number, 1, MPI_INT, 0, MPI_COMM_WORLD);
  }
  MPI_Allreduce(&number, &sum, 1, MPI_INT, rank == 0 ? MPI_SUM : MPI_MAX, MPI_COMM_WORLD);
}

static void conflict(void) {
  int memory[4] = {0, 0, 0, 0}, number = 1;
  MPI_Win window;
  MPI_Win_create(memory, sizeof memory, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &window);
  MPI_Win_fence(0, window);
  if (rank == 1) {
    MPI_Put(&number, 1, MPI_INT, 0, 2, 1, MPI_INT, window); /* first access */
    MPI_Put(&number, 1, MPI_INT, 0, 2, 1, MPI_INT, window); /* second access */
  }
  MPI_Win_fence(0, window);
  MPI_Win_free(&window);
}

static void deadlock(void) {
  int number;
  MPI_Recv(&number, 1, MPI_INT, 1 - rank, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* deadlock */
}

static void* waits(void* unused) {
  int number;
  MPI_Request request;
  MPI_Irecv(&number, 1, MPI_INT, 1 - rank, 10, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE); /* thread in MPI_Wait */
  return unused;
}

static void* receives(void* unused) {
  int number;
  MPI_Recv(&number, 1, MPI_INT, 1 - rank, 20, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* thread in MPI_Recv */
  return unused;
}

static void* probes(void* unused) {
  MPI_Probe(1 - rank, 30, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* thread in MPI_Probe */
  return unused;
}

// Each thread is in another call.
static void threads(void) {
  void* (*const bodies[])(void*) = {waits, receives, probes};
  pthread_t all[3];
  for (int i = 0; i < 3; ++i) pthread_create(&all[i], NULL, bodies[i], NULL);
  for (int i = 0; i < 3; ++i) pthread_join(all[i], NULL);
}

static void nonportable(void) {
  double one = 1, either;
  MPI_Allreduce(&one, &either, 1, MPI_DOUBLE, MPI_LXOR, MPI_COMM_WORLD); /* nonportable */
}

// Objects created by a closed library must not be attributed to the library now at its address.
static void plugins(void) {
  for (int i = 2; i < 4; ++i) {
    MPI_Comm copy;
    void* const library = dlopen(arguments[i], RTLD_NOW);
    ((void (*)(MPI_Comm*))dlsym(library, "makes"))(&copy);
    if (i == 2) dlclose(library);
  }
}

static void aborts(void) {
  if (rank == 1) MPI_Abort(MPI_COMM_WORLD, 7); /* aborts */
  MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char** argv) {
  static const struct {
    const char* name;
    void (*run)(void);
  } cases[] = {{"truncated", truncated}, {"waited", waited},     {"handled", handled},
               {"leaks", leaks},         {"types", types},       {"collectives", collectives},
               {"order", order},         {"conflict", conflict}, {"deadlock", deadlock},
               {"aborts", aborts},       {"threads", threads},   {"nonportable", nonportable},
               {"plugins", plugins}};
  int size, level;
  if (argc > 1 && strcmp(argv[1], "early") == 0) MPI_Comm_size(MPI_COMM_WORLD, &size); /* early */
  MPI_Init_thread(&argc, &argv, argc > 1 && strcmp(argv[1], "threads") == 0 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE,
                  &level);
  arguments = argv;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (unsigned i = 0; argc > 1 && i < sizeof cases / sizeof *cases; ++i) {
    if (strcmp(argv[1], cases[i].name) == 0) cases[i].run();
  }
  MPI_Finalize();
  return 0;
}
