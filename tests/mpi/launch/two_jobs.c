// Two or more jobs that are connected at a port: `two_jobs server FILE CLIENTS` opens a port, writes its name to FILE
// and accepts CLIENTS callers, one after the other; `two_jobs client FILE` reads it and connects; `two_jobs parent FILE
// N` spawns N clients, one after the other. Each connection carries messages of all protocols, collective calls, a
// window and further communicators before its end.
//
// Options behind: `alone`: the roots meet over MPI_COMM_SELF, and the other ranks of the server join by an
// intercommunicator that the roots make. `dies`: the client's root ends by SIGKILL. `waits`: the server's connections
// stay until the end. `refused`: the connection must fail with MPI_ERR_PORT, which the client prints. `join`: FILE is a
// Unix socket over which the roots join (MPI_Comm_join). `threads`: four threads of each root connect again and again
// at the same time. `ends`: the server ends in order while the client calls.
#include <pthread.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "../check.h"
#include "port_file.h"

enum { kTag = 5, kLargest = 3 << 20 };

static unsigned char byte_of(int from, int to, int at) {
  return (unsigned char)(from * 31 + to * 7 + at);
}

// Each member of one group sends to each member of the other one; short, long, synchronous and empty bodies.
static void check_messages(MPI_Comm inter, int is_server) {
  static const int kSizes[] = {0, 1, 1000, 20000, 200000, kLargest};
  int me = -1, others = 0;
  MPI_Comm_rank(inter, &me);
  MPI_Comm_remote_size(inter, &others);
  unsigned char* out = malloc(kLargest);
  unsigned char* in = malloc(kLargest);
  for (int kind = 0; kind < 6; ++kind) {
    const int bytes = kSizes[kind];
    for (int step = 0; step < 2; ++step) {
      for (int other = 0; other < others; ++other) {
        if ((step == 0) == (is_server != 0)) {
          for (int i = 0; i < bytes; ++i) out[i] = byte_of(me, other, i);
          if (kind % 2 == 0) MPI_Send(out, bytes, MPI_BYTE, other, kTag + kind, inter);
          if (kind % 2 == 1) MPI_Ssend(out, bytes, MPI_BYTE, other, kTag + kind, inter);
        } else {
          MPI_Status status;
          int got = -1;
          MPI_Recv(in, kLargest, MPI_BYTE, MPI_ANY_SOURCE, kTag + kind, inter, &status);
          MPI_Get_count(&status, MPI_BYTE, &got);
          int wrong = got != bytes;
          for (int i = 0; i < bytes && !wrong; ++i) wrong = in[i] != byte_of(status.MPI_SOURCE, me, i);
          CHECK(!wrong, "%d bytes of rank %d of the other job are wrong", bytes, status.MPI_SOURCE);
        }
      }
    }
  }
  free(out);
  free(in);
}

static void check_collectives(MPI_Comm all) {
  int me = -1, size = 0, sum = 0;
  MPI_Comm_rank(all, &me);
  MPI_Comm_size(all, &size);
  MPI_Allreduce(&me, &sum, 1, MPI_INT, MPI_SUM, all);
  CHECK(sum == size * (size - 1) / 2, "the sum of ranks is %d", sum);
  enum { kBlock = 5000 };
  int* from = malloc(sizeof(int) * kBlock * (size_t)size);
  int* to = malloc(sizeof(int) * kBlock * (size_t)size);
  for (int i = 0; i < kBlock * size; ++i) from[i] = me * 1000 + i / kBlock;
  MPI_Alltoall(from, kBlock, MPI_INT, to, kBlock, MPI_INT, all);
  int wrong = 0;
  for (int i = 0; i < kBlock * size; ++i) wrong += to[i] != (i / kBlock) * 1000 + me;
  CHECK(wrong == 0, "%d elements of an alltoall are wrong", wrong);
  for (int root = 0; root < size; ++root) {
    for (int i = 0; i < kBlock * size; ++i) to[i] = me == root ? root + i : -1;
    MPI_Bcast(to, kBlock * size, MPI_INT, root, all);
    wrong = 0;
    for (int i = 0; i < kBlock * size; ++i) wrong += to[i] != root + i;
    CHECK(wrong == 0, "%d elements of a bcast from %d are wrong", wrong, root);
  }
  MPI_Allgather(&me, 1, MPI_INT, to, 1, MPI_INT, all);
  for (int i = 0; i < size; ++i) CHECK(to[i] == i, "member %d of an allgather is %d", i, to[i]);
  MPI_Barrier(all);
  free(from);
  free(to);
}

static void check_window(MPI_Comm all) {
  int me = -1, size = 0;
  MPI_Comm_rank(all, &me);
  MPI_Comm_size(all, &size);
  long* base = NULL;
  MPI_Win window;
  MPI_Win_allocate((MPI_Aint)sizeof(long) * (size + 1), sizeof(long), MPI_INFO_NULL, all, &base, &window);
  for (int i = 0; i <= size; ++i) base[i] = -1;
  base[size] = 0;
  MPI_Win_fence(0, window);
  const long mine = me + 100, one = 1;
  for (int target = 0; target < size; ++target) MPI_Put(&mine, 1, MPI_LONG, target, me, 1, MPI_LONG, window);
  MPI_Win_fence(0, window);
  for (int i = 0; i < size; ++i) CHECK(base[i] == i + 100, "element %d of the window is %ld", i, base[i]);
  for (int target = 0; target < size; ++target) {
    MPI_Win_lock(MPI_LOCK_SHARED, target, 0, window);
    MPI_Accumulate(&one, 1, MPI_LONG, target, size, 1, MPI_LONG, MPI_SUM, window);
    MPI_Win_unlock(target, window);
  }
  MPI_Barrier(all);
  MPI_Win_lock(MPI_LOCK_SHARED, me, 0, window);
  CHECK(base[size] == size, "%ld accumulates arrived", base[size]);
  MPI_Win_unlock(me, window);
  MPI_Win_free(&window);
}

// Communicators made from the one of both jobs.
static void check_derived(MPI_Comm all, int is_server) {
  int me = -1, size = 0;
  MPI_Comm_rank(all, &me);
  MPI_Comm_size(all, &size);
  MPI_Comm copy, reversed, node;
  MPI_Comm_dup(all, &copy);
  check_collectives(copy);
  MPI_Comm_free(&copy);
  MPI_Comm_split(all, 0, -me, &reversed);
  int place = -1;
  MPI_Comm_rank(reversed, &place);
  CHECK(place == size - 1 - me, "rank %d of the reversed communicator", place);
  check_collectives(reversed);
  MPI_Comm_free(&reversed);
  // Processes of different jobs share no memory.
  MPI_Comm_split_type(all, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  int servers = 0, sharing = 0;
  MPI_Allreduce(&is_server, &servers, 1, MPI_INT, MPI_SUM, node);
  MPI_Comm_size(node, &sharing);
  CHECK(servers == (is_server ? sharing : 0), "%d of %d processes of a node are the server's", servers, sharing);
  MPI_Comm_free(&node);
}

// The server's ranks 1 and higher join the communicator of the roots, which know them only by the server's root.
static void check_transitive(MPI_Comm roots, int is_server) {
  MPI_Comm joined, all, rest;
  if (is_server) {
    MPI_Comm_split(MPI_COMM_WORLD, world_rank() == 0 ? MPI_UNDEFINED : 1, 0, &rest);
    if (world_rank() == 0) {
      MPI_Intercomm_create(roots, 0, MPI_COMM_WORLD, 1, kTag, &joined);
    } else {
      MPI_Intercomm_create(rest, 0, MPI_COMM_WORLD, 0, kTag, &joined);
      MPI_Comm_free(&rest);
    }
  } else {
    MPI_Intercomm_create(roots, 0, MPI_COMM_NULL, 0, kTag, &joined);
  }
  MPI_Intercomm_merge(joined, 0, &all);
  check_collectives(all);
  check_window(all);
  MPI_Comm_free(&all);
  MPI_Comm_disconnect(&joined);
}

static void check_connection(MPI_Comm inter, int is_server, int alone) {
  check_messages(inter, is_server);
  MPI_Comm all;
  MPI_Intercomm_merge(inter, !is_server, &all);
  int me = -1;
  MPI_Comm_rank(all, &me);
  CHECK((me == 0) == (is_server && world_rank() == 0), "rank %d of the merged communicator", me);
  check_collectives(all);
  check_window(all);
  check_derived(all, is_server);
  if (alone) check_transitive(all, is_server);
  MPI_Comm_free(&all);
}

// Ends MPI with an open port, which a client calls meanwhile.
static void end_while_called(const char* file) {
  char port[MPI_MAX_PORT_NAME] = "";
  MPI_Open_port(MPI_INFO_NULL, port);
  write_port(file, port);
  MPI_Comm inter;
  MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter);
  MPI_Comm_disconnect(&inter);
}

static int serve(const char* file, int clients, int alone, int waits) {
  char port[MPI_MAX_PORT_NAME] = "";
  MPI_Comm inters[64];
  if (world_rank() == 0) {
    CHECK(MPI_Open_port(MPI_INFO_NULL, port) == MPI_SUCCESS, "no port");
    write_port(file, port);
  }
  const MPI_Comm local = alone ? MPI_COMM_SELF : MPI_COMM_WORLD;
  for (int client = 0; client < clients; ++client) {
    MPI_Comm inter = MPI_COMM_NULL;
    if (!alone || world_rank() == 0) MPI_Comm_accept(port, MPI_INFO_NULL, 0, local, &inter);
    if (inter != MPI_COMM_NULL) {
      check_connection(inter, 1, alone);
    } else {
      check_transitive(MPI_COMM_NULL, 1);
    }
    inters[client] = inter;
    if (!waits && inter != MPI_COMM_NULL) MPI_Comm_disconnect(&inters[client]);
  }
  for (int client = 0; waits && client < clients; ++client) {
    if (inters[client] != MPI_COMM_NULL) MPI_Comm_disconnect(&inters[client]);
  }
  if (world_rank() == 0) MPI_Close_port(port);
  return clients;
}

// The server sees the death of its client as an error of the operations that need it, and lives on.
static void serve_dying_client(const char* file) {
  char port[MPI_MAX_PORT_NAME] = "";
  if (world_rank() == 0) {
    MPI_Open_port(MPI_INFO_NULL, port);
    write_port(file, port);
  }
  MPI_Comm inter;
  MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter);
  MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN);
  int word = 0, error_class = 0;
  MPI_Error_class(MPI_Recv(&word, 1, MPI_INT, 0, kTag, inter, MPI_STATUS_IGNORE), &error_class);
  char text[MPI_MAX_ERROR_STRING];
  int length = 0;
  MPI_Error_string(error_class, text, &length);
  CHECK(error_class != MPI_SUCCESS, "a receive from a dead process succeeded");
  MPI_Barrier(MPI_COMM_WORLD);
  if (world_rank() == 0) printf("server: the client is lost\n");
  MPI_Comm_free(&inter);
}

// Two calls over one socket: each makes an intercommunicator of the two roots.
static void join_roots(const char* file, int is_server) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  snprintf(address.sun_path, sizeof address.sun_path, "%s", file);
  int fd = socket(AF_UNIX, SOCK_STREAM, 0);
  if (is_server) {
    const int listener = fd;
    CHECK(bind(listener, (struct sockaddr*)&address, sizeof address) == 0 && listen(listener, 1) == 0, "no socket");
    fd = accept(listener, NULL, NULL);
    close(listener);
  } else {
    while (connect(fd, (struct sockaddr*)&address, sizeof address) != 0) usleep(10000);
  }
  for (int round = 0; round < 2; ++round) {
    MPI_Comm inter = MPI_COMM_NULL;
    MPI_Comm_join(fd, &inter);
    CHECK(inter != MPI_COMM_NULL, "the processes have no connection");
    if (inter == MPI_COMM_NULL) break;
    check_messages(inter, is_server);
    MPI_Comm all;
    MPI_Intercomm_merge(inter, 0, &all);
    check_collectives(all);
    check_window(all);
    MPI_Comm_free(&all);
    MPI_Comm_disconnect(&inter);
  }
  close(fd);
}

struct meeting {
  const char* port;
  int is_server;
};

// One thread of a root. Its calls overlap with the other threads' calls of the same process of the other job.
static void* meet_often(void* argument) {
  const struct meeting* meeting = argument;
  for (int round = 0; round < 10; ++round) {
    MPI_Comm inter = MPI_COMM_NULL;
    if (meeting->is_server) MPI_Comm_accept(meeting->port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter);
    if (!meeting->is_server) MPI_Comm_connect(meeting->port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter);
    MPI_Comm all;
    MPI_Intercomm_merge(inter, 0, &all);
    int one = 1, sum = 0;
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, all);
    CHECK(sum == 2, "the sum is %d", sum);
    MPI_Comm_free(&all);
    MPI_Comm_disconnect(&inter);
  }
  return NULL;
}

static void meet_in_threads(const char* file, int is_server) {
  enum { kThreads = 4 };
  char port[MPI_MAX_PORT_NAME] = "";
  if (is_server) {
    MPI_Open_port(MPI_INFO_NULL, port);
    write_port(file, port);
  } else {
    read_port(file, port);
  }
  struct meeting meeting = {port, is_server};
  pthread_t threads[kThreads];
  for (int i = 0; i < kThreads; ++i) pthread_create(&threads[i], NULL, meet_often, &meeting);
  for (int i = 0; i < kThreads; ++i) pthread_join(threads[i], NULL);
}

int main(int argc, char** argv) {
  int provided = MPI_THREAD_SINGLE;
  MPI_Init_thread(&argc, &argv, has_option(argc, argv, "threads") ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &provided);
  if (argc < 3) return MPI_Abort(MPI_COMM_WORLD, 2);
  const int is_server = strcmp(argv[1], "server") == 0;
  const int alone = has_option(argc, argv, "alone");
  int connections = 1;
  if (has_option(argc, argv, "join")) {
    if (world_rank() == 0) join_roots(argv[2], is_server);
  } else if (has_option(argc, argv, "threads")) {
    if (world_rank() == 0) meet_in_threads(argv[2], is_server);
  } else if (strcmp(argv[1], "parent") == 0) {
    connections = atoi(argv[3]);
    for (int child = 0; child < connections; ++child) {
      char* arguments[] = {"client", argv[2], NULL};
      MPI_Comm children;
      MPI_Comm_spawn(argv[0], arguments, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &children, MPI_ERRCODES_IGNORE);
      MPI_Comm_disconnect(&children);
    }
  } else if (is_server && has_option(argc, argv, "ends")) {
    end_while_called(argv[2]);
  } else if (is_server && has_option(argc, argv, "dies")) {
    serve_dying_client(argv[2]);
  } else if (is_server) {
    connections = serve(argv[2], atoi(argv[3]), alone, has_option(argc, argv, "waits"));
  } else {
    char port[MPI_MAX_PORT_NAME] = "";
    if (world_rank() == 0) read_port(argv[2], port);
    MPI_Comm inter = MPI_COMM_NULL;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    if (has_option(argc, argv, "ends")) {
      MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter);
      MPI_Comm_disconnect(&inter);
    }
    const int failed = MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter);
    if (failed != MPI_SUCCESS) {
      char text[MPI_MAX_ERROR_STRING];
      int length = 0;
      MPI_Error_string(failed, text, &length);
      if (world_rank() == 0) printf("client: %s\n", text);
      CHECK(has_option(argc, argv, "refused"), "%s", text);
    } else {
      if (has_option(argc, argv, "dies") && world_rank() == 0) raise(SIGKILL);
      check_connection(inter, 0, alone);
      MPI_Comm_disconnect(&inter);
    }
  }
  MPI_Comm parent;
  MPI_Comm_get_parent(&parent);
  if (parent != MPI_COMM_NULL) MPI_Comm_disconnect(&parent);
  int failures = 0;
  MPI_Allreduce(&suite_failures, &failures, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (world_rank() == 0) printf("%s: %d connections, %d failures\n", argv[1], connections, failures);
  MPI_Finalize();
  return failures != 0;
}
