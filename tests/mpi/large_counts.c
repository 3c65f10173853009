// Tests of the functions with large counts: each has the same effect as its variant with int counts; inquiries about
// types created by them; and, if there is enough memory, a message of more than 2^31 bytes.
// ranks: 2
// wires: shm epoll
#include <stdint.h>
#include <sys/statvfs.h>

#include "check.h"

enum { kTag = 6, kInts = 20 };
static const MPI_Count kHuge = ((MPI_Count)1 << 31) + 12345;

static void fill(int* data, int seed) {
  for (int i = 0; i < kInts; ++i) data[i] = seed + i;
}
static void expect(const char* what, const int* data, int seed) {
  for (int i = 0; i < kInts; ++i)
    if (data[i] != seed + i) {
      CHECK(0, "%s: number %d is %d, expected %d", what, i, data[i], seed + i);
      return;
    }
}

// Message `i` of a list that both ranks process.
static void send_one(int i, const int* out, int partner) {
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Comm world = MPI_COMM_WORLD;
  switch (i) {
    case 0:
      MPI_Send_c(out, kInts, MPI_INT, partner, kTag, world);
      return;
    case 1:
      MPI_Ssend_c(out, kInts, MPI_INT, partner, kTag, world);
      return;
    case 2:
      MPI_Rsend_c(out, kInts, MPI_INT, partner, kTag, world);
      return;
    case 3:
      MPI_Bsend_c(out, kInts, MPI_INT, partner, kTag, world);
      return;
    case 4:
      MPI_Isend_c(out, kInts, MPI_INT, partner, kTag, world, &request);
      break;
    case 5:
      MPI_Issend_c(out, kInts, MPI_INT, partner, kTag, world, &request);
      break;
    case 6:
      MPI_Irsend_c(out, kInts, MPI_INT, partner, kTag, world, &request);
      break;
    case 7:
      MPI_Ibsend_c(out, kInts, MPI_INT, partner, kTag, world, &request);
      break;
    case 8:
      MPI_Send_init_c(out, kInts, MPI_INT, partner, kTag, world, &request);
      break;
    case 9:
      MPI_Ssend_init_c(out, kInts, MPI_INT, partner, kTag, world, &request);
      break;
    case 10:
      MPI_Rsend_init_c(out, kInts, MPI_INT, partner, kTag, world, &request);
      break;
    default:
      MPI_Bsend_init_c(out, kInts, MPI_INT, partner, kTag, world, &request);
      break;
  }
  if (i >= 8) MPI_Start(&request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  if (i >= 8) MPI_Request_free(&request);
}

// The receiver posts the receive and notifies the sender before the send, so that ready sends are valid.
static void receive_one(int i, int* in, int partner) {
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Message message = MPI_MESSAGE_NULL;
  MPI_Status status;
  MPI_Count count = -1;
  const int ready = i % 4 == 2;
  memset(in, 0, kInts * sizeof *in);
  if (i % 4 == 0) {
    MPI_Recv_init_c(in, kInts, MPI_INT, partner, kTag, MPI_COMM_WORLD, &request);
    MPI_Start(&request);
  } else if (ready) {
    MPI_Irecv_c(in, kInts, MPI_INT, partner, kTag, MPI_COMM_WORLD, &request);
  }
  signal_to(partner, kTag + 1);
  if (request != MPI_REQUEST_NULL) {
    MPI_Wait(&request, &status);
    if (!ready) MPI_Request_free(&request);
  } else if (i == 1) {
    MPI_Recv_c(in, kInts, MPI_INT, partner, kTag, MPI_COMM_WORLD, &status);
  } else {
    MPI_Mprobe(partner, kTag, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
    if (i % 4 == 1) {
      MPI_Mrecv_c(in, kInts, MPI_INT, &message, &status);
    } else {
      MPI_Imrecv_c(in, kInts, MPI_INT, &message, &request);
      MPI_Wait(&request, &status);
    }
  }
  MPI_Get_count_c(&status, MPI_INT, &count);
  CHECK(count == kInts, "message %d: %lld of %d elements", i, (long long)count, kInts);
  MPI_Get_elements_c(&status, MPI_INT, &count);
  CHECK(count == kInts, "message %d: %lld of %d predefined elements", i, (long long)count, kInts);
  expect("a message", in, 100 * i);
}

static void messages(int rank, int partner) {
  int out[kInts], in[kInts];
  char room[2000], *attached = NULL;
  MPI_Count bytes = -1;
  MPI_Buffer_attach_c(room, sizeof room);
  for (int i = 0; i < 12; ++i) {
    fill(out, 100 * i);
    if (rank < partner) {
      wait_for(partner, kTag + 1);
      send_one(i, out, partner);
    } else {
      receive_one(i, in, partner);
    }
  }
  MPI_Buffer_detach_c(&attached, &bytes);
  CHECK(attached == room && bytes == sizeof room, "the buffer came back as %p, %lld bytes", attached, (long long)bytes);

  fill(out, rank);
  MPI_Sendrecv_c(out, kInts, MPI_INT, partner, kTag, in, kInts, MPI_INT, partner, kTag, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
  expect("MPI_Sendrecv_c", in, partner);
  MPI_Sendrecv_replace_c(out, kInts, MPI_INT, partner, kTag, partner, kTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  expect("MPI_Sendrecv_replace_c", out, partner);
}

static void expect_blocks(const char* what, const int* blocks, int first, int second) {
  expect(what, blocks, first);
  expect(what, blocks + kInts, second);
}

static void reductions(int rank) {
  const MPI_Comm world = MPI_COMM_WORLD;
  int out[2 * kInts], in[2 * kInts];
  fill(out, rank);
  fill(out + kInts, 100 + rank);
  MPI_Allreduce_c(out, in, kInts, MPI_INT, MPI_MAX, world);
  expect("MPI_Allreduce_c", in, 1);
  MPI_Reduce_c(out, in, kInts, MPI_INT, MPI_MIN, 0, world);
  if (rank == 0) expect("MPI_Reduce_c", in, 0);
  MPI_Scan_c(out, in, kInts, MPI_INT, MPI_MAX, world);
  expect("MPI_Scan_c", in, rank);
  MPI_Exscan_c(out, in, kInts, MPI_INT, MPI_MAX, world);
  if (rank == 1) expect("MPI_Exscan_c", in, 0);
  MPI_Reduce_scatter_block_c(out, in, kInts, MPI_INT, MPI_MAX, world);
  expect("MPI_Reduce_scatter_block_c", in, 100 * rank + 1);
  const MPI_Count counts[] = {kInts, kInts};
  memset(in, 0, sizeof in);
  MPI_Reduce_scatter_c(out, in, counts, MPI_INT, MPI_MAX, world);
  expect("MPI_Reduce_scatter_c", in, 100 * rank + 1);
  fill(in, 7);
  MPI_Reduce_local_c(out, in, kInts, MPI_INT, MPI_MIN);
  expect("MPI_Reduce_local_c", in, rank);
}

// The block of the second rank precedes that of the first, on both sides.
static void blocks_of_any_length(int rank, MPI_Comm comm, int neighbors) {
  const MPI_Count counts[] = {kInts, kInts}, bytes[] = {4 * kInts, 4 * kInts};
  const MPI_Aint swapped[] = {kInts, 0}, swapped_bytes[] = {4 * kInts, 0};
  const MPI_Datatype types[] = {MPI_INT, MPI_INT}, as_bytes[] = {MPI_BYTE, MPI_BYTE};
  int out[2 * kInts], in[2 * kInts] = {0};
  fill(out, 10 * rank);
  fill(out + kInts, 10 * rank + 1);
  if (neighbors) {
    MPI_Neighbor_allgatherv_c(out, kInts, MPI_INT, in, counts, swapped, MPI_INT, comm);
    expect_blocks("MPI_Neighbor_allgatherv_c", in, 10, 0);
    memset(in, 0, sizeof in);
    MPI_Neighbor_alltoallv_c(out, counts, swapped, MPI_INT, in, counts, swapped, MPI_INT, comm);
    expect_blocks("MPI_Neighbor_alltoallv_c", in, 11 - rank, 1 - rank);
    memset(in, 0, sizeof in);
    MPI_Neighbor_alltoallw_c(out, bytes, swapped_bytes, as_bytes, in, counts, swapped_bytes, types, comm);
    expect_blocks("MPI_Neighbor_alltoallw_c", in, 11 - rank, 1 - rank);
    return;
  }
  MPI_Allgatherv_c(out, kInts, MPI_INT, in, counts, swapped, MPI_INT, comm);
  expect_blocks("MPI_Allgatherv_c", in, 10, 0);
  memset(in, 0, sizeof in);
  MPI_Gatherv_c(out, kInts, MPI_INT, in, counts, swapped, MPI_INT, 1, comm);
  if (rank == 1) expect_blocks("MPI_Gatherv_c", in, 10, 0);
  MPI_Scatterv_c(out, counts, swapped, MPI_INT, in, kInts, MPI_INT, 1, comm);
  expect("MPI_Scatterv_c", in, 11 - rank);
  MPI_Alltoallv_c(out, counts, swapped, MPI_INT, in, counts, swapped, MPI_INT, comm);
  expect_blocks("MPI_Alltoallv_c", in, 11 - rank, 1 - rank);
  memset(in, 0, sizeof in);
  MPI_Alltoallw_c(out, bytes, swapped_bytes, as_bytes, in, counts, swapped_bytes, types, comm);
  expect_blocks("MPI_Alltoallw_c", in, 11 - rank, 1 - rank);
}

static void blocks_of_one_length(int rank, MPI_Comm comm, int neighbors) {
  int out[2 * kInts], in[2 * kInts] = {0};
  fill(out, 10 * rank);
  fill(out + kInts, 10 * rank + 1);
  if (neighbors) {
    MPI_Neighbor_allgather_c(out, kInts, MPI_INT, in, kInts, MPI_INT, comm);
    expect_blocks("MPI_Neighbor_allgather_c", in, 0, 10);
    MPI_Neighbor_alltoall_c(out, kInts, MPI_INT, in, kInts, MPI_INT, comm);
    expect_blocks("MPI_Neighbor_alltoall_c", in, rank, 10 + rank);
    return;
  }
  MPI_Gather_c(out, kInts, MPI_INT, in, kInts, MPI_INT, 1, comm);
  if (rank == 1) expect_blocks("MPI_Gather_c", in, 0, 10);
  MPI_Allgather_c(out, kInts, MPI_INT, in, kInts, MPI_INT, comm);
  expect_blocks("MPI_Allgather_c", in, 0, 10);
  MPI_Scatter_c(out, kInts, MPI_INT, in, kInts, MPI_INT, 1, comm);
  expect("MPI_Scatter_c", in, 10 + rank);
  MPI_Alltoall_c(out, kInts, MPI_INT, in, kInts, MPI_INT, comm);
  expect_blocks("MPI_Alltoall_c", in, rank, 10 + rank);
  MPI_Bcast_c(out, kInts, MPI_INT, 1, comm);
  expect("MPI_Bcast_c", out, 10);
}

static void collectives(int rank) {
  MPI_Comm all_to_all;
  const int both[] = {0, 1};
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 2, both, MPI_UNWEIGHTED, 2, both, MPI_UNWEIGHTED, MPI_INFO_NULL, 0,
                                 &all_to_all);
  reductions(rank);
  for (int neighbors = 0; neighbors < 2; ++neighbors) {
    const MPI_Comm comm = neighbors ? all_to_all : MPI_COMM_WORLD;
    blocks_of_one_length(rank, comm, neighbors);
    blocks_of_any_length(rank, comm, neighbors);
  }
  MPI_Comm_free(&all_to_all);
}

// Prints the arguments that MPI_Type_get_contents_c returns, and the type's size and bounds. Frees the type.
static void print_type(const char* name, MPI_Datatype type) {
  MPI_Count integers = -1, addresses = -1, counts = -1, types = -1, size = -1, lower = -1, extent = -1;
  int combiner = -1, few[4];
  MPI_Type_get_envelope_c(type, &integers, &addresses, &counts, &types, &combiner);
  MPI_Type_size_c(type, &size);
  MPI_Type_get_extent_c(type, &lower, &extent);
  printf("%s: size %lld, lower bound %lld, extent %lld", name, (long long)size, (long long)lower, (long long)extent);
  MPI_Type_get_true_extent_c(type, &lower, &extent);
  printf(", true %lld, %lld\n", (long long)lower, (long long)extent);
  int integer[20];
  MPI_Aint address[20];
  MPI_Count count[20];
  MPI_Datatype old[20];
  CHECK(integers <= 20 && addresses <= 20 && counts <= 20 && types <= 20, "%s has strange contents", name);
  MPI_Type_get_contents_c(type, integers, addresses, counts, types, integer, address, count, old);
  printf("  combiner %d of %lld types; integers", combiner, (long long)types);
  for (int i = 0; i < integers; ++i) printf(" %d", integer[i]);
  printf("; addresses");
  for (int i = 0; i < addresses; ++i) printf(" %ld", (long)address[i]);
  printf("; large counts");
  for (int i = 0; i < counts; ++i) printf(" %lld", (long long)count[i]);
  printf("\n");
  const int class = class_of(MPI_Type_get_envelope(type, &few[0], &few[1], &few[2], &few[3]));
  CHECK((class == MPI_SUCCESS) == (counts == 0), "%s: MPI_Type_get_envelope: class %d", name, class);
  MPI_Type_free(&type);
}

static void datatypes(void) {
  const MPI_Count big = (MPI_Count)1 << 33;
  const MPI_Count lengths[] = {2, 3}, places[] = {0, big};
  const MPI_Count sizes[] = {8, big}, subsizes[] = {2, big / 2}, starts[] = {1, 5};
  const MPI_Datatype types[] = {MPI_INT, MPI_DOUBLE};
  const int distributions[] = {MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC}, processes[] = {2, 2};
  const int arguments[] = {MPI_DISTRIBUTE_DFLT_DARG, 1 << 20};
  MPI_Datatype type;
  MPI_Type_contiguous_c(big, MPI_INT, &type), print_type("contiguous", type);
  MPI_Type_vector_c(3, 2, big, MPI_INT, &type), print_type("vector", type);
  MPI_Type_create_hvector_c(3, big, 5 * big, MPI_INT, &type), print_type("hvector", type);
  MPI_Type_indexed_c(2, lengths, places, MPI_INT, &type), print_type("indexed", type);
  MPI_Type_create_hindexed_c(2, lengths, places, MPI_INT, &type), print_type("hindexed", type);
  MPI_Type_create_indexed_block_c(2, 7, places, MPI_INT, &type), print_type("indexed_block", type);
  MPI_Type_create_hindexed_block_c(2, 7, places, MPI_INT, &type), print_type("hindexed_block", type);
  MPI_Type_create_struct_c(2, lengths, places, types, &type), print_type("struct", type);
  MPI_Type_create_resized_c(MPI_INT, -big, 2 * big, &type), print_type("resized", type);
  MPI_Type_create_subarray_c(2, sizes, subsizes, starts, MPI_ORDER_C, MPI_BYTE, &type), print_type("subarray", type);
  MPI_Type_create_darray_c(4, 1, 2, sizes, distributions, arguments, processes, MPI_ORDER_C, MPI_BYTE, &type);
  print_type("darray", type);
  MPI_Type_vector(3, 2, 5, MPI_INT, &type), print_type("a vector without large counts", type);
}

static void packing(void) {
  int out[kInts], in[kInts] = {0};
  char packed[200];
  MPI_Count position = 0, size = -1;
  int small = 0;
  MPI_Datatype type;
  fill(out, 3);
  MPI_Pack_c(out, kInts, MPI_INT, packed, sizeof packed, &position, MPI_COMM_WORLD);
  printf("packed to %lld\n", (long long)position);
  position = 0;
  MPI_Unpack_c(packed, sizeof packed, &position, in, kInts, MPI_INT, MPI_COMM_WORLD);
  expect("MPI_Unpack_c", in, 3);
  memset(in, 0, sizeof in);
  position = 0;
  MPI_Pack_external_c("external32", out, kInts, MPI_INT, packed, sizeof packed, &position);
  printf("packed to %lld\n", (long long)position);
  position = 0;
  MPI_Unpack_external_c("external32", packed, sizeof packed, &position, in, kInts, MPI_INT);
  expect("MPI_Unpack_external_c", in, 3);
  MPI_Pack_size_c(kHuge, MPI_INT, MPI_COMM_WORLD, &size);
  CHECK(size >= 4 * kHuge, "MPI_Pack_size_c: %lld", (long long)size);
  MPI_Pack_external_size_c("external32", kHuge, MPI_INT, &size);
  printf("external size %lld\n", (long long)size);
  MPI_Type_contiguous_c(kHuge, MPI_BYTE, &type);
  MPI_Type_size(type, &small);
  CHECK(small == MPI_UNDEFINED, "MPI_Type_size of more than 2^31 bytes: %d", small);
  MPI_Type_free(&type);
}

// Debian's libmpich lacks these four.
#pragma weak MPI_Status_c2f08
#pragma weak MPI_Status_f082c
#pragma weak MPI_Status_f082f
#pragma weak MPI_Status_f2f08

// Conversions of a status between C, Fortran and Fortran 2008: the same five words.
static void conversions(void) {
  MPI_Status status = {0}, back = {0};
  MPI_Fint words[MPI_F_STATUS_SIZE];
  MPI_F08_status record;
  MPI_Count count = -1;
  status.MPI_SOURCE = 3, status.MPI_TAG = 4, status.MPI_ERROR = 5;
  MPI_Status_set_elements_x(&status, MPI_BYTE, kHuge);
  MPI_Status_c2f(&status, words);
  MPI_Status_f2c(words, &back);
  CHECK(memcmp(&status, &back, sizeof back) == 0, "a status changed on its way to Fortran and back");
  CHECK(words[MPI_F_SOURCE] == 3 && words[MPI_F_TAG] == 4 && words[MPI_F_ERROR] == 5, "Fortran's words are misplaced");
  if (MPI_Status_c2f08 != NULL) {
    memset(&back, 0, sizeof back), memset(words, 0, sizeof words);
    MPI_Status_c2f08(&status, &record);
    MPI_Status_f082f(&record, words);
    memset(&record, 0, sizeof record);
    MPI_Status_f2f08(words, &record);
    MPI_Status_f082c(&record, &back);
    CHECK(memcmp(&status, &back, sizeof back) == 0, "a status changed on its way to Fortran 2008 and back");
    MPI_Get_count_c(&back, MPI_BYTE, &count);
    CHECK(count == kHuge, "the converted status has %lld bytes", (long long)count);
  }
  CHECK(MPI_File_f2c(MPI_File_c2f(MPI_FILE_NULL)) == MPI_FILE_NULL, "the null file changed");
}

static void nothing(void* in, void* inout, int* count, MPI_Datatype* type) {
  (void)in, (void)inout, (void)count, (void)type;
}

// Types of 2^63 bytes and more; MPICH computes smaller sizes.
static void too_many(MPI_Datatype wide, int count) {
  char byte = 0;
  MPI_Comm world = MPI_COMM_WORLD, self = MPI_COMM_SELF;
  MPI_Request request;
  MPI_Op op;
  CHECK(class_of(MPI_Send(&byte, count, wide, 0, kTag, world)) == MPI_ERR_COUNT, "MPI_Send");
  CHECK(class_of(MPI_Send(&byte, count, wide, MPI_PROC_NULL, kTag, world)) == MPI_ERR_COUNT,
        "MPI_Send to MPI_PROC_NULL");
  CHECK(class_of(MPI_Irecv(&byte, count, wide, 0, kTag, world, &request)) == MPI_ERR_COUNT, "MPI_Irecv");
  CHECK(class_of(MPI_Recv_init(&byte, count, wide, 0, kTag, world, &request)) == MPI_ERR_COUNT, "MPI_Recv_init");
  CHECK(class_of(MPI_Send(&byte, count - 1, wide, MPI_PROC_NULL, kTag, world)) == MPI_SUCCESS, "just below 2^63");
  MPI_Comm_set_errhandler(self, MPI_ERRORS_RETURN);
  CHECK(class_of(MPI_Bcast(&byte, count, wide, 0, self)) == MPI_ERR_COUNT, "MPI_Bcast");
  CHECK(class_of(MPI_Allgather(&byte, 1, MPI_BYTE, &byte + 1, count, wide, self)) == MPI_ERR_COUNT, "MPI_Allgather");
  MPI_Op_create(nothing, 1, &op);
  CHECK(class_of(MPI_Allreduce(MPI_IN_PLACE, &byte, count, wide, op, self)) == MPI_ERR_COUNT, "MPI_Allreduce");
  MPI_Op_free(&op);
}

static void errors(void) {
  char byte = 0;
  MPI_Datatype wide, type = MPI_DATATYPE_NULL;
  MPI_Type_contiguous_c((MPI_Count)1 << 40, MPI_INT, &wide);
  MPI_Type_commit(&wide);
  printf("below 0: class %d\n", class_of(MPI_Send_c(&byte, -kHuge, MPI_BYTE, 0, kTag, MPI_COMM_WORLD)));
  printf("below 0: class %d\n", class_of(MPI_Type_contiguous_c(-kHuge, MPI_BYTE, &type)));
  if (on_margay()) {
    const int class = class_of(MPI_Type_contiguous_c((MPI_Count)1 << 40, wide, &type));
    CHECK(class == MPI_ERR_COUNT, "a type of 2^82 bytes: class %d", class);
    too_many(wide, 1 << 21);
  }
  MPI_Type_free(&wide);
}

#ifdef MARGAY_VERSION
static int there_is_room(void) {
  struct statvfs shm;
  long long available = 0;
  char line[200];
  FILE* memory = fopen("/proc/meminfo", "r");
  while (memory != NULL && fgets(line, sizeof line, memory) != NULL)
    if (sscanf(line, "MemAvailable: %lld", &available) == 1) break;
  if (memory != NULL) fclose(memory);
  return available > 8LL << 20 && statvfs("/dev/shm", &shm) == 0 && (shm.f_bavail * shm.f_frsize) >> 30 >= 1;
}

// Zeros except for one byte every 2^28, so the sender needs almost no memory. The receiver's type is one byte at an
// offset of one.
static void huge_message(int rank, int partner) {
  const MPI_Count step = (MPI_Count)1 << 28;
  char* data = calloc((size_t)kHuge + 1, 1);
  MPI_Status status;
  MPI_Datatype byte, shifted;
  const MPI_Count place = 1;
  int count = 0;
  MPI_Count large = 0;
  MPI_Type_create_hindexed_block_c(1, 1, &place, MPI_BYTE, &byte);
  MPI_Type_create_resized_c(byte, 0, 1, &shifted);
  MPI_Type_commit(&shifted);
  if (rank < partner) {
    for (MPI_Count at = 0; at < kHuge; at += step) data[at] = (char)(at / step + 1);
    data[kHuge - 1] = 99;
    MPI_Send_c(data, kHuge, MPI_BYTE, partner, kTag, MPI_COMM_WORLD);
  } else {
    MPI_Recv_c(data, kHuge, shifted, partner, kTag, MPI_COMM_WORLD, &status);
    for (MPI_Count at = 0; at < kHuge; at += step)
      CHECK(data[1 + at] == (char)(at / step + 1) && data[2 + at] == 0, "byte %lld is %d", (long long)at, data[1 + at]);
    CHECK(data[kHuge] == 99 && data[0] == 0, "the last byte is %d", data[kHuge]);
    MPI_Get_count(&status, MPI_BYTE, &count);
    CHECK(count == MPI_UNDEFINED, "MPI_Get_count: %d", count);
    MPI_Get_elements(&status, MPI_BYTE, &count);
    CHECK(count == MPI_UNDEFINED, "MPI_Get_elements: %d", count);
    MPI_Get_count_c(&status, shifted, &large);
    CHECK(large == kHuge, "MPI_Get_count_c: %lld", (long long)large);
    MPI_Get_elements_c(&status, MPI_BYTE, &large);
    CHECK(large == kHuge, "MPI_Get_elements_c: %lld", (long long)large);
  }
  MPI_Type_free(&byte);
  MPI_Type_free(&shifted);
  free(data);
}
#endif

int main(int argc, char** argv) {
  suite_begin(&argc, &argv);
  const int rank = world_rank(), partner = partner_of(rank);
  messages(rank, partner);
  collectives(rank);
  if (rank == 0) {
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    datatypes();
    packing();
    conversions();
    errors();
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
  }
#ifdef MARGAY_VERSION
  // Once over each wire is enough. Both ranks run it or neither: rank 0 decides.
  int huge = rank == 0 && there_is_room();
  MPI_Bcast(&huge, 1, MPI_INT, 0, MPI_COMM_WORLD);
  if (huge) huge_message(rank, partner);
#endif
  return suite_end("large_counts");
}
