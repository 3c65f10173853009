/* Mistakes that end the job, or that a check reports; the first argument selects one. A message that is longer than its
   receive ("truncated", "waitall", "waitsome", "testall"). The same class, returned by the program: by an attribute's
   copy function ("copy"), a generalized request's function ("query"; "queries" in MPI_Waitall), or
   MPI_Comm_call_errhandler ("call"). A null pointer, in another thread than the one that may call MPI ("thread"),
   before MPI_Init ("early"), after MPI_Finalize ("late"); in several threads at once, which an exit handler joins
   ("crowd", "early crowd"). A request for more memory than there is ("memory"). Two accesses to one location ("puts");
   the end of an epoch that was not begun ("completes"). A wrong argument of a function with the longest name
   ("longest"); of a function that passes messages ("wrong FUNCTION"; "wrong MPI_Sendrecv receive" in its second part).
   The connections to other nodes are lost ("loss"). A rank ends without MPI_Init ("absent") or
   MPI_Finalize ("leaves"). A library is loaded, and MPI not used ("loads FILE"). */
#include <dlfcn.h>
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { kDescriptors = 256 };

static int rank;
static int body[100];

static int is(const char* way, const char* one) {
  return strcmp(way, one) == 0;
}

/* Rank 1's first receive is too short. */
static void truncate_first(const char* way) {
  MPI_Request requests[2];
  int indices[2], done = 0;
  if (rank == 0) {
    MPI_Send(body, 100, MPI_INT, 1, 0, MPI_COMM_WORLD);
    MPI_Send(body, 1, MPI_INT, 1, 1, MPI_COMM_WORLD);
  } else if (is(way, "truncated")) {
    MPI_Recv(body, 10, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  } else {
    MPI_Irecv(body, 10, MPI_INT, 0, 0, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(body + 50, 10, MPI_INT, 0, 1, MPI_COMM_WORLD, &requests[1]);
    if (is(way, "waitall")) MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    while (is(way, "waitsome") && done != MPI_UNDEFINED) MPI_Waitsome(2, requests, &done, indices, MPI_STATUSES_IGNORE);
    while (is(way, "testall") && !done) MPI_Testall(2, requests, &done, MPI_STATUSES_IGNORE);
  }
}

static int refuse_copy(MPI_Comm comm, int key, void* extra, void* in, void* out, int* flag) {
  (void)comm, (void)key, (void)extra, (void)in, (void)out, (void)flag;
  return MPI_ERR_TRUNCATE;
}

static void copy(void) {
  MPI_Comm made;
  int key = 0;
  MPI_Comm_create_keyval(refuse_copy, MPI_COMM_NULL_DELETE_FN, &key, NULL);
  MPI_Comm_set_attr(MPI_COMM_SELF, key, NULL);
  MPI_Comm_dup(MPI_COMM_SELF, &made);
}

static int refuse_query(void* extra, MPI_Status* status) {
  (void)extra;
  MPI_Status_set_elements(status, MPI_BYTE, 0);
  MPI_Status_set_cancelled(status, 0);
  return MPI_ERR_TRUNCATE;
}
static int accept_free(void* extra) {
  (void)extra;
  return MPI_SUCCESS;
}
static int accept_cancel(void* extra, int complete) {
  (void)extra, (void)complete;
  return MPI_SUCCESS;
}

static void query(int all) {
  MPI_Request request;
  MPI_Grequest_start(refuse_query, accept_free, accept_cancel, NULL, &request);
  MPI_Grequest_complete(request);
  if (all) MPI_Waitall(1, &request, MPI_STATUSES_IGNORE);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void* free_nothing(void* unused) {
  MPI_Info_free(NULL);
  return unused;
}

static void in_thread(void) {
  pthread_t thread;
  pthread_create(&thread, NULL, free_nothing, NULL);
  pthread_join(thread, NULL);
}

static pthread_t crowd[4];
static pthread_barrier_t all_here;

static void* err_together(void* unused) {
  pthread_barrier_wait(&all_here);
  MPI_Info_free(NULL);
  puts("returned");
  return unused;
}

static void join_crowd(void) {
  for (int i = 0; i < 4; ++i) pthread_join(crowd[i], NULL);
}

static void err_in_threads(void) {
  atexit(join_crowd);
  pthread_barrier_init(&all_here, NULL, 5);
  for (int i = 0; i < 4; ++i) pthread_create(&crowd[i], NULL, err_together, NULL);
  pthread_barrier_wait(&all_here);
  for (;;) pause();
}

static void use_window(const char* way) {
  int* base;
  MPI_Win window;
  MPI_Win_allocate(sizeof body, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &base, &window);
  if (is(way, "completes")) MPI_Win_complete(window);
  MPI_Win_fence(0, window);
  for (int i = 0; i < 2 && rank == 0; ++i) MPI_Put(body, 1, MPI_INT, 1, 0, 1, MPI_INT, window);
  MPI_Win_fence(0, window);
}

/* The peer is invalid: 4711, with the tag 5. The valid part of a call with two has another tag. */
static void pass_invalid_peer(const char* function, int in_receive) {
  const int to = in_receive ? 0 : 4711, to_tag = in_receive ? 6 : 5;
  const int from = in_receive ? 4711 : 0, from_tag = in_receive ? 5 : 6;
  MPI_Request request;
  MPI_Message message;
  MPI_Status status;
  int found;
  if (is(function, "MPI_Send")) MPI_Send(body, 1, MPI_INT, 4711, 5, MPI_COMM_WORLD);
  if (is(function, "MPI_Irecv")) MPI_Irecv(body, 1, MPI_INT, 4711, 5, MPI_COMM_WORLD, &request);
  if (is(function, "MPI_Sendrecv"))
    MPI_Sendrecv(body, 1, MPI_INT, to, to_tag, body + 1, 1, MPI_INT, from, from_tag, MPI_COMM_WORLD, &status);
  if (is(function, "MPI_Isendrecv"))
    MPI_Isendrecv(body, 1, MPI_INT, to, to_tag, body + 1, 1, MPI_INT, from, from_tag, MPI_COMM_WORLD, &request);
  if (is(function, "MPI_Sendrecv_replace"))
    MPI_Sendrecv_replace(body, 1, MPI_INT, to, to_tag, from, from_tag, MPI_COMM_WORLD, &status);
  if (is(function, "MPI_Isendrecv_replace"))
    MPI_Isendrecv_replace(body, 1, MPI_INT, to, to_tag, from, from_tag, MPI_COMM_WORLD, &request);
  if (is(function, "MPI_Probe")) MPI_Probe(4711, 5, MPI_COMM_WORLD, &status);
  if (is(function, "MPI_Iprobe")) MPI_Iprobe(4711, 5, MPI_COMM_WORLD, &found, &status);
  if (is(function, "MPI_Mprobe")) MPI_Mprobe(4711, 5, MPI_COMM_WORLD, &message, &status);
  if (is(function, "MPI_Improbe")) MPI_Improbe(4711, 5, MPI_COMM_WORLD, &found, &message, &status);
  if (is(function, "MPI_Precv_init"))
    MPI_Precv_init(body, 1, 1, MPI_INT, 4711, 5, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
}

/* Rank 0 closes its connections, except the one to the launcher. */
static void lose(void) {
  const char* const launcher = getenv("PMI_FD");
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank != 0) pause();
  for (int i = 3; i < kDescriptors; ++i) {
    if (launcher == NULL || i != atoi(launcher)) shutdown(i, SHUT_RDWR);
  }
  MPI_Recv(body, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

int main(int argc, char** argv) {
  const char* const way = argc > 1 ? argv[1] : "";
  int provided;
  void* memory;
  if (is(way, "early")) MPI_Info_free(NULL);
  if (is(way, "early crowd")) err_in_threads();
  if (is(way, "absent") && is(getenv("PMI_RANK"), "1")) return 3;
  if (is(way, "loads")) {
    if (argc < 3 || dlopen(argv[2], RTLD_NOW) == NULL) return 2;
    usleep(500000); /* the launcher examines the process while the library is loaded */
    return 0;
  }
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (is(way, "truncated") || is(way, "waitall") || is(way, "waitsome") || is(way, "testall")) truncate_first(way);
  if (is(way, "copy")) copy();
  if (is(way, "query")) query(0);
  if (is(way, "queries")) query(1);
  if (is(way, "call")) MPI_Comm_call_errhandler(MPI_COMM_WORLD, MPI_ERR_TRUNCATE);
  if (is(way, "thread")) in_thread();
  if (is(way, "crowd")) err_in_threads();
  if (is(way, "memory")) MPI_Alloc_mem((MPI_Aint)1 << 50, MPI_INFO_NULL, &memory);
  if (is(way, "longest")) {
    MPI_Datatype made;
    MPI_Type_create_hindexed_block_c(-1, 1, NULL, MPI_INT, &made);
  }
  if (is(way, "wrong") && argc > 2) pass_invalid_peer(argv[2], argc > 3);
  if (is(way, "puts") || is(way, "completes")) use_window(way);
  if (is(way, "loss")) lose();
  if (is(way, "leaves") && rank == 1) exit(3);
  MPI_Finalize();
  if (is(way, "late")) MPI_Info_free(NULL);
  return 0;
}
