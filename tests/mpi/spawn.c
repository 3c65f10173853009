// Programs that start programs (MPI 4.0, 11.8 to 11.10): children with messages in both directions, several commands,
// a root that is not rank 0, grandchildren; the attributes MPI_UNIVERSE_SIZE and MPI_APPNUM.
// ranks: 2 3
// reference: none: Debian's MPICH cannot start processes with UCX
// sanitized: none: the children inherit no sanitizer's runtime
#include "check.h"

enum { kTag = 5, kChildren = 2 };

// What a child does is its first argument.
static const char kEcho[] = "echo";
static const char kMember[] = "member";
static const char kParent[] = "parent";

// A pointer that must not be followed.
static void* const nowhere = (void*)8;

static MPI_Comm parent_of(void) {
  MPI_Comm parent = MPI_COMM_NULL;
  MPI_Comm_get_parent(&parent);
  return parent;
}

static int attribute(int key) {
  int* value = NULL;
  int found = 0;
  MPI_Comm_get_attr(MPI_COMM_WORLD, key, &value, &found);
  return found ? *value : -1;
}

// The child of one_command(): answers each rank of the parents, and takes part in a call of both groups.
static void echo(void) {
  MPI_Comm parent = parent_of();
  CHECK(parent != MPI_COMM_NULL, "a spawned process has no parent");
  int parents = 0;
  MPI_Comm_remote_size(parent, &parents);
  for (int from = 0; from < parents; ++from) {
    int value = -1;
    MPI_Recv(&value, 1, MPI_INT, from, kTag, parent, MPI_STATUS_IGNORE);
    value = 100 * world_rank() + value;
    MPI_Send(&value, 1, MPI_INT, from, kTag, parent);
  }
  MPI_Comm both = MPI_COMM_NULL;
  MPI_Intercomm_merge(parent, 1, &both);
  int sum = 0, one = 1;
  MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, both);
  CHECK(sum == parents + world_size(), "the merged communicator has %d members", sum);
  MPI_Comm_free(&both);
  MPI_Comm_disconnect(&parent);
  CHECK(parent_of() == MPI_COMM_NULL, "a disconnected parent is still there");
}

static void one_command(char* program, int root) {
  char mode[sizeof kEcho];
  strcpy(mode, kEcho);
  char* arguments[] = {mode, NULL};
  const int is_root = world_rank() == root;
  int codes[kChildren] = {-1, -1};
  MPI_Comm children = MPI_COMM_NULL;
  // The command is significant at the root only; the other ranks give anything.
  MPI_Info info;
  MPI_Info_create(&info);
  const MPI_Info freed = info;
  MPI_Info_free(&info);
  MPI_Comm_spawn(is_root ? program : NULL, is_root ? arguments : (char**)nowhere, is_root ? kChildren : -1,
                 is_root ? MPI_INFO_NULL : freed, root, MPI_COMM_WORLD, &children, codes);
  int remote = 0, size = 0;
  MPI_Comm_remote_size(children, &remote);
  MPI_Comm_size(children, &size);
  CHECK(remote == kChildren && size == world_size(), "%d children of %d parents", remote, size);
  for (int child = 0; child < kChildren; ++child) {
    CHECK(codes[child] == MPI_SUCCESS, "the code of child %d is %d", child, codes[child]);
    int value = 10 + world_rank();
    MPI_Send(&value, 1, MPI_INT, child, kTag, children);
    MPI_Recv(&value, 1, MPI_INT, child, kTag, children, MPI_STATUS_IGNORE);
    CHECK(value == 100 * child + 10 + world_rank(), "child %d answers %d", child, value);
  }
  MPI_Comm both = MPI_COMM_NULL;
  MPI_Intercomm_merge(children, 0, &both);
  int sum = 0, one = 1, place = -1;
  MPI_Comm_rank(both, &place);
  CHECK(place == world_rank(), "rank %d among parents and children", place);
  MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, both);
  CHECK(sum == kChildren + world_size(), "the merged communicator has %d members", sum);
  MPI_Comm_free(&both);
  MPI_Comm_disconnect(&children);
}

// A child of several_commands(): sends its program's number, its argument and its rank.
static void member(const char* argument) {
  MPI_Comm parent = parent_of();
  const int values[] = {attribute(MPI_APPNUM), atoi(argument), world_rank(), world_size()};
  MPI_Send(values, 4, MPI_INT, 0, kTag, parent);
  MPI_Comm_disconnect(&parent);
}

static void several_commands(char* program) {
  char mode[sizeof kMember], seven[] = "7", eight[] = "8";
  strcpy(mode, kMember);
  char* commands[] = {program, program};
  char* first[] = {mode, seven, NULL};
  char* second[] = {mode, eight, NULL};
  char** arguments[] = {first, second};
  const int counts[] = {2, 1};
  const MPI_Info infos[] = {MPI_INFO_NULL, MPI_INFO_NULL};
  MPI_Comm children = MPI_COMM_NULL;
  if (world_rank() == 0) {
    MPI_Comm_spawn_multiple(2, commands, arguments, counts, infos, 0, MPI_COMM_WORLD, &children, MPI_ERRCODES_IGNORE);
  } else {
    MPI_Comm_spawn_multiple(-5, nowhere, nowhere, nowhere, nowhere, 0, MPI_COMM_WORLD, &children, MPI_ERRCODES_IGNORE);
  }
  for (int child = 0; child < 3 && world_rank() == 0; ++child) {
    int values[4];
    MPI_Recv(values, 4, MPI_INT, child, kTag, children, MPI_STATUS_IGNORE);
    printf("child %d: program %d with argument %d, rank %d of %d\n", child, values[0], values[1], values[2], values[3]);
  }
  MPI_Comm_disconnect(&children);
}

// The child of grandchildren(): starts a child of its own, whose answer it passes on.
static void middle(char* program) {
  MPI_Comm parent = parent_of();
  char mode[sizeof kMember], nine[] = "9";
  strcpy(mode, kMember);
  char* arguments[] = {mode, nine, NULL};
  MPI_Comm child = MPI_COMM_NULL;
  MPI_Comm_spawn(program, arguments, 1, MPI_INFO_NULL, 0, MPI_COMM_SELF, &child, MPI_ERRCODES_IGNORE);
  int values[4];
  MPI_Recv(values, 4, MPI_INT, 0, kTag, child, MPI_STATUS_IGNORE);
  MPI_Comm_disconnect(&child);
  MPI_Send(values, 4, MPI_INT, 0, kTag, parent);
  MPI_Comm_disconnect(&parent);
}

static void grandchildren(char* program) {
  if (world_rank() != 0) return;
  char mode[sizeof kParent];
  strcpy(mode, kParent);
  char* arguments[] = {mode, NULL};
  MPI_Comm child = MPI_COMM_NULL;
  MPI_Comm_spawn(program, arguments, 1, MPI_INFO_NULL, 0, MPI_COMM_SELF, &child, MPI_ERRCODES_IGNORE);
  int values[4];
  MPI_Recv(values, 4, MPI_INT, 0, kTag, child, MPI_STATUS_IGNORE);
  printf("grandchild: argument %d, rank %d of %d\n", values[1], values[2], values[3]);
  MPI_Comm_disconnect(&child);
}

int main(int argc, char** argv) {
  suite_begin(&argc, &argv);
  if (argc > 1) {
    if (strcmp(argv[1], kEcho) == 0) echo();
    if (strcmp(argv[1], kMember) == 0) member(argv[2]);
    if (strcmp(argv[1], kParent) == 0) middle(argv[0]);
    // Without the suite's closing line, which is that of the first ranks.
    MPI_Finalize();
    return suite_failures != 0;
  }
  CHECK(parent_of() == MPI_COMM_NULL, "a process that was not spawned has a parent");
  const int universe = attribute(MPI_UNIVERSE_SIZE);
  CHECK(universe == -1 || universe >= world_size(), "the universe has %d processes", universe);
  one_command(argv[0], world_size() - 1);
  several_commands(argv[0]);
  grandchildren(argv[0]);
  return suite_end("spawn");
}
