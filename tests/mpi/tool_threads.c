// Tests of a tool's thread that reads every variable while the program sends messages and while MPI_Finalize begins:
// the order of locks causes no deadlock, and counters never decrease.
// ranks: 2
// reference: none, it reads while MPI_Finalize runs
// libraries: -lpthread
#include <pthread.h>
#include <stdatomic.h>

#include "check.h"

enum { kMessages = 2000 };

struct watcher {
  atomic_int stop;
  atomic_int rounds;
  int reads;
  int number;
};

// All counters of the process in one session; the thread reads them repeatedly.
static void* watch(void* argument) {
  struct watcher* watcher = argument;
  static MPI_T_pvar_handle handles[512];
  static unsigned long long last[512];
  MPI_T_pvar_session session;
  int used = 0;
  MPI_T_pvar_session_create(&session);
  for (int i = 0; i < watcher->number && used < 512; ++i) {
    int class, bind, count, verbosity, readonly, continuous, atomic;
    MPI_Datatype type;
    MPI_T_enum items;
    MPI_T_pvar_get_info(i, NULL, NULL, &verbosity, &class, &type, &items, NULL, NULL, &bind, &readonly, &continuous,
                        &atomic);
    if (bind != MPI_T_BIND_NO_OBJECT || type != MPI_UNSIGNED_LONG_LONG || readonly) continue;
    const int made = MPI_T_pvar_handle_alloc(session, i, NULL, &handles[used], &count);
    CHECK(made == MPI_SUCCESS && count == 1, "variable %d: %d, %d elements", i, made, count);
    ++used;
  }
  CHECK(MPI_T_pvar_start(session, MPI_T_PVAR_ALL_HANDLES) == MPI_SUCCESS, "the session does not start");
  while (!atomic_load(&watcher->stop)) {
    for (int i = 0; i < used; ++i) {
      unsigned long long now = 0;
      const int read = MPI_T_pvar_read(session, handles[i], &now);
      CHECK(read == MPI_SUCCESS && now >= last[i], "handle %d: %d, %llu after %llu", i, read, now, last[i]);
      last[i] = now;
      ++watcher->reads;
    }
    atomic_fetch_add(&watcher->rounds, 1);
    usleep(200);
  }
  MPI_T_pvar_session_free(&session);
  return NULL;
}

static MPI_T_cvar_handle wait_policy(void) {
  MPI_T_cvar_handle handle = MPI_T_CVAR_HANDLE_NULL;
  int index = -1, count = 0;
  MPI_T_cvar_get_index("wait_policy", &index);
  MPI_T_cvar_handle_alloc(index, NULL, &handle, &count);
  return handle;
}

// Before MPI_Init no thread waits yet.
static void choose_yield(void) {
  MPI_T_cvar_handle handle = wait_policy();
  int yield = 1;
  const int written = MPI_T_cvar_write(handle, &yield);
  CHECK(written == MPI_SUCCESS, "the wait policy could not be set before MPI_Init: %d", written);
  MPI_T_cvar_handle_free(&handle);
}

// Other threads may be waiting with the old policy, and continue with the new one.
static void choose_again(void) {
  MPI_T_cvar_handle handle = wait_policy();
  int spin = 0, policy = -1;
  MPI_T_cvar_read(handle, &policy);
  CHECK(policy == 1, "the wait policy set before MPI_Init is %d", policy);
  const int written = MPI_T_cvar_write(handle, &spin);
  CHECK(written == MPI_SUCCESS, "the wait policy of several threads was not set: %d", written);
  MPI_T_cvar_read(handle, &policy);
  CHECK(policy == spin, "the wait policy of several threads is %d", policy);
  const int back = 1;
  MPI_T_cvar_write(handle, &back);
  MPI_T_cvar_handle_free(&handle);
}

// Each variable's scope determines whether it can be written: if so, the value just read can be written back.
static void as_they_say(void) {
  int number = 0;
  MPI_T_cvar_get_num(&number);
  for (int i = 0; i < number; ++i) {
    char name[100], value[4096];
    int length = sizeof name, scope = -1, count = 0;
    MPI_T_cvar_handle handle;
    MPI_T_cvar_get_info(i, name, &length, NULL, NULL, NULL, NULL, NULL, NULL, &scope);
    MPI_T_cvar_handle_alloc(i, NULL, &handle, &count);
    MPI_T_cvar_read(handle, value);
    const int code = MPI_T_cvar_write(handle, value);
    const int constant = scope == MPI_T_SCOPE_CONSTANT || scope == MPI_T_SCOPE_READONLY;
    CHECK(code == (constant ? MPI_T_ERR_CVAR_SET_NEVER : MPI_SUCCESS), "%s of scope %d: %d", name, scope, code);
    MPI_T_cvar_handle_free(&handle);
  }
}

int main(int argc, char** argv) {
  int provided = -1, value = 0, number = 0;
  pthread_t thread;
  MPI_T_init_thread(MPI_THREAD_MULTIPLE, &provided);
  choose_yield();
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  CHECK(provided == MPI_THREAD_MULTIPLE, "MPI's thread level %d", provided);
  MPI_T_init_thread(MPI_THREAD_MULTIPLE, &provided);
  CHECK(provided == MPI_THREAD_MULTIPLE, "the tool interface's thread level %d", provided);
  if (on_margay()) as_they_say();
  choose_again();
  MPI_T_pvar_get_num(&number);
  struct watcher watcher = {.number = number};
  pthread_create(&thread, NULL, watch, &watcher);
  const int other = 1 - world_rank();
  for (int i = 0; i < kMessages; ++i) {
    MPI_Sendrecv_replace(&value, 1, MPI_INT, other, 3, other, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  while (atomic_load(&watcher.rounds) < 5) usleep(100);
  const int failed = suite_end("tool_threads");
  const int rounds = atomic_load(&watcher.rounds);
  while (atomic_load(&watcher.rounds) < rounds + 2) usleep(100);  // also after MPI_Finalize
  atomic_store(&watcher.stop, 1);
  pthread_join(thread, NULL);
  MPI_T_finalize();
  MPI_T_finalize();
  return failed || suite_failures != 0 || watcher.reads == 0;
}
