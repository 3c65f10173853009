// Tests of overlapping send and receive buffers: collective calls with and without displacements reject them in every
// form (MPI 4.0, 2.3 and 6.5). Blocks of one buffer that do not overlap, and blocks without elements, are valid.
// ranks: 1 2
// reference: none, MPICH checks some forms only, rejects blocks that do not overlap, and ends with an assertion
#include "collective_forms.h"

enum { kCount = 2, kApart = 4, kInts = 16, kOk = MPI_SUCCESS, kBad = MPI_ERR_BUFFER };

// Makes the call in this form, and stores its error in `code`. Completes the request of an accepted call.
#define CALLED(form, Name, name, plain, large, comm, code)                    \
  do {                                                                        \
    MPI_Request q_ = MPI_REQUEST_NULL;                                        \
    switch (form) {                                                           \
      case kBlocking:                                                         \
        code = MPI_##Name(UNPACKED plain, comm);                              \
        break;                                                                \
      case kNonblocking:                                                      \
        code = MPI_I##name(UNPACKED plain, comm, &q_);                        \
        break;                                                                \
      case kPersistent:                                                       \
        code = MPI_##Name##_init(UNPACKED plain, comm, MPI_INFO_NULL, &q_);   \
        break;                                                                \
      case kLargeBlocking:                                                    \
        code = MPI_##Name##_c(UNPACKED large, comm);                          \
        break;                                                                \
      case kLargeNonblocking:                                                 \
        code = MPI_I##name##_c(UNPACKED large, comm, &q_);                    \
        break;                                                                \
      default:                                                                \
        code = MPI_##Name##_init_c(UNPACKED large, comm, MPI_INFO_NULL, &q_); \
    }                                                                         \
    if (q_ != MPI_REQUEST_NULL && is_persistent(form)) MPI_Start(&q_);        \
    MPI_Wait(&q_, MPI_STATUS_IGNORE);                                         \
    if (q_ != MPI_REQUEST_NULL) MPI_Request_free(&q_);                        \
  } while (0)

#define EXPECT(expected, form, Name, name, plain, large, comm, how)                                              \
  do {                                                                                                           \
    int code_ = MPI_SUCCESS;                                                                                     \
    CALLED(form, Name, name, plain, large, comm, code_);                                                         \
    CHECK(class_of(code_) == (expected), "%s, form %d, %s: class %d, not %d", #Name, form, how, class_of(code_), \
          expected);                                                                                             \
  } while (0)

// A send and a receive buffer of a rank that sends to itself, and whether they overlap.
struct pair {
  const char* how;
  int send, receive;  // in ints from the memory's beginning
  int from, to;       // displacements
  int count;
  int expected;
};
static const struct pair kPairs[] = {{"the same", 0, 0, 0, 0, kCount, kBad},
                                     {"the same block of two buffers", kApart, 0, 0, kApart, kCount, kBad},
                                     {"the same block of one buffer", 0, 0, kApart, kApart, kCount, kBad},
                                     {"blocks of one buffer that overlap", 0, 0, 1, 0, kCount, kBad},
                                     {"apart", 0, kApart, 0, 0, kCount, kOk},
                                     {"blocks of one buffer that lie apart", 0, 0, 0, kApart, kCount, kOk},
                                     {"nothing of one buffer", 0, 0, 0, 0, 0, kOk}};

static void one_pair(const struct pair* is, int form, MPI_Comm self) {
  int memory[kInts] = {0};
  int *const send = memory + is->send, *const receive = memory + is->receive;
  const int count[1] = {is->count}, from[1] = {is->from}, to[1] = {is->to};
  const int from_bytes[1] = {is->from * (int)sizeof(int)}, to_bytes[1] = {is->to * (int)sizeof(int)};
  const MPI_Count count_c[1] = {is->count};
  const MPI_Aint from_c[1] = {is->from}, to_c[1] = {is->to};
  const MPI_Aint from_bytes_c[1] = {from_bytes[0]}, to_bytes_c[1] = {to_bytes[0]};
  const MPI_Datatype type[1] = {MPI_INT};
  int *const sent = send + is->from, *const received = receive + is->to;
  EXPECT(is->expected, form, Gatherv, gatherv, (sent, *count, *type, receive, count, to, *type, 0),
         (sent, *count, *type, receive, count_c, to_c, *type, 0), self, is->how);
  EXPECT(is->expected, form, Scatterv, scatterv, (send, count, from, *type, received, *count, *type, 0),
         (send, count_c, from_c, *type, received, *count, *type, 0), self, is->how);
  EXPECT(is->expected, form, Allgatherv, allgatherv, (sent, *count, *type, receive, count, to, *type),
         (sent, *count, *type, receive, count_c, to_c, *type), self, is->how);
  EXPECT(is->expected, form, Alltoallv, alltoallv, (send, count, from, *type, receive, count, to, *type),
         (send, count_c, from_c, *type, receive, count_c, to_c, *type), self, is->how);
  EXPECT(is->expected, form, Alltoallw, alltoallw, (send, count, from_bytes, type, receive, count, to_bytes, type),
         (send, count_c, from_bytes_c, type, receive, count_c, to_bytes_c, type), self, is->how);
  EXPECT(is->expected, form, Neighbor_allgatherv, neighbor_allgatherv, (sent, *count, *type, receive, count, to, *type),
         (sent, *count, *type, receive, count_c, to_c, *type), self, is->how);
  EXPECT(is->expected, form, Neighbor_alltoallv, neighbor_alltoallv,
         (send, count, from, *type, receive, count, to, *type),
         (send, count_c, from_c, *type, receive, count_c, to_c, *type), self, is->how);
  EXPECT(is->expected, form, Neighbor_alltoallw, neighbor_alltoallw,
         (send, count, from_bytes_c, type, receive, count, to_bytes_c, type),
         (send, count_c, from_bytes_c, type, receive, count_c, to_bytes_c, type), self, is->how);
}

// Calls without displacements.
static void even_blocks(int form, MPI_Comm self) {
  int memory[kInts] = {0};
  EXPECT(kBad, form, Gather, gather, (memory, 1, MPI_INT, memory, 1, MPI_INT, 0),
         (memory, 1, MPI_INT, memory, 1, MPI_INT, 0), self, "the same");
  EXPECT(kBad, form, Scatter, scatter, (memory, 1, MPI_INT, memory, 1, MPI_INT, 0),
         (memory, 1, MPI_INT, memory, 1, MPI_INT, 0), self, "the same");
  EXPECT(kBad, form, Allgather, allgather, (memory, 1, MPI_INT, memory, 1, MPI_INT),
         (memory, 1, MPI_INT, memory, 1, MPI_INT), self, "the same");
  EXPECT(kBad, form, Alltoall, alltoall, (memory, 1, MPI_INT, memory, 1, MPI_INT),
         (memory, 1, MPI_INT, memory, 1, MPI_INT), self, "the same");
  EXPECT(kBad, form, Neighbor_alltoall, neighbor_alltoall, (memory, 1, MPI_INT, memory, 1, MPI_INT),
         (memory, 1, MPI_INT, memory, 1, MPI_INT), self, "the same");
}

// Two ranks: a rank's block for the other rank overlaps the block into which it receives.
static void between_ranks(int form) {
  const int rank = world_rank(), size = world_size(), other = size - 1 - rank;
  int memory[kInts] = {0};
  const int ones[2] = {1, 1}, to[2] = {0, 1}, nothing_to_itself[2] = {rank == 1, rank == 0};
  const MPI_Count ones_c[2] = {1, 1}, nothing_to_itself_c[2] = {rank == 1, rank == 0};
  const MPI_Aint to_c[2] = {0, 1};
  if (size != 2) return;
  EXPECT(kBad, form, Allgatherv, allgatherv, (memory, 1, MPI_INT, memory, ones, to, MPI_INT),
         (memory, 1, MPI_INT, memory, ones_c, to_c, MPI_INT), MPI_COMM_WORLD, "one buffer");
  EXPECT(kBad, form, Alltoallv, alltoallv,
         (memory, nothing_to_itself, to, MPI_INT, memory, nothing_to_itself, to, MPI_INT),
         (memory, nothing_to_itself_c, to_c, MPI_INT, memory, nothing_to_itself_c, to_c, MPI_INT), MPI_COMM_WORLD,
         "one block for the other rank");
  memory[0] = rank;
  EXPECT(kOk, form, Allgatherv, allgatherv, (memory, 1, MPI_INT, memory + 1, ones, to, MPI_INT),
         (memory, 1, MPI_INT, memory + 1, ones_c, to_c, MPI_INT), MPI_COMM_WORLD, "apart");
  CHECK(memory[1 + other] == other, "from rank %d came %d", other, memory[1 + other]);
}

int main(int argc, char** argv) {
  suite_begin(&argc, &argv);
  const int itself = 0;
  MPI_Comm self;
  MPI_Dist_graph_create_adjacent(MPI_COMM_SELF, 1, &itself, MPI_UNWEIGHTED, 1, &itself, MPI_UNWEIGHTED, MPI_INFO_NULL,
                                 0, &self);
  MPI_Comm_set_errhandler(self, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  for (int form = 0; form < kForms; ++form) {
    for (size_t i = 0; i < sizeof kPairs / sizeof *kPairs; ++i) one_pair(&kPairs[i], form, self);
    even_blocks(form, self);
    between_ranks(form);
  }
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
  MPI_Comm_free(&self);
  return suite_end("aliased");
}
