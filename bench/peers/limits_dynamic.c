// A benchmark of the machine without MPI: processes that start while a program runs, and connections.
//   limits_dynamic --mode start|start_cycle [--sizes PROCESSES,...] [--seconds S]
//   limits_dynamic --mode connect_sleep|connect_poll [--seconds S]
// Lines: "start PROCESSES VALUE ms" (posix_spawn of this program, until each process has connected to a Unix socket and
// has been answered), "start_cycle PROCESSES VALUE ms" (until they have ended), "connect_sleep 8 VALUE us" and
// "connect_poll 8 VALUE us" (a TCP connection over loopback, 8 bytes there and back, both ends closed; both sides sleep
// or poll while they wait).
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common.h"

enum { kProcessesMax = 64, kBacklog = 64 };

extern char** environ;

struct Start {
  char* program;
  int listener;
  char name[32];  // of the listener, in the abstract name space
  int processes;
  int until_ended;
};

static struct sockaddr_un address_of(const char* name) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  memcpy(address.sun_path + 1, name, strlen(name));
  return address;
}

// Receives `bytes`, or the end of the connection (0). `flags`: MSG_DONTWAIT polls.
static ssize_t take(int socket, void* to, size_t bytes, int flags) {
  ssize_t got;
  do {
    got = recv(socket, to, bytes, flags);
  } while (got < 0 && errno == EAGAIN);
  return got;
}

static void transfer(int socket, long value, int first, int flags) {
  long got = 0;
  if (first && send(socket, &value, sizeof value, MSG_NOSIGNAL) != sizeof value) fail("send");
  if (take(socket, &got, sizeof got, flags) != sizeof got || got != value) fail("recv");
  if (!first && send(socket, &value, sizeof value, MSG_NOSIGNAL) != sizeof value) fail("send");
}

// The started process: connects, and ends when the socket is closed.
static int live(const char* name) {
  const struct sockaddr_un address = address_of(name);
  char end;
  const int other = socket(AF_UNIX, SOCK_STREAM, 0);
  if (connect(other, (const struct sockaddr*)&address, sizeof address) != 0) fail("connect");
  transfer(other, 1, 1, 0);
  return take(other, &end, 1, 0) == 0 ? 0 : 1;
}

static double start_processes(void* state, long count) {
  const struct Start* start = state;
  char* arguments[] = {start->program, "live", (char*)start->name, NULL};
  double spent = 0;
  for (long i = 0; i < count; i++) {
    pid_t children[kProcessesMax];
    int sockets[kProcessesMax];
    const double began = now_s();
    for (int k = 0; k < start->processes; k++) {
      if (posix_spawn(&children[k], start->program, NULL, NULL, arguments, environ) != 0) fail("posix_spawn");
    }
    for (int k = 0; k < start->processes; k++) {
      sockets[k] = accept4(start->listener, NULL, NULL, SOCK_CLOEXEC);
      if (sockets[k] < 0) fail("accept");
      transfer(sockets[k], 1, 0, 0);
    }
    const double connected = now_s();
    for (int k = 0; k < start->processes; k++) close(sockets[k]);
    for (int k = 0; k < start->processes; k++) {
      int status = 1;
      if (waitpid(children[k], &status, 0) != children[k] || status != 0) fail("a started process failed");
    }
    spent += (start->until_ended ? now_s() : connected) - began;
  }
  return spent;
}

static void start_mode(const struct Options* options, char* program, int until_ended) {
  struct Start start = {.program = program, .until_ended = until_ended};
  snprintf(start.name, sizeof start.name, "margay-bench-%ld", (long)getpid());
  const struct sockaddr_un address = address_of(start.name);
  start.listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (bind(start.listener, (const struct sockaddr*)&address, sizeof address) != 0 ||
      listen(start.listener, kBacklog) != 0) {
    fail("listen");
  }
  for (int i = 0; i < options->size_count; i++) {
    start.processes = (int)options->sizes[i];
    if (start.processes < 1 || start.processes > kProcessesMax) fail("--sizes: 1 to 64 processes");
    report(options->mode, start.processes, 1e3 * time_of_step(start_processes, &start, options->seconds, alone), "ms");
  }
}

struct Connection {
  struct sockaddr_in address;
  int listener;
  int flags;  // of recv()
};

static void serve(void* state) {
  const struct Connection* connection = state;
  for (;;) {
    const int other = accept(connection->listener, NULL, NULL);
    if (other < 0 && errno == EAGAIN) continue;
    if (other < 0) fail("accept");
    transfer(other, 1, 0, connection->flags);
    close(other);
  }
}

static double connect_and_close(void* state, long count) {
  const struct Connection* connection = state;
  const double start = now_s();
  for (long i = 0; i < count; i++) {
    char end;
    const int other = socket(AF_INET, SOCK_STREAM, 0);
    if (connect(other, (const struct sockaddr*)&connection->address, sizeof connection->address) != 0) fail("connect");
    transfer(other, 1, 1, connection->flags);
    // The server closes first, so its port keeps the connections that the system remembers for a while.
    if (take(other, &end, 1, connection->flags) != 0) fail("the connection did not end");
    close(other);
  }
  return now_s() - start;
}

static void connect_mode(const struct Options* options, int polls) {
  struct Connection connection = {.address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)},
                                  .flags = polls ? MSG_DONTWAIT : 0};
  struct sockaddr* address = (struct sockaddr*)&connection.address;
  socklen_t length = sizeof connection.address;
  connection.listener = socket(AF_INET, SOCK_STREAM | (polls ? SOCK_NONBLOCK : 0), 0);
  if (bind(connection.listener, address, length) != 0 || listen(connection.listener, kBacklog) != 0 ||
      getsockname(connection.listener, address, &length) != 0) {
    fail("listen");
  }
  const pid_t child = start_child(serve, &connection, 1);
  pin_to(0);
  report(options->mode, 8, 1e6 * time_of_step(connect_and_close, &connection, options->seconds, alone), "us");
  end_child(child);
}

int main(int argc, char** argv) {
  if (argc == 3 && strcmp(argv[1], "live") == 0) return live(argv[2]);
  struct Options options = {.mode = "start", .sizes = {1}, .size_count = 1, .seconds = 0.5};
  read_options(argc, argv, &options);
  if (strcmp(options.mode, "start") == 0 || strcmp(options.mode, "start_cycle") == 0) {
    start_mode(&options, argv[0], strcmp(options.mode, "start_cycle") == 0);
  } else if (strcmp(options.mode, "connect_sleep") == 0 || strcmp(options.mode, "connect_poll") == 0) {
    connect_mode(&options, strcmp(options.mode, "connect_poll") == 0);
  } else {
    fail("--mode: start, start_cycle, connect_sleep or connect_poll");
  }
  return 0;
}
