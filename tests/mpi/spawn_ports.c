// Tests of ports between worlds: processes that were started separately find each other by published names, connect,
// disconnect from their parents and work on; names of ports that are older than the process in their place are errors.
// ranks: 2 3
// reference: none: Debian's MPICH has no ports with UCX
// sanitized: none: the children inherit no sanitizer's runtime
#include <errno.h>
#include <signal.h>

#include "check.h"

enum { kTag = 5, kMembers = 2 };

// What a child does is its first argument.
static const char kServer[] = "server";
static const char kClient[] = "client";
static const char kOpener[] = "opener";

static MPI_Comm parent_of(void) {
  MPI_Comm parent = MPI_COMM_NULL;
  MPI_Comm_get_parent(&parent);
  return parent;
}

static MPI_Comm start(char* program, const char* mode, int count, MPI_Comm by) {
  char argument[16];
  strcpy(argument, mode);
  char* arguments[] = {argument, NULL};
  MPI_Comm children = MPI_COMM_NULL;
  MPI_Comm_spawn(program, arguments, count, MPI_INFO_NULL, 0, by, &children, MPI_ERRCODES_IGNORE);
  CHECK(children != MPI_COMM_NULL, "%s is not started", mode);
  return children;
}

// Each member adds its number; the sum over both worlds is known to all.
static void add_up(MPI_Comm inter, int first, int members) {
  MPI_Comm all;
  MPI_Intercomm_merge(inter, !first, &all);
  int sum = 0, mine = world_rank() + (first ? 0 : 100);
  MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, all);
  const int own = members * (members - 1) / 2;
  CHECK(sum == 2 * own + 100 * members, "the sum of both worlds is %d", sum);
  MPI_Comm_free(&all);
}

// The world that accepts. It has disconnected from its parents before it meets the clients.
static void server(void) {
  char port[MPI_MAX_PORT_NAME] = "";
  MPI_Comm parent = parent_of(), inter;
  if (world_rank() == 0) {
    MPI_Open_port(MPI_INFO_NULL, port);
    MPI_Publish_name("worlds", MPI_INFO_NULL, port);
    MPI_Send(NULL, 0, MPI_BYTE, 0, kTag, parent);
  }
  MPI_Comm_disconnect(&parent);
  MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter);
  add_up(inter, 1, world_size());
  MPI_Comm_disconnect(&inter);
  if (world_rank() == 0) {
    MPI_Unpublish_name("worlds", MPI_INFO_NULL, port);
    MPI_Close_port(port);
  }
}

static void client(void) {
  char port[MPI_MAX_PORT_NAME] = "";
  MPI_Comm parent = parent_of(), inter;
  if (world_rank() == 1) CHECK(MPI_Lookup_name("worlds", MPI_INFO_NULL, port) == MPI_SUCCESS, "the name is not found");
  MPI_Comm_connect(port, MPI_INFO_NULL, 1, MPI_COMM_WORLD, &inter);
  add_up(inter, 0, world_size());
  MPI_Comm_disconnect(&inter);
  MPI_Comm_disconnect(&parent);
}

static void two_worlds(char* program) {
  MPI_Comm servers = start(program, kServer, kMembers, MPI_COMM_WORLD);
  if (world_rank() == 0) MPI_Recv(NULL, 0, MPI_BYTE, 0, kTag, servers, MPI_STATUS_IGNORE);
  MPI_Comm clients = start(program, kClient, kMembers, MPI_COMM_WORLD);
  MPI_Comm_disconnect(&servers);
  MPI_Comm_disconnect(&clients);
}

// The last member opens a port, sends its name to the parent, and ends without closing it.
static void opener(void) {
  char port[MPI_MAX_PORT_NAME] = "";
  MPI_Comm parent = parent_of();
  if (world_rank() == world_size() - 1) {
    const pid_t self = getpid();
    MPI_Open_port(MPI_INFO_NULL, port);
    MPI_Send(port, sizeof port, MPI_CHAR, 0, kTag, parent);
    MPI_Send(&self, sizeof self, MPI_BYTE, 0, kTag, parent);
  }
  MPI_Comm_disconnect(&parent);
}

// Gets the port of an opener, and waits until its process has ended.
static void port_of_ended(MPI_Comm children, char* port) {
  pid_t process = 0;
  if (children == MPI_COMM_NULL) return;
  MPI_Recv(port, MPI_MAX_PORT_NAME, MPI_CHAR, kMembers - 1, kTag, children, MPI_STATUS_IGNORE);
  MPI_Recv(&process, sizeof process, MPI_BYTE, kMembers - 1, kTag, children, MPI_STATUS_IGNORE);
  MPI_Comm_disconnect(&children);
  while (kill(process, 0) == 0 || errno != ESRCH) usleep(1000);
}

// The port's process has ended, and then another one runs in its place (or, on several nodes, in another place): the
// call fails, and never waits. The test takes as many places as a job of two ranks has by default.
static void old_names(char* program) {
  if (world_rank() != 0) return;
  char port[MPI_MAX_PORT_NAME] = "", later[MPI_MAX_PORT_NAME] = "";
  MPI_Comm inter;
  port_of_ended(start(program, kOpener, kMembers, MPI_COMM_SELF), port);
  int code = MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter);
  CHECK(class_of(code) == MPI_ERR_PORT, "the port of an ended process: class %d", class_of(code));
  MPI_Comm children = start(program, kOpener, kMembers, MPI_COMM_SELF);
  code = MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter);
  CHECK(class_of(code) == MPI_ERR_PORT, "the port of an earlier process: class %d", class_of(code));
  port_of_ended(children, later);
  CHECK(strcmp(port, later) != 0, "two ports have one name");
}

int main(int argc, char** argv) {
  suite_begin(&argc, &argv);
  if (argc > 1) {
    if (strcmp(argv[1], kServer) == 0) server();
    if (strcmp(argv[1], kClient) == 0) client();
    if (strcmp(argv[1], kOpener) == 0) opener();
    // Without the suite's closing line, which is that of the first ranks.
    MPI_Finalize();
    return suite_failures != 0;
  }
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  two_worlds(argv[0]);
  old_names(argv[0]);
  return suite_end("spawn_ports");
}
