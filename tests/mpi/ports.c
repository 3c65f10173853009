// Tests of ports: groups without a common communicator connect, exchange messages, merge and disconnect; several
// clients at one port; closed, unknown and malformed ports.
// ranks: 2 3 4 8
// reference: none: Debian's MPICH has no ports with UCX
#include "check.h"

enum { kTag = 7, kRounds = 40, kLong = 100000, kNameTag = 8 };

// The lower half of the world is a group, the upper half another, with its ranks in reverse order.
static int upper(void) {
  return world_rank() >= world_size() / 2;
}
static MPI_Comm half_of_world(void) {
  MPI_Comm half;
  MPI_Comm_split(MPI_COMM_WORLD, upper(), upper() ? -world_rank() : world_rank(), &half);
  return half;
}

// Rank `from` of the world gives a text to all others.
static void share(char* port, int from) {
  MPI_Bcast(port, MPI_MAX_PORT_NAME, MPI_CHAR, from, MPI_COMM_WORLD);
}

// An info handle that is invalid.
static MPI_Info freed_info(void) {
  MPI_Info info, freed;
  MPI_Info_create(&info);
  freed = info;
  MPI_Info_free(&info);
  return freed;
}

// The lower half accepts, with its last rank as root; the upper half connects, with its first rank as root.
static MPI_Comm connect_halves(MPI_Comm half) {
  char port[MPI_MAX_PORT_NAME] = "";
  const int owner = world_size() / 2 - 1;
  if (world_rank() == owner) CHECK(MPI_Open_port(MPI_INFO_NULL, port) == MPI_SUCCESS, "no port");
  share(port, owner);
  MPI_Comm inter = MPI_COMM_NULL;
  // Only the root's name and info count.
  const MPI_Info freed = freed_info();
  if (!upper()) {
    const int is_root = world_rank() == owner;
    MPI_Comm_accept(is_root ? port : "", is_root ? MPI_INFO_NULL : freed, owner, half, &inter);
  } else {
    const int is_root = world_rank() == world_size() - 1;
    MPI_Comm_connect(is_root ? port : NULL, is_root ? MPI_INFO_NULL : freed, 0, half, &inter);
  }
  if (world_rank() == owner) CHECK(MPI_Close_port(port) == MPI_SUCCESS, "the port could not be closed");
  return inter;
}

static void check_messages(MPI_Comm inter) {
  int remotes = 0;
  MPI_Comm_remote_size(inter, &remotes);
  MPI_Request sends[8];
  int out = world_rank();
  for (int i = 0; i < remotes; ++i) MPI_Isend(&out, 1, MPI_INT, i, kTag, inter, &sends[i]);
  for (int i = 0; i < remotes; ++i) {
    int in = -1;
    const int expected = upper() ? i : world_size() - 1 - i;
    MPI_Recv(&in, 1, MPI_INT, i, kTag, inter, MPI_STATUS_IGNORE);
    CHECK(in == expected, "rank %d of the other group is %d, expected %d", i, in, expected);
  }
  MPI_Waitall(remotes, sends, MPI_STATUSES_IGNORE);
}

static void two_groups(void) {
  MPI_Comm half = half_of_world(), inter = connect_halves(half), all;
  int is_inter = 0, locals = -1, remotes = -1, rank = -1, sum = 0;
  CHECK(inter != MPI_COMM_NULL, "no intercommunicator");
  MPI_Comm_test_inter(inter, &is_inter);
  MPI_Comm_size(inter, &locals);
  MPI_Comm_remote_size(inter, &remotes);
  const int lower = world_size() / 2, higher = world_size() - lower;
  CHECK(is_inter && locals == (upper() ? higher : lower) && remotes == (upper() ? lower : higher), "sizes %d and %d",
        locals, remotes);
  MPI_Group theirs, world;
  MPI_Comm_remote_group(inter, &theirs);
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  int first = 0, first_in_world = -1;
  MPI_Group_translate_ranks(theirs, 1, &first, world, &first_in_world);
  CHECK(first_in_world == (upper() ? 0 : world_size() - 1), "the other group begins at %d", first_in_world);
  MPI_Group_free(&theirs);
  MPI_Group_free(&world);
  check_messages(inter);
  // The upper half is first.
  MPI_Intercomm_merge(inter, !upper(), &all);
  MPI_Comm_rank(all, &rank);
  CHECK(rank == (upper() ? world_size() - 1 - world_rank() : higher + world_rank()), "rank %d in the union", rank);
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, all);
  CHECK(sum == world_size() * (world_size() - 1) / 2, "the sum of the ranks is %d", sum);
  MPI_Comm_free(&all);
  MPI_Comm_disconnect(&inter);
  CHECK(inter == MPI_COMM_NULL, "MPI_Comm_disconnect left the handle");
  MPI_Comm_free(&half);
}

// Each rank but 0 is a client; rank 0 serves them one after the other at one port, and answers each.
static void many_clients(void) {
  char port[MPI_MAX_PORT_NAME] = "";
  if (world_rank() == 0) MPI_Open_port(MPI_INFO_NULL, port);
  share(port, 0);
  MPI_Comm inter;
  if (world_rank() != 0) {
    int back = -1;
    MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter);
    int mine = world_rank();
    MPI_Sendrecv(&mine, 1, MPI_INT, 0, kTag, &back, 1, MPI_INT, 0, kTag, inter, MPI_STATUS_IGNORE);
    CHECK(back == mine + 1000, "the server answered %d", back);
    MPI_Comm_disconnect(&inter);
    return;
  }
  char seen[64] = "";
  for (int i = 1; i < world_size(); ++i) {
    int client = -1;
    MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter);
    MPI_Recv(&client, 1, MPI_INT, 0, kTag, inter, MPI_STATUS_IGNORE);
    CHECK(client > 0 && client < world_size() && !seen[client], "client %d", client);
    seen[client] = 1;
    client += 1000;
    MPI_Send(&client, 1, MPI_INT, 0, kTag, inter);
    MPI_Comm_disconnect(&inter);
  }
  MPI_Close_port(port);
}

// A server of clients that are all connected at the same time, on several ports, in another order than they called.
static void many_at_once(void) {
  enum { kPorts = 3 };
  char ports[kPorts][MPI_MAX_PORT_NAME];
  memset(ports, 0, sizeof ports);
  for (int i = 0; world_rank() == 0 && i < kPorts; ++i) MPI_Open_port(MPI_INFO_NULL, ports[i]);
  MPI_Bcast(ports, sizeof ports, MPI_CHAR, 0, MPI_COMM_WORLD);
  MPI_Comm inter[8];
  int count = 0;
  if (world_rank() != 0) {
    MPI_Comm_connect(ports[world_rank() % kPorts], MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter[count++]);
  } else {
    for (int port = kPorts - 1; port >= 0; --port) {
      for (int i = 1; i < world_size(); ++i) {
        if (i % kPorts == port) MPI_Comm_accept(ports[port], MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter[count++]);
      }
    }
  }
  for (int i = 0; i < count; ++i) {
    int theirs = -1, mine = world_rank();
    MPI_Sendrecv(&mine, 1, MPI_INT, 0, kTag, &theirs, 1, MPI_INT, 0, kTag, inter[i], MPI_STATUS_IGNORE);
    CHECK(world_rank() == 0 ? theirs > 0 : theirs == 0, "the other process is %d", theirs);
  }
  for (int i = 0; i < count; ++i) MPI_Comm_disconnect(&inter[i]);
  for (int i = 0; world_rank() == 0 && i < kPorts; ++i) MPI_Close_port(ports[i]);
}

// One port for all rounds; messages that are under way delay MPI_Comm_disconnect.
static void repeated(void) {
  MPI_Comm half = half_of_world();
  char port[MPI_MAX_PORT_NAME] = "";
  if (world_rank() == 0) MPI_Open_port(MPI_INFO_NULL, port);
  share(port, 0);
  unsigned char* in = memory_of(kLong);
  unsigned char* out = memory_of(kLong);
  for (int round = 0; round < kRounds; ++round) {
    MPI_Comm inter = MPI_COMM_NULL;
    if (!upper())
      MPI_Comm_accept(port, MPI_INFO_NULL, 0, half, &inter);
    else
      MPI_Comm_connect(port, MPI_INFO_NULL, 0, half, &inter);
    int rank = -1, remotes = 0;
    MPI_Comm_rank(inter, &rank);
    MPI_Comm_remote_size(inter, &remotes);
    MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    if (rank < remotes) {
      pattern_fill(out, kLong, (unsigned)(100 * round + world_rank()));
      MPI_Irecv(in, kLong, MPI_BYTE, rank, kTag, inter, &requests[0]);
      MPI_Isend(out, kLong, MPI_BYTE, rank, kTag, inter, &requests[1]);
    }
    MPI_Comm_disconnect(&inter);
    int complete = 0;
    MPI_Testall(2, requests, &complete, MPI_STATUSES_IGNORE);
    CHECK(complete, "round %d: MPI_Comm_disconnect did not wait", round);
    if (rank < remotes) {
      const int peer = upper() ? rank : world_size() - 1 - rank;
      CHECK(pattern_mismatch(in, kLong, (unsigned)(100 * round + peer)) == kLong, "round %d: wrong data", round);
    }
  }
  if (world_rank() == 0) MPI_Close_port(port);
  free(in);
  free(out);
  MPI_Comm_free(&half);
}

static void expect_class(const char* what, int code, int expected) {
  CHECK(class_of(code) == expected, "%s: class %d, expected %d", what, class_of(code), expected);
}

// All members of the communicator get the error of the root's name.
static void wrong_names(void) {
  char port[MPI_MAX_PORT_NAME] = "", damaged[MPI_MAX_PORT_NAME], longest[2 * MPI_MAX_PORT_NAME];
  MPI_Open_port(MPI_INFO_NULL, port);
  memset(longest, 'x', sizeof longest);
  memcpy(damaged, port, sizeof damaged);
  damaged[strlen(damaged) - 1] ^= 1;
  char truncated[MPI_MAX_PORT_NAME];
  memcpy(truncated, port, sizeof truncated);
  truncated[strlen(truncated) - 5] = '\0';
  const char* const wrong[] = {NULL,
                               "",
                               "nowhere",
                               "margay-port:",
                               "margay-port:1:2:3",
                               damaged,
                               truncated,
                               longest,
                               "tag#0$description#host$port#40000$ifname#127.0.0.1$",
                               "margay-port:1:\n\033[31m:%s%n:"};
  for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; ++i) {
    MPI_Comm inter = MPI_COMM_SELF;
    const char* const name = world_rank() == world_size() - 1 ? wrong[i] : port;
    expect_class("connect", MPI_Comm_connect(name, MPI_INFO_NULL, world_size() - 1, MPI_COMM_WORLD, &inter),
                 MPI_ERR_PORT);
    CHECK(inter == MPI_COMM_SELF, "a failed connect changed the handle");
    expect_class("accept", MPI_Comm_accept(name, MPI_INFO_NULL, world_size() - 1, MPI_COMM_WORLD, &inter),
                 MPI_ERR_PORT);
    if (wrong[i] != NULL) expect_class("close", MPI_Close_port(wrong[i]), MPI_ERR_PORT);
  }
  MPI_Comm inter = MPI_COMM_SELF;
  // The root's own error names the info.
  const MPI_Info info = world_rank() == 0 ? freed_info() : MPI_INFO_NULL;
  const int expected = world_rank() == 0 ? MPI_ERR_INFO : MPI_ERR_PORT;
  expect_class("connect, info", MPI_Comm_connect(port, info, 0, MPI_COMM_WORLD, &inter), expected);
  expect_class("accept, info", MPI_Comm_accept(port, info, 0, MPI_COMM_WORLD, &inter), expected);
  CHECK(inter == MPI_COMM_SELF, "a failed connect changed the handle");
  expect_class("own port", MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter), MPI_ERR_PORT);
  // The port of a neighbour: only its owner accepts there or closes it.
  char theirs[MPI_MAX_PORT_NAME];
  const int size = world_size(), next = (world_rank() + 1) % size, before = (world_rank() + size - 1) % size;
  MPI_Sendrecv(port, sizeof port, MPI_CHAR, next, kNameTag, theirs, sizeof theirs, MPI_CHAR, before, kNameTag,
               MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  expect_class("accept elsewhere", MPI_Comm_accept(theirs, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter), MPI_ERR_PORT);
  expect_class("close elsewhere", MPI_Close_port(theirs), MPI_ERR_PORT);
  MPI_Barrier(MPI_COMM_WORLD);
  expect_class("close", MPI_Close_port(port), MPI_SUCCESS);
  expect_class("closed twice", MPI_Close_port(port), MPI_ERR_PORT);
  expect_class("accept at a closed port", MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter), MPI_ERR_PORT);
  expect_class("call of a closed port", MPI_Comm_connect(theirs, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter),
               MPI_ERR_PORT);
}

// Clients that wait while their port is closed get an error, those that called before and those that call later.
static void closed_while_waiting(void) {
  char port[MPI_MAX_PORT_NAME] = "";
  if (world_rank() == 0) MPI_Open_port(MPI_INFO_NULL, port);
  share(port, 0);
  if (world_rank() == 0) {
    // The others' calls have arrived, or not: both is tested.
    int flag = 0;
    for (int i = 0; i < 100; ++i) MPI_Iprobe(MPI_ANY_SOURCE, kTag, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    MPI_Close_port(port);
  } else {
    MPI_Comm inter;
    expect_class("call of a port that closes", MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter),
                 MPI_ERR_PORT);
  }
}

int main(int argc, char** argv) {
  suite_begin(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  two_groups();
  many_clients();
  many_at_once();
  repeated();
  wrong_names();
  MPI_Barrier(MPI_COMM_WORLD);
  closed_while_waiting();
  return suite_end("ports");
}
