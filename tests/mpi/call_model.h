// A model of a collective call, for between_groups.c: the input of each rank, and its expected result. Every rank can
// compute every rank's input, so each knows its own results without communication.
#pragma once

#include "collective_forms.h"
#include "reductions.h"

enum { kMembersMost = 64 };

// A communicator and its members, by ranks of the world. Within one group `remote` is the same as `local`.
typedef struct {
  MPI_Comm comm;
  int between;  // an intercommunicator: `side` is 0 or 1, the group of this rank
  int side, me, locals, remotes;
  int local[kMembersMost], remote[kMembersMost];
} Group;

// Adds the next rank of this group or, between groups, of the other. `local`: a member of the group of `rank`, the
// caller.
static void add_member(Group* g, int rank, int world, int local) {
  if (local && world == rank) g->me = g->locals;
  if (local) g->local[g->locals++] = world;
  if (local != g->between) g->remote[g->remotes++] = world;
}

enum {
  kBarrier,
  kBcast,
  kGather,
  kGatherv,
  kScatter,
  kScatterv,
  kAllgather,
  kAllgatherv,
  kAlltoall,
  kAlltoallv,
  kAlltoallw,
  kReduce,
  kAllreduce,
  kReduceScatter,
  kReduceScatterBlock,
  kScan,
  kExscan,
  kFunctions
};

// The blocks that a rank sends or receives, and the arguments that describe them.
typedef struct {
  int n, elements;
  int *counts, *displs, *byte_displs;
  MPI_Count* large_counts;
  MPI_Aint *large_displs, *large_byte_displs;
  MPI_Datatype* types;
  Elements memory;
} Blocks;

typedef struct {
  const Group* group;
  const Reduction* reductions;
  int number, function, form, which, count, in_place, starts;
  int root, root_side;  // the root's rank in its group
  unsigned seed;
  int is_root, is_leaf;  // within one group the root is also a leaf
  Blocks out, in;
  // The element counts of a reduce-scatter for each rank of this group.
  int scattered[kMembersMost];
  MPI_Count large_scattered[kMembersMost];
  MPI_Request request;
} ModelCall;

static int is_uneven(const ModelCall* c) {
  return c->function == kGatherv || c->function == kScatterv || c->function == kAllgatherv ||
         c->function == kAlltoallv || c->function == kAlltoallw;
}
static int is_rooted(const ModelCall* c) {
  return (c->function >= kBcast && c->function <= kScatterv) || c->function == kReduce;
}

static int world_rank_of_root(const ModelCall* c) {
  const Group* g = c->group;
  return !g->between || g->side == c->root_side ? g->local[c->root] : g->remote[c->root];
}
static int my_world_rank(const ModelCall* c) {
  return c->group->local[c->group->me];
}

// The number of elements in the block of one rank.
static int own_count(const ModelCall* c, int rank) {
  return is_uneven(c) ? (int)((unsigned)(rank * 5) + c->seed) % 4 * c->count / 3 : c->count;
}
// The same for the block from one rank to another; in place both directions are equal.
static int pair_count(const ModelCall* c, int from, int to) {
  const int a = c->in_place && to < from ? to : from, b = c->in_place && to < from ? from : to;
  return is_uneven(c) ? (int)((unsigned)(a * 3 + b) + c->seed) % 4 * c->count / 3 : c->count;
}

// The number of elements before the scatter of a reduce-scatter: equal in both groups.
static int scattered_total(const ModelCall* c) {
  const Group* g = c->group;
  if (c->function == kReduceScatter) return c->count;
  return g->between ? c->count / (g->locals * g->remotes) * g->locals * g->remotes : c->count / g->locals * g->locals;
}
static int scattered_count(const ModelCall* c, int local) {
  const Group* g = c->group;
  const int total = scattered_total(c);
  if (c->function == kReduceScatterBlock) return total / g->locals;
  int others = 0;
  for (int i = 1; i < g->locals; ++i) {
    const int count = (i + (int)(c->seed % 3)) % 3 * (total / (3 * g->locals));
    if (i == local) return count;
    others += count;
  }
  return total - others;
}

static void blocks_make(Blocks* blocks, const ModelCall* c, int n, const int* counts, int room) {
  const size_t each = (size_t)n, extent = c->reductions[c->which].extent;
  *blocks = (Blocks){.n = n,
                     .counts = memory_of(each * sizeof(int)),
                     .displs = memory_of(each * sizeof(int)),
                     .byte_displs = memory_of(each * sizeof(int)),
                     .large_counts = memory_of(each * sizeof(MPI_Count)),
                     .large_displs = memory_of(each * sizeof(MPI_Aint)),
                     .large_byte_displs = memory_of(each * sizeof(MPI_Aint)),
                     .types = memory_of(each * sizeof(MPI_Datatype))};
  for (int i = 0; i < n; ++i) {
    blocks->counts[i] = counts[i];
    blocks->large_counts[i] = counts[i];
    blocks->displs[i] = blocks->elements;
    blocks->large_displs[i] = blocks->elements;
    blocks->byte_displs[i] = blocks->elements * (int)extent;
    blocks->large_byte_displs[i] = blocks->byte_displs[i];
    blocks->types[i] = c->reductions[c->which].type;
    // A gap behind each block, if the call has displacements.
    blocks->elements += counts[i] + is_uneven(c);
  }
  if (room > blocks->elements) blocks->elements = room;
  blocks->memory = elements_of(blocks->elements, extent);
}
static void blocks_free(Blocks* blocks) {
  if (blocks->memory.now == NULL) return;
  free(blocks->counts);
  free(blocks->displs);
  free(blocks->byte_displs);
  free(blocks->large_counts);
  free(blocks->large_displs);
  free(blocks->large_byte_displs);
  free(blocks->types);
  elements_free(&blocks->memory);
}

// One block for each rank of the other group: that rank's own, or with `pairs` the one between this rank and it.
static void blocks_of_peers(Blocks* blocks, const ModelCall* c, int pairs, int going) {
  const Group* g = c->group;
  int counts[kMembersMost];
  for (int p = 0; p < g->remotes; ++p) {
    const int peer = g->remote[p], here = my_world_rank(c);
    counts[p] = !pairs ? own_count(c, peer) : going ? pair_count(c, here, peer) : pair_count(c, peer, here);
  }
  blocks_make(blocks, c, g->remotes, counts, 0);
}
static void one_block(Blocks* blocks, const ModelCall* c, int count, int room) {
  blocks_make(blocks, c, 1, &count, room);
}

// Lays out this rank's buffers. Buffers that are not significant have no memory.
static void plan(ModelCall* c) {
  const Group* g = c->group;
  const int own = own_count(c, my_world_rank(c)), total = scattered_total(c);
  c->is_root = is_rooted(c) && g->side == c->root_side && g->me == c->root;
  c->is_leaf = !g->between || !is_rooted(c) || g->side != c->root_side;
  for (int i = 0; i < g->locals; ++i) c->large_scattered[i] = c->scattered[i] = scattered_count(c, i);
  const int gives_in_place = c->in_place && (!is_rooted(c) || c->is_root);
  switch (c->function) {
    case kBarrier:
      break;
    case kBcast:
      if (c->is_root || c->is_leaf) one_block(&c->in, c, c->count, 0);
      break;
    case kGather:
    case kGatherv:
      if (c->is_leaf && !gives_in_place) one_block(&c->out, c, own, 0);
      if (c->is_root) blocks_of_peers(&c->in, c, 0, 0);
      break;
    case kScatter:
    case kScatterv:
      if (c->is_root) blocks_of_peers(&c->out, c, 0, 0);
      if (c->is_leaf && !gives_in_place) one_block(&c->in, c, own, 0);
      break;
    case kAllgather:
    case kAllgatherv:
      if (!gives_in_place) one_block(&c->out, c, own, 0);
      blocks_of_peers(&c->in, c, 0, 0);
      break;
    case kAlltoall:
    case kAlltoallv:
    case kAlltoallw:
      if (!gives_in_place) blocks_of_peers(&c->out, c, 1, 1);
      blocks_of_peers(&c->in, c, 1, 0);
      break;
    case kReduceScatter:
    case kReduceScatterBlock:
      if (!gives_in_place) one_block(&c->out, c, total, 0);
      one_block(&c->in, c, c->scattered[g->me], gives_in_place ? total : 0);
      break;
    default:
      if (c->is_leaf && !gives_in_place) one_block(&c->out, c, c->count, 0);
      if (c->is_root || !is_rooted(c)) one_block(&c->in, c, c->count, 0);
  }
}

// Element `i` of the block from one rank to another; of a block for all ranks, `to` is -1.
static Map moved(const ModelCall* c, int start, int from, int to, int i) {
  uint64_t x = c->seed + (uint64_t)start * 77 + (uint64_t)(from + 1) * 1000003 + (uint64_t)(to + 2) * 10007;
  x = (x + (uint64_t)i) * 0x9e3779b97f4a7c15u;
  x ^= x >> 29;
  return (Map){x & 0x7fffffff, x >> 33 & 0x7fffffff};
}

enum { kBefore = 1, kAfter = 2 };
static void put_moved(const ModelCall* c, Blocks* blocks, int block, int start, int from, int to, int when) {
  const size_t extent = blocks->memory.extent;
  for (int i = 0; i < blocks->counts[block]; ++i) {
    const size_t at = (size_t)(blocks->displs[block] + i) * extent;
    const Map map = moved(c, start, from, to, i);
    if (when & kBefore) put_element(blocks->memory.now + at, c->which, map);
    if (when & kAfter) put_element(blocks->memory.expected + at, c->which, map);
  }
}

// Writes the data and the expected results of a call that moves blocks without reducing them.
static void fill_moved(ModelCall* c, int start) {
  const Group* g = c->group;
  const int here = my_world_rank(c), root = world_rank_of_root(c);
  const int pairs = c->function >= kAlltoall && c->function <= kAlltoallw;
  const int scatter = c->function == kScatter || c->function == kScatterv;
  if (c->function == kBcast) {
    if (c->in.n) put_moved(c, &c->in, 0, start, root, -1, c->is_root ? kBefore | kAfter : kAfter);
    return;
  }
  for (int p = 0; p < c->out.n; ++p)
    put_moved(c, &c->out, p, start, here, pairs || scatter ? g->remote[p] : -1, kBefore | kAfter);
  for (int p = 0; p < c->in.n; ++p) {
    put_moved(c, &c->in, p, start, scatter ? root : g->remote[p], pairs || scatter ? here : -1, kAfter);
    if (c->in_place && pairs) put_moved(c, &c->in, p, start, here, g->remote[p], kBefore);
    if (c->in_place && !pairs && !scatter && p == g->me) put_moved(c, &c->in, p, start, here, -1, kBefore);
  }
}

// The combination of the members from the first to before `end`, in the order of their ranks in the group.
static Map reduced_of(const ModelCall* c, unsigned seed, int end, int i) {
  const Group* g = c->group;
  Map all = input_of(c->which, seed, g->remote[0], i);
  for (int p = 1; p < end; ++p) all = c->reductions[c->which].both(all, input_of(c->which, seed, g->remote[p], i));
  return all;
}

static void fill_reduced(ModelCall* c, int start) {
  const Group* g = c->group;
  const unsigned seed = c->seed + (unsigned)start * 7;
  const size_t extent = c->reductions[c->which].extent;
  const int scattered = c->function == kReduceScatter || c->function == kReduceScatterBlock;
  const int given = scattered ? scattered_total(c) : c->count;
  Elements* out = &c->out.memory;
  for (int i = 0; i < given; ++i) {
    const Map map = input_of(c->which, seed, my_world_rank(c), i);
    if (c->out.n) put_element(out->now + (size_t)i * extent, c->which, map);
    if (c->out.n) put_element(out->expected + (size_t)i * extent, c->which, map);
    if (c->in_place && c->in.n && !c->out.n) put_element(c->in.memory.now + (size_t)i * extent, c->which, map);
    // The first rank of an Exscan in place keeps its buffer's contents.
    if (c->function == kExscan && g->me == 0) put_element(c->in.memory.expected + (size_t)i * extent, c->which, map);
  }
  int first = 0, end = g->remotes;
  for (int local = 0; scattered && local < g->me; ++local) first += c->scattered[local];
  if (c->function == kScan) end = g->me + 1;
  if (c->function == kExscan) end = g->me;
  for (int i = 0; c->in.n && end > 0 && i < c->in.counts[0]; ++i)
    put_element(c->in.memory.expected + (size_t)i * extent, c->which, reduced_of(c, seed, end, first + i));
}

static void fill_call(ModelCall* c, int start) {
  if (c->out.n) elements_clear(&c->out.memory);
  if (c->in.n) elements_clear(&c->in.memory);
  if (c->function >= kReduce)
    fill_reduced(c, start);
  else if (c->function != kBarrier)
    fill_moved(c, start);
}

static void check_call(ModelCall* c, int start) {
  char what[200];
  snprintf(what, sizeof what, "call %d, function %d, %s, count %d, root %d of %d%s, start %d", c->number, c->function,
           c->group->between ? "between groups" : "in a group", c->count, c->root, c->root_side,
           c->in_place ? ", in place" : "", start);
  int defined = c->in.elements;
  if (c->function == kExscan && c->group->me == 0 && !c->in_place) defined = 0;
  if (c->function == kReduceScatter || c->function == kReduceScatterBlock) defined = c->in.counts[0];
  if (c->out.n) elements_check(&c->out.memory, c->which, c->out.elements, what, c->form);
  if (c->in.n) elements_check(&c->in.memory, c->which, defined, what, c->form);
}
