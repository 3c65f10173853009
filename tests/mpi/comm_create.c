// Tests of communicators created from groups: Comm_create, Comm_create_group (only members call), Comm_split_type,
// Comm_idup during other calls and many at once, Comm_compare, Comm_disconnect.
// ranks: 1 2 5
// reference: 5
#include "check.h"

enum { kTag = 3, kAtOnce = 20 };

static int sum_over(MPI_Comm comm, int value) {
  int sum = -1;
  MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, comm);
  return sum;
}

static int compared(MPI_Comm one, MPI_Comm other) {
  int result = -1;
  MPI_Comm_compare(one, other, &result);
  return result;
}

static MPI_Group every_second(int first, int size) {
  MPI_Group world, made;
  int range[1][3] = {{first, size - 1, 2}};
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  MPI_Group_range_incl(world, first < size ? 1 : 0, range, &made);
  MPI_Group_free(&world);
  return made;
}

static void create(int rank, int size) {
  MPI_Group even = every_second(0, size), mine = every_second(rank % 2, size);
  MPI_Comm comm;
  MPI_Comm_create(MPI_COMM_WORLD, even, &comm);
  CHECK((comm == MPI_COMM_NULL) == (rank % 2 != 0), "create: the wrong ranks got one");
  if (comm != MPI_COMM_NULL) {
    CHECK(sum_over(comm, 1) == (size + 1) / 2, "create: wrong size");
    MPI_Comm_free(&comm);
  }
  // Disjoint groups at once: odd and even ranks.
  MPI_Comm_create(MPI_COMM_WORLD, mine, &comm);
  CHECK(comm != MPI_COMM_NULL, "two groups: none for me");
  CHECK(sum_over(comm, 1) == (size + 1 - rank % 2) / 2, "two groups: wrong size");
  MPI_Comm_free(&comm);
  MPI_Comm_create(MPI_COMM_WORLD, MPI_GROUP_EMPTY, &comm);
  CHECK(comm == MPI_COMM_NULL, "of the empty group");
  MPI_Group_free(&even);
  MPI_Group_free(&mine);
}

// Odd ranks only wait for a later message: the even ranks need no step of theirs.
static void create_group(int rank, int size) {
  if (rank % 2 == 0) {
    MPI_Group even = every_second(0, size);
    MPI_Comm comms[3];
    for (int i = 0; i < 3; ++i) {
      MPI_Comm_create_group(MPI_COMM_WORLD, even, 7 + i, &comms[i]);
      CHECK(sum_over(comms[i], rank) == (size - 1) / 2 * ((size + 1) / 2), "create_group: wrong sum");
    }
    for (int i = 0; i < 3; ++i) MPI_Comm_free(&comms[i]);
    MPI_Group_free(&even);
    if (rank + 1 < size) signal_to(rank + 1, kTag);
  } else {
    wait_for(rank - 1, kTag);
  }
}

// Half of the ranks begin to duplicate one communicator and then duplicate another; the others do so in reverse order.
static void idup(int rank, int size) {
  MPI_Comm later, between, world;
  MPI_Request request;
  MPI_Comm_dup(MPI_COMM_WORLD, &world);
  if (rank % 2 == 0) {
    MPI_Comm_idup(world, &later, &request);
    MPI_Comm_dup(MPI_COMM_WORLD, &between);
  } else {
    MPI_Comm_dup(MPI_COMM_WORLD, &between);
    MPI_Comm_idup(world, &later, &request);
  }
  CHECK(sum_over(between, 1) == size, "between: wrong size");
  MPI_Status status;
  MPI_Wait(&request, &status);
  CHECK(request == MPI_REQUEST_NULL, "idup: the request is left");
  CHECK(compared(later, world) == MPI_CONGRUENT, "idup: not congruent");
  CHECK(sum_over(later, 1) == size, "idup: wrong size");
  MPI_Comm_free(&later);
  MPI_Comm_free(&between);
  MPI_Comm many[kAtOnce];
  MPI_Request requests[kAtOnce];
  for (int i = 0; i < kAtOnce; ++i) MPI_Comm_idup(world, &many[i], &requests[i]);
  MPI_Comm_free(&world);  // frees only the handle
  for (int flag = 0; !flag;) MPI_Testall(kAtOnce, requests, &flag, MPI_STATUSES_IGNORE);
  // If two communicators had the same context, these messages would match each other.
  const int to = (rank + 1) % size, from = (rank + size - 1) % size;
  MPI_Request sends[kAtOnce];
  int out[kAtOnce];
  for (int i = 0; i < kAtOnce; ++i) {
    out[i] = 100 * rank + i;
    MPI_Isend(&out[i], 1, MPI_INT, to, kTag, many[i], &sends[i]);
  }
  for (int i = kAtOnce - 1; i >= 0; --i) {
    int in = -1;
    MPI_Recv(&in, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, many[i], MPI_STATUS_IGNORE);
    CHECK(in == 100 * from + i, "idup %d: received %d", i, in);
  }
  MPI_Waitall(kAtOnce, sends, MPI_STATUSES_IGNORE);
  for (int i = 0; i < kAtOnce; ++i) MPI_Comm_disconnect(&many[i]);
}

// A request of a nonblocking collective can neither be cancelled nor freed. Both calls fail, and the collective
// continues. (MPICH 4.0.2 returns classes that do not name requests.)
static void idup_goes_on(int size) {
  MPI_Comm later = MPI_COMM_NULL;
  MPI_Request request, kept;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_idup(MPI_COMM_WORLD, &later, &request);
  kept = request;
  for (int complete = 0; complete < 2; ++complete) {
    for (int flag = !complete; !flag;) MPI_Request_get_status(request, &flag, MPI_STATUS_IGNORE);
    const int cancelled = class_of(MPI_Cancel(&request)), freed = class_of(MPI_Request_free(&request));
    CHECK(cancelled == (on_margay() ? MPI_ERR_REQUEST : MPI_ERR_INTERN), "idup, Cancel: class %d", cancelled);
    CHECK(freed == (on_margay() ? MPI_ERR_REQUEST : MPI_ERR_OTHER), "idup, Request_free: class %d", freed);
    CHECK(request == kept, "idup: a refused call changed the request");
  }
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
  MPI_Status status;
  int flag = -1;
  MPI_Wait(&request, &status);
  MPI_Test_cancelled(&status, &flag);
  CHECK(flag == 0, "idup is cancelled");
  CHECK(sum_over(later, 1) == size, "idup after refused calls: wrong size");
  MPI_Comm_free(&later);
}

static void compare(int rank, int size) {
  MPI_Comm dup, backwards;
  MPI_Comm_dup(MPI_COMM_WORLD, &dup);
  MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &backwards);
  CHECK(compared(MPI_COMM_WORLD, MPI_COMM_WORLD) == MPI_IDENT, "world and world");
  CHECK(compared(MPI_COMM_WORLD, dup) == MPI_CONGRUENT, "world and duplicate");
  CHECK(compared(dup, backwards) == (size == 1 ? MPI_CONGRUENT : MPI_SIMILAR), "another order");
  CHECK(compared(MPI_COMM_SELF, dup) == (size == 1 ? MPI_CONGRUENT : MPI_UNEQUAL), "world and self");
  MPI_Comm_disconnect(&dup);
  CHECK(dup == MPI_COMM_NULL, "Comm_disconnect left the handle");
  MPI_Comm_free(&backwards);
}

static void split_type(int rank, int size) {
  MPI_Comm node, none;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, -rank, MPI_INFO_NULL, &node);
  CHECK(node != MPI_COMM_NULL, "no communicator of the node");
  int members = 0, mine = -1, higher = 0;
  MPI_Comm_size(node, &members);
  MPI_Comm_rank(node, &mine);
  CHECK(members >= 1 && members <= size, "%d ranks on the node", members);
  // The key reverses the order.
  int ranks[8] = {0};
  MPI_Allgather(&rank, 1, MPI_INT, ranks, 1, MPI_INT, node);
  for (int i = 0; i < members; ++i) higher += ranks[i] > rank;
  CHECK(mine == higher, "rank %d on the node, expected %d", mine, higher);
  MPI_Comm_free(&node);
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_UNDEFINED, 0, MPI_INFO_NULL, &none);
  CHECK(none == MPI_COMM_NULL, "MPI_UNDEFINED gave a communicator");
}

// The size of the communicator that a split by this type of hardware creates, 0 for none. `type` null: without the key.
static int hardware(const char* type) {
  MPI_Info info;
  MPI_Comm part;
  int members = 0;
  MPI_Info_create(&info);
  if (type != NULL) MPI_Info_set(info, "mpi_hw_resource_type", type);
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_HW_GUIDED, 0, info, &part);
  MPI_Info_free(&info);
  if (part == MPI_COMM_NULL) return 0;
  MPI_Comm_size(part, &members);
  MPI_Comm_free(&part);
  return members;
}

static void split_hardware(void) {
  MPI_Comm node, none;
  int members = 0;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  MPI_Comm_size(node, &members);
  MPI_Comm_free(&node);
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_HW_GUIDED, 0, MPI_INFO_NULL, &none);
  CHECK(none == MPI_COMM_NULL, "no info gave a communicator");
  CHECK(hardware(NULL) == 0, "no key gave a communicator");
  CHECK(hardware("no such thing") == 0, "no such hardware gave a communicator");
  const int shared = hardware("mpi_shared_memory");
  CHECK(shared == members, "%d ranks share memory, expected %d", shared, members);
  // The binding of processes differs between machines: no rank, or some of the node.
  const char* const kTypes[] = {"Package", "NUMANode", "L3Cache", "Core", "PU"};
  for (int i = 0; i < 5; ++i) {
    const int part = hardware(kTypes[i]);
    CHECK(part <= members, "%s: %d ranks of %d on the node", kTypes[i], part, members);
  }
}

// The ranks that share a folder, as MPICH determines them.
static void neighborhood(int size) {
  MPI_Info info;
  MPI_Comm near;
  int members = 0;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPIX_COMM_TYPE_NEIGHBORHOOD, 0, MPI_INFO_NULL, &near);
  CHECK(near == MPI_COMM_NULL, "a neighborhood of nothing");
  MPI_Info_create(&info);
  MPI_Info_set(info, "nbhd_common_dirname", ".");
  MPI_Comm_split_type(MPI_COMM_WORLD, MPIX_COMM_TYPE_NEIGHBORHOOD, 0, info, &near);
  CHECK(near != MPI_COMM_NULL, "no neighborhood of this folder");
  if (near != MPI_COMM_NULL) {
    MPI_Comm_size(near, &members);
    CHECK(members == size, "%d of %d share this folder", members, size);
    MPI_Comm_free(&near);
  }
  if (on_margay()) {
    MPI_Info_set(info, "nbhd_common_dirname", world_rank() % 2 ? "/" : ".");
    MPI_Comm_split_type(MPI_COMM_WORLD, MPIX_COMM_TYPE_NEIGHBORHOOD, 0, info, &near);
    MPI_Comm_size(near, &members);
    CHECK(members == (world_rank() % 2 ? size / 2 : (size + 1) / 2), "%d share one of two folders", members);
    MPI_Comm_free(&near);
    MPI_Info_set(info, "nbhd_common_dirname", "/no/such/folder");
    MPI_Comm_split_type(MPI_COMM_WORLD, MPIX_COMM_TYPE_NEIGHBORHOOD, 0, info, &near);
    CHECK(near == MPI_COMM_NULL, "a folder that is not there is shared");
  }
  MPI_Info_free(&info);
}

static void wrong(int size) {
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm made = MPI_COMM_WORLD, null = MPI_COMM_NULL;
  MPI_Group world;
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  CHECK(class_of(MPI_Comm_create_group(MPI_COMM_WORLD, world, -1, &made)) == MPI_ERR_TAG, "create_group: tag -1");
  CHECK(class_of(MPI_Comm_create(MPI_COMM_NULL, world, &made)) == MPI_ERR_COMM, "create of nothing");
  CHECK(class_of(MPI_Comm_idup(MPI_COMM_NULL, &made, &(MPI_Request){0})) == MPI_ERR_COMM, "idup of nothing");
  CHECK(class_of(MPI_Comm_split_type(MPI_COMM_WORLD, 77, 0, MPI_INFO_NULL, &made)) == MPI_ERR_ARG, "split type 77");
  CHECK(class_of(MPI_Comm_disconnect(&null)) == MPI_ERR_COMM, "disconnect of nothing");
  CHECK(class_of(MPI_Comm_compare(MPI_COMM_WORLD, MPI_COMM_NULL, &size)) == MPI_ERR_COMM, "compare with nothing");
  CHECK(class_of(MPI_Comm_group(MPI_COMM_NULL, &world)) == MPI_ERR_COMM, "the group of nothing");
  CHECK(made == MPI_COMM_WORLD, "a call that failed changed something");
  if (on_margay() && size > 1) {  // MPICH 4.0.2 accepts it
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    CHECK(class_of(MPI_Comm_create(MPI_COMM_SELF, world, &made)) == MPI_ERR_GROUP, "create: more than the parent has");
  }
  MPI_Group_free(&world);
}

// MPI_Comm_create_group on a parent with the world's ranks in reverse order, for all members but the last. That one
// calls too, and gets MPI_COMM_NULL.
static void create_group_of_turned(int rank, int size) {
  MPI_Comm turned, made = MPI_COMM_SELF;
  MPI_Group all, some;
  MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &turned);
  MPI_Comm_group(turned, &all);
  const int last = size - 1, turned_rank = last - rank;
  MPI_Group_excl(all, size > 1 ? 1 : 0, &last, &some);
  MPI_Comm_create_group(turned, some, 8, &made);
  CHECK((made == MPI_COMM_NULL) == (size > 1 && turned_rank == last), "turned: the wrong ranks got one");
  if (made != MPI_COMM_NULL) {
    int made_rank = -1;
    MPI_Comm_rank(made, &made_rank);
    CHECK(made_rank == turned_rank, "turned: rank %d, expected %d", made_rank, turned_rank);
    CHECK(sum_over(made, rank) == size * (size - 1) / 2, "turned: wrong sum");
    MPI_Comm_free(&made);
  }
  MPI_Group_free(&all);
  MPI_Group_free(&some);
  MPI_Comm_free(&turned);
}

int main(int argc, char** argv) {
  suite_begin(&argc, &argv);
  const int rank = world_rank(), size = world_size();
  create(rank, size);
  create_group(rank, size);
  create_group_of_turned(rank, size);
  idup(rank, size);
  idup_goes_on(size);
  compare(rank, size);
  neighborhood(size);
  split_type(rank, size);
  split_hardware();
  wrong(size);
  return suite_end("comm_create");
}
