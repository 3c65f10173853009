// Tests of intercommunicators between two halves of the world: point-to-point in every call, duplicates, splits,
// merges.
// ranks: 2 3 5
// reference: 3
#include "check.h"

enum { kTag = 6, kLong = 60000 };

static int local_rank, local_size, remote_size, side;

static void check_shape(const char* what, MPI_Comm inter, int locals, int remotes) {
  int is_inter = 0, size = -1, others = -1;
  MPI_Comm_test_inter(inter, &is_inter);
  CHECK(is_inter, "%s: no intercommunicator", what);
  MPI_Comm_size(inter, &size);
  MPI_Comm_remote_size(inter, &others);
  CHECK(size == locals && others == remotes, "%s: %d and %d ranks, expected %d and %d", what, size, others, locals,
        remotes);
  MPI_Group group;
  int members = -1;
  MPI_Comm_remote_group(inter, &group);
  MPI_Group_size(group, &members);
  CHECK(members == remotes, "%s: %d in the remote group", what, members);
  MPI_Group_free(&group);
}

// The lower and the upper ranks; their leaders communicate through `peer`.
static MPI_Comm join_in_order(MPI_Comm peer, int upper_order) {
  const int rank = world_rank(), size = world_size(), half = size / 2;
  MPI_Comm local, inter;
  side = rank >= half;
  // The second group is in reverse order, so its ranks differ from those of the world.
  MPI_Comm_split(MPI_COMM_WORLD, side, side ? upper_order * rank : rank, &local);
  MPI_Comm_rank(local, &local_rank);
  local_size = side ? size - half : half;
  remote_size = size - local_size;
  const int leader = side && upper_order < 0 ? local_size - 1 : 0;
  MPI_Intercomm_create(local, leader, peer, side ? 0 : half, 12, &inter);
  MPI_Comm_free(&local);
  return inter;
}
static MPI_Comm join(MPI_Comm peer) {
  return join_in_order(peer, -1);
}

static int world_rank_of(int there, int rank) {
  return there ? world_size() - 1 - rank : rank;
}

// Each rank sends to each rank of the other group, in standard and in synchronous mode.
static void all_to_all(MPI_Comm inter) {
  MPI_Request sends[8], receives[8];
  int in[8], out = world_rank();
  for (int i = 0; i < remote_size; ++i) MPI_Irecv(&in[i], 1, MPI_INT, i, kTag, inter, &receives[i]);
  for (int i = 0; i < remote_size; ++i) {
    if (i % 2)
      MPI_Issend(&out, 1, MPI_INT, i, kTag, inter, &sends[i]);
    else
      MPI_Isend(&out, 1, MPI_INT, i, kTag, inter, &sends[i]);
  }
  MPI_Status statuses[8];
  MPI_Waitall(remote_size, receives, statuses);
  MPI_Waitall(remote_size, sends, MPI_STATUSES_IGNORE);
  for (int i = 0; i < remote_size; ++i) {
    CHECK(in[i] == world_rank_of(!side, i), "from %d came %d", i, in[i]);
    check_status("all to all", &statuses[i], i, kTag, (int)sizeof(int));
  }
}

static void wildcards_and_probes(MPI_Comm inter) {
  unsigned char* body = memory_of(kLong);
  MPI_Request request;
  MPI_Status status;
  for (int bytes = 10; bytes <= kLong; bytes *= 20) {
    // Only pairs of equal rank; the last rank of the larger group has no partner.
    if (local_rank >= remote_size) break;
    unsigned char* sent = memory_of(kLong);
    pattern_fill(sent, (size_t)bytes, (unsigned)(world_rank() + bytes));
    MPI_Isend(sent, bytes, MPI_BYTE, local_rank, kTag, inter, &request);
    MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, inter, &status);
    check_status("probe", &status, local_rank, kTag, bytes);
    const unsigned seed = (unsigned)(world_rank_of(!side, local_rank) + bytes);
    if (side) {
      MPI_Message message;
      MPI_Mprobe(MPI_ANY_SOURCE, kTag, inter, &message, &status);
      MPI_Mrecv(body, bytes, MPI_BYTE, &message, &status);
    } else {
      MPI_Recv(body, bytes, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, inter, &status);
    }
    check_status("receive", &status, local_rank, kTag, bytes);
    CHECK(pattern_mismatch(body, (size_t)bytes, seed) == (size_t)bytes, "%d bytes: wrong body", bytes);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    free(sent);
  }
  free(body);
}

static void other_calls(MPI_Comm inter) {
  int out = world_rank(), in = -1;
  MPI_Status status;
  if (local_rank < remote_size) {
    const int expected = world_rank_of(!side, local_rank);
    MPI_Sendrecv(&out, 1, MPI_INT, local_rank, kTag, &in, 1, MPI_INT, MPI_ANY_SOURCE, kTag, inter, &status);
    CHECK(in == expected && status.MPI_SOURCE == local_rank, "Sendrecv: %d from %d", in, status.MPI_SOURCE);
    in = out;
    MPI_Sendrecv_replace(&in, 1, MPI_INT, local_rank, kTag, local_rank, kTag, inter, &status);
    CHECK(in == expected, "Sendrecv_replace: %d", in);
    MPI_Request pair[2];
    MPI_Send_init(&out, 1, MPI_INT, local_rank, kTag, inter, &pair[0]);
    MPI_Recv_init(&in, 1, MPI_INT, local_rank, kTag, inter, &pair[1]);
    for (int i = 0; i < 2; ++i) {
      in = -1;
      MPI_Startall(2, pair);
      MPI_Waitall(2, pair, MPI_STATUSES_IGNORE);
      CHECK(in == expected, "persistent: %d", in);
    }
    MPI_Request_free(&pair[0]);
    MPI_Request_free(&pair[1]);
    char room[sizeof(int) + MPI_BSEND_OVERHEAD];
    void* detached;
    int bytes;
    MPI_Buffer_attach(room, (int)sizeof room);
    MPI_Bsend(&out, 1, MPI_INT, local_rank, kTag, inter);
    MPI_Recv(&in, 1, MPI_INT, local_rank, kTag, inter, MPI_STATUS_IGNORE);
    CHECK(in == expected, "Bsend: %d", in);
    MPI_Buffer_detach(&detached, &bytes);
  }
  MPI_Send(&out, 1, MPI_INT, MPI_PROC_NULL, kTag, inter);
  MPI_Recv(&in, 1, MPI_INT, MPI_PROC_NULL, kTag, inter, MPI_STATUS_IGNORE);
  // The ranks of the remote group are the valid ones.
  MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN);
  CHECK(class_of(MPI_Send(&out, 1, MPI_INT, remote_size, kTag, inter)) == MPI_ERR_RANK, "a rank beyond the group");
  CHECK(class_of(MPI_Irecv(&in, 1, MPI_INT, -7, kTag, inter, &(MPI_Request){0})) == MPI_ERR_RANK, "source -7");
  CHECK(MPI_Barrier(inter) == MPI_SUCCESS, "a barrier over two groups");
  CHECK(class_of(MPI_Scan(&out, &in, 1, MPI_INT, MPI_SUM, inter)) == MPI_ERR_COMM, "a scan over two groups");
  CHECK(class_of(MPI_Exscan(&out, &in, 1, MPI_INT, MPI_SUM, inter)) == MPI_ERR_COMM, "a scan over two groups");
  if (on_margay()) {
    CHECK(class_of(MPI_Neighbor_allgather(&out, 1, MPI_INT, &in, 1, MPI_INT, inter)) == MPI_ERR_COMM,
          "neighbors in two groups");
    CHECK(class_of(MPI_Cart_create(inter, 0, NULL, NULL, 0, &(MPI_Comm){0})) == MPI_ERR_COMM, "a grid of two groups");
  }
}

// Messages on one intercommunicator do not match receives on another with the same processes.
static void duplicates(MPI_Comm inter) {
  MPI_Comm dup, later;
  MPI_Request request;
  MPI_Comm_dup(inter, &dup);
  MPI_Comm_idup(dup, &later, &request);
  check_shape("dup", dup, local_size, remote_size);
  int result = -1;
  MPI_Comm_compare(inter, dup, &result);
  CHECK(result == MPI_CONGRUENT, "dup: comparison gives %d", result);
  MPI_Comm_compare(inter, MPI_COMM_WORLD, &result);
  CHECK(result == MPI_UNEQUAL, "with the world: comparison gives %d", result);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  check_shape("idup", later, local_size, remote_size);
  if (local_rank < remote_size) {
    MPI_Comm comms[3] = {inter, dup, later};
    int out[3], in = -1;
    MPI_Request sends[3];
    for (int i = 0; i < 3; ++i) {
      out[i] = 10 * world_rank() + i;
      MPI_Isend(&out[i], 1, MPI_INT, local_rank, kTag, comms[i], &sends[i]);
    }
    for (int i = 2; i >= 0; --i) {
      MPI_Recv(&in, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comms[i], MPI_STATUS_IGNORE);
      CHECK(in == 10 * world_rank_of(!side, local_rank) + i, "communicator %d: %d", i, in);
    }
    MPI_Waitall(3, sends, MPI_STATUSES_IGNORE);
  }
  MPI_Comm_free(&dup);
  MPI_Comm_free(&later);
}

static void split_and_create(MPI_Comm inter) {
  // Rank 0 of both groups, and the others; a color that only one side passes yields MPI_COMM_NULL.
  MPI_Comm part;
  MPI_Comm_split(inter, local_rank == 0, -local_rank, &part);
  const int others = remote_size - 1;
  if (local_rank == 0) {
    check_shape("split", part, 1, 1);
  } else if (others > 0) {
    check_shape("split", part, local_size - 1, others);
  } else {
    CHECK(part == MPI_COMM_NULL, "split: a communicator without a remote group");
  }
  if (part != MPI_COMM_NULL) {
    int rank = -1;
    MPI_Comm_rank(part, &rank);
    CHECK(rank == (local_rank == 0 ? 0 : local_size - 1 - local_rank), "split: rank %d", rank);
    MPI_Comm_free(&part);
  }
  MPI_Group group, first;
  const int zero = 0;
  MPI_Comm_group(inter, &group);
  MPI_Group_incl(group, 1, &zero, &first);
  MPI_Comm_create(inter, first, &part);
  CHECK((part != MPI_COMM_NULL) == (local_rank == 0), "create: the wrong ranks got one");
  if (part != MPI_COMM_NULL) {
    check_shape("create", part, 1, 1);
    int out = world_rank(), in = -1;
    MPI_Sendrecv(&out, 1, MPI_INT, 0, kTag, &in, 1, MPI_INT, 0, kTag, part, MPI_STATUS_IGNORE);
    CHECK(in == world_rank_of(!side, 0), "create: %d", in);
    MPI_Comm_free(&part);
  }
  MPI_Group_free(&group);
  MPI_Group_free(&first);
}

// The other group in another order, so that the groups of both communicators are at most similar.
static void compared(MPI_Comm inter, MPI_Comm peer) {
  MPI_Comm other = join_in_order(peer, 1);
  const int upper = world_size() - world_size() / 2;
  int result = -1;
  MPI_Comm_compare(inter, other, &result);
  CHECK(result == (upper > 1 ? MPI_SIMILAR : MPI_CONGRUENT), "in another order: comparison gives %d", result);
  MPI_Comm_free(&other);
}

// A rank in both groups is an error.
static void overlapping(void) {
  MPI_Comm inter = MPI_COMM_NULL;
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  const int code = MPI_Intercomm_create(MPI_COMM_SELF, 0, MPI_COMM_SELF, 0, 13, &inter);
  CHECK(class_of(code) == MPI_ERR_COMM && inter == MPI_COMM_NULL, "with itself: class %d", class_of(code));
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
}

static void merge(MPI_Comm inter) {
  for (int turn = 0; turn < 2; ++turn) {
    MPI_Comm all;
    int rank = -1, is_inter = 1, sum = 0;
    const int high = side == turn;
    MPI_Intercomm_merge(inter, 6 * high, &all);  // any nonzero number
    MPI_Comm_test_inter(all, &is_inter);
    CHECK(!is_inter, "merge: still an intercommunicator");
    MPI_Comm_rank(all, &rank);
    CHECK(rank == local_rank + (high ? remote_size : 0), "merge: rank %d", rank);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, all);
    CHECK(sum == world_size() * (world_size() - 1) / 2, "merge: sum %d", sum);
    MPI_Comm_free(&all);
  }
}

int main(int argc, char** argv) {
  suite_begin(&argc, &argv);
  MPI_Comm peer;
  MPI_Comm_dup(MPI_COMM_WORLD, &peer);
  // One side has created more communicators, so the free contexts differ.
  MPI_Comm own[3];
  const int more = world_rank() >= world_size() / 2 ? 3 : 0;
  for (int i = 0; i < more; ++i) MPI_Comm_dup(MPI_COMM_SELF, &own[i]);
  MPI_Comm inter = join(peer);
  for (int i = 0; i < more; ++i) MPI_Comm_free(&own[i]);
  check_shape("made", inter, local_size, remote_size);
  all_to_all(inter);
  wildcards_and_probes(inter);
  other_calls(inter);
  duplicates(inter);
  split_and_create(inter);
  merge(inter);
  compared(inter, peer);
  if (on_margay()) overlapping();  // MPICH 4.0.2 returns another class
  MPI_Comm_free(&inter);
  for (int i = 0; i < 50; ++i) {
    inter = join(peer);
    MPI_Comm_disconnect(&inter);
  }
  MPI_Comm_free(&peer);
  return suite_end("intercomm");
}
