// A benchmark of MPI_Comm_accept, MPI_Comm_connect and MPI_Comm_disconnect.
//   connect --mode halves [--seconds S]                 between the two halves of one job
//   connect --mode server|client --file F [--seconds S] between two jobs; the server writes its port's name into the
//   file
// Lines: "connect_halves RANKS VALUE us"; of the client "connect_jobs RANKS VALUE us" and, with one rank in each job,
// "between_jobs_latency 8 VALUE us" and "between_jobs_bandwidth 1048576 VALUE MB/s". A step is a connection, one
// message of the client (none between halves), and the disconnection of both groups.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "mpi_common.h"

enum { kTag = 1, kShort = 8, kLong = 1 << 20, kWindow = 8, kFileWaitMs = 1, kFileWaitMaxMs = 10000 };

// What a client asks of its server by the one message of each connection: a positive count is a number of echoes or
// windows.
enum Wish { kEnd = 0, kAgain = -1, kMessages = -2 };

struct Side {
  struct World world;
  MPI_Comm group;
  int accepts;
  char port[MPI_MAX_PORT_NAME];
  MPI_Comm other;
  char* buffer;
  MPI_Request requests[kWindow];
};

static void meet(struct Side* side) {
  if (side->accepts) {
    MPI_Comm_accept(side->port, MPI_INFO_NULL, 0, side->group, &side->other);
  } else {
    MPI_Comm_connect(side->port, MPI_INFO_NULL, 0, side->group, &side->other);
  }
}

static double connect_halves(void* state, long count) {
  struct Side* side = state;
  const double start = now_s();
  for (long i = 0; i < count; i++) {
    meet(side);
    MPI_Comm_disconnect(&side->other);
  }
  return until_all_ended(start);
}

static void halves(struct Side* side, double seconds) {
  const int half = side->world.size / 2;
  int size = 0;
  if (half == 0 || half * 2 != side->world.size) fail("halves need an even number of ranks");
  side->accepts = side->world.rank < half;
  MPI_Comm_split(MPI_COMM_WORLD, side->accepts, side->world.rank, &side->group);
  if (side->world.rank == 0) MPI_Open_port(MPI_INFO_NULL, side->port);
  MPI_Bcast(side->port, MPI_MAX_PORT_NAME, MPI_CHAR, 0, MPI_COMM_WORLD);
  meet(side);
  MPI_Comm_remote_size(side->other, &size);
  if (size != half) fail("a connection with a wrong number of processes");
  MPI_Comm_disconnect(&side->other);
  const double step = time_of_step(connect_halves, side, seconds, agree_on);
  if (side->world.rank == 0) {
    report("connect_halves", side->world.size, 1e6 * step, "us");
    MPI_Close_port(side->port);
  }
  MPI_Comm_free(&side->group);
}

// The client's wish, on all ranks of both jobs.
static long wish(struct Side* side, long value) {
  if (side->world.rank == 0 && side->accepts) MPI_Recv(&value, 1, MPI_LONG, 0, kTag, side->other, MPI_STATUS_IGNORE);
  if (side->world.rank == 0 && !side->accepts) MPI_Send(&value, 1, MPI_LONG, 0, kTag, side->other);
  if (side->accepts && side->world.size > 1) MPI_Bcast(&value, 1, MPI_LONG, 0, side->group);
  return value;
}

static double connect_jobs(void* state, long count) {
  struct Side* side = state;
  const double start = now_s();
  for (long i = 0; i < count; i++) {
    meet(side);
    wish(side, kAgain);
    MPI_Comm_disconnect(&side->other);
  }
  return until_all_ended(start);
}

// Both sides verify one message in each direction before messages are measured.
static void verify(struct Side* side, int bytes) {
  for (int turn = 0; turn < 2; turn++) {
    if (side->accepts == turn) {
      fill_pattern(side->buffer, (size_t)bytes, (unsigned)turn);
      MPI_Send(side->buffer, bytes, MPI_BYTE, 0, kTag, side->other);
    } else {
      memset(side->buffer, 0, (size_t)bytes);
      MPI_Recv(side->buffer, bytes, MPI_BYTE, 0, kTag, side->other, MPI_STATUS_IGNORE);
      check_pattern(side->buffer, (size_t)bytes, (unsigned)turn, "message between jobs");
    }
  }
}

// Receives windows of `window` messages, and answers each with a short one.
static void serve_messages(struct Side* side, int bytes, int window) {
  verify(side, bytes);
  for (long count = wish(side, 0); count != kEnd; count = wish(side, 0)) {
    for (long i = 0; i < count; i++) {
      for (int k = 0; k < window; k++)
        MPI_Irecv(side->buffer + (size_t)k * bytes, bytes, MPI_BYTE, 0, kTag, side->other, &side->requests[k]);
      MPI_Waitall(window, side->requests, MPI_STATUSES_IGNORE);
      MPI_Send(side->buffer, kShort, MPI_BYTE, 0, kTag, side->other);
    }
  }
}

static double send_messages(struct Side* side, long count, int bytes, int window) {
  wish(side, count);
  const double start = now_s();
  for (long i = 0; i < count; i++) {
    for (int k = 0; k < window; k++)
      MPI_Isend(side->buffer + (size_t)k * bytes, bytes, MPI_BYTE, 0, kTag, side->other, &side->requests[k]);
    MPI_Waitall(window, side->requests, MPI_STATUSES_IGNORE);
    MPI_Recv(side->buffer, kShort, MPI_BYTE, 0, kTag, side->other, MPI_STATUS_IGNORE);
  }
  return now_s() - start;
}

static double ping_pong(void* state, long count) {
  return send_messages(state, count, kShort, 1);
}

static double stream(void* state, long count) {
  return send_messages(state, count, kLong, kWindow);
}

static double of_messages(struct Side* side, Step step, int bytes, double seconds) {
  verify(side, bytes);
  const double time = time_of_step(step, side, seconds, alone);
  wish(side, kEnd);
  return time;
}

static void serve(struct Side* side) {
  long wanted;
  do {
    meet(side);
    wanted = wish(side, 0);
    if (wanted == kMessages) {
      serve_messages(side, kShort, 1);
      serve_messages(side, kLong, kWindow);
    }
    MPI_Comm_disconnect(&side->other);
  } while (wanted != kEnd);
}

static void call(struct Side* side, double seconds) {
  const double step = time_of_step(connect_jobs, side, seconds, agree_on);
  if (side->world.rank == 0) report("connect_jobs", side->world.size, 1e6 * step, "us");
  if (side->world.size == 1) {
    meet(side);
    wish(side, kMessages);
    report("between_jobs_latency", kShort, 1e6 * of_messages(side, ping_pong, kShort, seconds) / 2, "us");
    report("between_jobs_bandwidth", kLong, 1e-6 * kLong * kWindow / of_messages(side, stream, kLong, seconds), "MB/s");
    MPI_Comm_disconnect(&side->other);
  }
  meet(side);
  wish(side, kEnd);
  MPI_Comm_disconnect(&side->other);
}

// The file appears whole, because it gets its name last.
static void write_port(const char* file, const char* port) {
  char before[4096];
  snprintf(before, sizeof before, "%s.new", file);
  FILE* out = fopen(before, "w");
  if (out == NULL || fputs(port, out) < 0 || fclose(out) != 0 || rename(before, file) != 0)
    fail("the port's file cannot be written");
}

static void read_port(const char* file, char* port) {
  FILE* in = NULL;
  for (long waited = 0; in == NULL; waited += kFileWaitMs) {
    in = fopen(file, "r");
    if (waited > kFileWaitMaxMs) fail("the server has no port");
    nap(kFileWaitMs);
  }
  if (fgets(port, MPI_MAX_PORT_NAME, in) == NULL) fail("the port's file cannot be read");
  fclose(in);
}

static void jobs(struct Side* side, const struct Options* options) {
  if (options->file == NULL) fail("server and client need --file");
  side->accepts = strcmp(options->mode, "server") == 0;
  side->group = MPI_COMM_WORLD;
  side->buffer = new_buffer((size_t)kWindow * kLong);
  // One rank of each job: each on its own processor. More are more than the processors of a small machine.
  if (side->world.size == 1 && processors() > 1) pin_to(side->accepts);
  if (side->world.rank == 0 && side->accepts) {
    MPI_Open_port(MPI_INFO_NULL, side->port);
    write_port(options->file, side->port);
  } else if (side->world.rank == 0) {
    read_port(options->file, side->port);
  }
  if (side->accepts) {
    serve(side);
    if (side->world.rank == 0) MPI_Close_port(side->port);
  } else {
    call(side, options->seconds);
  }
  free(side->buffer);
}

int main(int argc, char** argv) {
  static struct Side side;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &side.world.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &side.world.size);
  struct Options options = {.mode = "halves", .seconds = 0.5};
  read_options(argc, argv, &options);
  if (strcmp(options.mode, "halves") == 0) {
    if (side.world.size <= processors()) pin_to(side.world.rank);
    halves(&side, options.seconds);
  } else if (strcmp(options.mode, "server") == 0 || strcmp(options.mode, "client") == 0) {
    jobs(&side, &options);
  } else {
    fail("--mode: halves, server or client");
  }
  MPI_Finalize();
  return 0;
}
