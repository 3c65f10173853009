// ranks: 2
// timeout: 40
// reference: none, MPICH's process crashes
// Tests of the calls that are valid at any time (MPI 4.0, 11.4.1), and so in any thread at any thread level. Here two
// threads make them from before MPI_Init until after MPI_Finalize, in a process of MPI_THREAD_SINGLE, while the main
// thread exchanges messages. Their errors are raised on MPI_COMM_WORLD, like errors that concern no object.
#include <pthread.h>
#include <stdatomic.h>

#include "check.h"

enum { kThreads = 2 };
static atomic_int rounds[kThreads];
static atomic_int running, messages, errors_return, errors_call, handled, stop;

static void on_error(MPI_Comm* comm, int* code, ...) {
  (void)code;
  CHECK(*comm == MPI_COMM_WORLD, "an error of no object is raised on 0x%x", *comm);
  atomic_fetch_add(&handled, 1);
}

static void use_info(void) {
  MPI_Info info = MPI_INFO_NULL, copy = MPI_INFO_NULL;
  char value[20] = "";
  int flag = 0, keys = -1;
  MPI_Info_create(&info);
  MPI_Info_set(info, "a", "b");
  MPI_Info_dup(info, &copy);
  MPI_Info_get(copy, "a", 10, value, &flag);
  CHECK(flag && strcmp(value, "b") == 0, "the value is %s", value);
  MPI_Info_get_nkeys(copy, &keys);
  CHECK(keys == 1, "there are %d keys", keys);
  MPI_Info_free(&info);
  MPI_Info_free(&copy);
}

// Inquiries whose results are defined only while MPI runs.
static void use_world(void) {
  char value[20] = "";
  int flag = -1, provided = -1;
  MPI_Info_get(MPI_INFO_ENV, "maxprocs", 19, value, &flag);
  CHECK(flag == 1 && strcmp(value, "2") == 0, "maxprocs is %s", value);
  MPI_Query_thread(&provided);
  CHECK(provided == MPI_THREAD_SINGLE, "the level is %d", provided);
  MPI_Is_thread_main(&flag);
  CHECK(flag == 0, "this is the main thread");
}

static void use_errors(int at_work) {
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  char text[MPI_MAX_ERROR_STRING] = "";
  int class = -1, length = -1;
  MPI_Session_create_errhandler((MPI_Session_errhandler_function*)&on_error, &handler);
  MPI_Errhandler_free(&handler);
  MPI_Error_class(MPI_ERR_TAG, &class);
  CHECK(class == MPI_ERR_TAG, "the class is %d", class);
  MPI_Error_string(MPI_ERR_TAG, text, &length);
  CHECK(strncmp(text, "MPI_ERR_TAG", 11) == 0, "the text is %s", text);
  if (!at_work) return;
  const int before = atomic_load(&handled);
  const int code = MPI_Errhandler_free(&handler);
  MPI_Error_class(code, &class);
  CHECK(class == MPI_ERR_ARG, "a null handler is freed with class %d", class);
  MPI_Error_string(code, text, &length);
  // The text has the call's message, unless the main thread has raised 64 errors since.
  CHECK(strncmp(text, "MPI_ERR_ARG: ", 13) == 0, "the text is %s", text);
  if (at_work == 2) CHECK(atomic_load(&handled) > before, "the handler was not asked");
}

static void* call_early(void* own_rounds) {
  while (!atomic_load(&stop)) {
    char host[20] = "";
    int flag = -1, version = -1, subversion = -1;
    MPI_Initialized(&flag);
    MPI_Finalized(&flag);
    MPI_Get_version(&version, &subversion);
    MPI_Info_get(MPI_INFO_ENV, "host", 19, host, &flag);
    use_info();
    if (atomic_load(&running)) use_world();
    use_errors(atomic_load(&errors_call) ? 2 : atomic_load(&errors_return));
    atomic_fetch_add((atomic_int*)own_rounds, 1);
  }
  return NULL;
}

// Waits until each thread has completed a round that began after this call, and so uses the current flags. A round may
// be in progress at the call, so two rounds must end.
static void wait_for_rounds(void) {
  for (int i = 0; i < kThreads; ++i) {
    const int from = atomic_load(&rounds[i]);
    while (atomic_load(&rounds[i]) < from + 2) usleep(1000);
  }
}

// Exchanges a message, and makes errors in this thread while the other threads read error strings.
static void talk(int rank) {
  int out = 0, in = -1, class = -1;
  MPI_Request request;
  MPI_Irecv(&in, 1, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD, &request);
  MPI_Send(&out, 1, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  CHECK(in == 0, "received %d", in);
  if (atomic_load(&errors_return)) {
    const int code = MPI_Send(&out, -1, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD);
    MPI_Error_class(code, &class);
    CHECK(class == MPI_ERR_COUNT, "a negative count is of class %d", class);
    MPI_Add_error_class(&class);
    MPI_Add_error_string(class, "mine");
  }
  atomic_fetch_add(&messages, 1);
}

int main(int argc, char** argv) {
  pthread_t threads[kThreads];
  MPI_Errhandler handler;
  MPI_Session session;
  for (int i = 0; i < kThreads; ++i) pthread_create(&threads[i], NULL, call_early, &rounds[i]);
  wait_for_rounds();
  MPI_Init(&argc, &argv);
  atomic_store(&running, 1);
  const int rank = world_rank();
  for (int i = 0; i < 150; ++i) talk(rank);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  atomic_store(&errors_return, 1);
  for (int i = 0; i < 150; ++i) talk(rank);
  wait_for_rounds();
  MPI_Comm_create_errhandler(on_error, &handler);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
  MPI_Errhandler_free(&handler);
  atomic_store(&errors_call, 1);
  wait_for_rounds();
  for (int i = 0; i < 150; ++i) talk(rank);
  // Rank 0 waits in MPI_Wait for rank 1's message meanwhile. Other threads must not wait for a call that waits.
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 1) wait_for_rounds();
  talk(rank);
  CHECK(atomic_load(&messages) == 451, "%d rounds of messages", atomic_load(&messages));
  atomic_store(&errors_call, 0);
  atomic_store(&errors_return, 0);
  wait_for_rounds();
  // The session raises the thread level while the other threads make calls.
  MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
  for (int i = 0; i < 50; ++i) talk(rank);
  wait_for_rounds();
  MPI_Session_finalize(&session);
  atomic_store(&running, 0);
  wait_for_rounds();
  if (rank == 0) printf("early_threads: no errors\n");
  fflush(stdout);
  MPI_Finalize();
  wait_for_rounds();
  atomic_store(&stop, 1);
  for (int i = 0; i < kThreads; ++i) pthread_join(threads[i], NULL);
  return suite_failures != 0;
}
