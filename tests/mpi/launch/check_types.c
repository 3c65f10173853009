/* Rank 0 sends messages to rank 1 that match their receives ("good"), or that do not, one with each protocol, or as
   many as a number specifies. "logical": operations that the standard does not define on their types. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kMany = 100000 };

static int rank;
static char* out;
static char* in;

static void move(int tag, int send_count, MPI_Datatype send_type, int receive_count, MPI_Datatype receive_type) {
  if (rank == 0) {
    MPI_Send(out, send_count, send_type, 1, tag, MPI_COMM_WORLD);
  } else {
    MPI_Recv(in, receive_count, receive_type, 0, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
}

/* double, int; or int, double. Packed without gaps, so that the bytes are the same. */
static MPI_Datatype two(MPI_Datatype first, MPI_Datatype second, int first_bytes) {
  int lengths[2] = {1, 1};
  MPI_Aint places[2] = {0, first_bytes};
  MPI_Datatype types[2] = {first, second};
  MPI_Datatype made;
  MPI_Type_create_struct(2, lengths, places, types, &made);
  MPI_Type_commit(&made);
  return made;
}

/* Sends twice by one persistent request; both messages are received as `type`. */
static void persistent(int tag, MPI_Datatype type) {
  MPI_Request request;
  if (rank == 0) {
    MPI_Ssend_init(out, 4, MPI_DOUBLE, 1, tag, MPI_COMM_WORLD, &request);
  } else {
    MPI_Recv_init(in, 4, type, 0, tag, MPI_COMM_WORLD, &request);
  }
  for (int i = 0; i < 2; ++i) {
    MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  MPI_Request_free(&request);
}

static void partitioned(int tag) {
  MPI_Request request;
  if (rank == 0) {
    MPI_Psend_init(out, 2, 6, MPI_INT, 1, tag, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    MPI_Start(&request);
    MPI_Pready_range(0, 1, request);
  } else {
    MPI_Precv_init(in, 3, 4, MPI_INT, 0, tag, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    MPI_Start(&request);
  }
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Request_free(&request);
}

/* The library's own messages must cause no report. */
static void collectives(void) {
  int one = rank;
  int sum;
  int both[2];
  MPI_Comm self;
  MPI_Comm between;
  MPI_Comm merged;
  MPI_Bcast(in, 4, MPI_INT, 0, MPI_COMM_WORLD);
  MPI_Bcast(in, 100000, MPI_INT, 0, MPI_COMM_WORLD);
  MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Gather(&one, 1, MPI_INT, both, 1, MPI_INT, 0, MPI_COMM_WORLD);
  MPI_Allgather(&one, 1, MPI_INT, both, 1, MPI_INT, MPI_COMM_WORLD);
  MPI_Comm_split(MPI_COMM_WORLD, rank, 0, &self);
  MPI_Intercomm_create(self, 0, MPI_COMM_WORLD, 1 - rank, 20, &between);
  MPI_Sendrecv(&one, 1, MPI_INT, 0, 21, &sum, 1, MPI_INT, 0, 21, between, MPI_STATUS_IGNORE);
  MPI_Intercomm_merge(between, rank, &merged);
  MPI_Barrier(merged);
  MPI_Comm_free(&merged);
  MPI_Comm_free(&between);
  MPI_Comm_free(&self);
}

static void good(MPI_Datatype double_int, MPI_Datatype twice, MPI_Datatype float_int) {
  int numbers[4] = {0, 0, 0, 0};
  int position = 0;
  MPI_Datatype vector;
  MPI_Request request;
  MPI_Type_vector(2, 1, 2, MPI_INT, &vector);
  MPI_Type_commit(&vector);
  move(1, 4, MPI_INT, 10, MPI_INT);
  move(2, 3, vector, 6, MPI_INT);
  move(3, 6, MPI_INT, 3, vector);
  move(4, 4, double_int, 2, twice);
  move(5, 3, double_int, 2, twice);
  move(6, kMany, MPI_INT, kMany, MPI_INT);
  move(7, 0, MPI_CHAR, 1, MPI_DOUBLE);
  move(8, 5, MPI_BYTE, 9, MPI_BYTE);
  MPI_Pack(numbers, 4, MPI_INT, out, kMany, &position, MPI_COMM_WORLD);
  move(9, position, MPI_PACKED, 4, MPI_INT);
  move(10, 4, MPI_INT, 64, MPI_PACKED);
  MPI_Sendrecv_replace(numbers, 4, MPI_INT, 1 - rank, 11, 1 - rank, 11, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Irecv(in, 2, MPI_DOUBLE, rank, 12, MPI_COMM_WORLD, &request);
  MPI_Ssend(out, 2, MPI_DOUBLE, MPI_PROC_NULL, 12, MPI_COMM_WORLD);
  MPI_Send(out, 2, MPI_DOUBLE, rank, 12, MPI_COMM_WORLD);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  /* Pair types match their components. */
  move(13, 3, MPI_2INT, 8, MPI_INT);
  move(14, 2, MPI_FLOAT_INT, 2, float_int);
  move(15, 2, float_int, 3, MPI_FLOAT_INT);
  move(16, kMany / 4, MPI_DOUBLE_INT, kMany / 4, double_int); /* long */
  move(17, 3, MPI_INT, 2, MPI_2INT);                          /* ends within an element */
  persistent(18, MPI_DOUBLE);
  partitioned(19);
  collectives();
  MPI_Type_free(&vector);
}

static void bad(MPI_Datatype double_int, MPI_Datatype int_double) {
  int numbers[4] = {0, 0, 0, 0};
  MPI_Comm copy;
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Message message;
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  MPI_Comm_set_name(copy, "copy");
  move(1, 4, MPI_INT, 2, MPI_DOUBLE);
  move(2, 2, double_int, 2, int_double);
  move(3, 4, MPI_BYTE, 1, MPI_INT);
  /* Long, into a receive that is posted before the send; then one that is posted after it. */
  if (rank == 1) MPI_Irecv(in, kMany, MPI_INT, 0, 4, MPI_COMM_WORLD, &request);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) MPI_Isend(out, kMany, MPI_FLOAT, 1, 4, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  if (rank == 0) MPI_Isend(out, kMany, MPI_FLOAT, 1, 5, MPI_COMM_WORLD, &request);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 1) MPI_Recv(in, kMany, MPI_UNSIGNED, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  /* Buffered, and received by a matched probe. */
  if (rank == 0) {
    void* buffer = malloc(4096);
    int bytes;
    MPI_Buffer_attach(buffer, 4096);
    MPI_Bsend(out, 2, MPI_SHORT, 1, 6, copy);
    MPI_Buffer_detach(&buffer, &bytes);
    free(buffer);
  } else {
    MPI_Mprobe(0, 6, copy, &message, MPI_STATUS_IGNORE);
    MPI_Mrecv(in, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
  }
  /* Reported by the name of the function without large counts. */
  if (rank == 0) {
    MPI_Send_c(out, 1, MPI_INT, 1, 8, MPI_COMM_WORLD);
  } else {
    MPI_Recv(in, 4, MPI_BYTE, 0, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  MPI_Sendrecv_replace(numbers, 4, rank == 0 ? MPI_FLOAT : MPI_INT, rank == 0 ? 1 : MPI_PROC_NULL, 9,
                       rank == 0 ? MPI_PROC_NULL : 0, 9, copy, MPI_STATUS_IGNORE);
  persistent(10, MPI_LONG_LONG);
  move(11, 1, MPI_FLOAT_INT, 2, MPI_INT);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  move(7, 4, MPI_INT, 3, MPI_INT);
  MPI_Comm_free(&copy);
}

static void logical(void) {
  double one = 1.5, both = -1;
  float memory = 0, real = 2;
  MPI_Win win;
  for (int i = 0; i < 3; ++i) MPI_Allreduce(&one, &both, 1, MPI_DOUBLE, MPI_LXOR, MPI_COMM_WORLD);
  MPI_Win_create(&memory, sizeof memory, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  MPI_Win_fence(0, win);
  MPI_Accumulate(&real, 1, MPI_FLOAT, rank, 0, 1, MPI_FLOAT, MPI_LOR, win);
  MPI_Win_fence(0, win);
  MPI_Win_free(&win);
  if (both != 0 || memory != 1) printf("%g and %g, not 0 and 1\n", both, (double)memory);
}

int main(int argc, char** argv) {
  MPI_Datatype double_int;
  MPI_Datatype int_double;
  MPI_Datatype twice;
  MPI_Datatype float_int;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  out = calloc(kMany, sizeof(double));
  in = calloc(kMany, sizeof(double));
  double_int = two(MPI_DOUBLE, MPI_INT, sizeof(double));
  int_double = two(MPI_INT, MPI_DOUBLE, sizeof(int));
  MPI_Type_contiguous(2, double_int, &twice);
  MPI_Type_commit(&twice);
  if (argc > 1 && strcmp(argv[1], "good") == 0) {
    float_int = two(MPI_FLOAT, MPI_INT, sizeof(float));
    good(double_int, twice, float_int);
    MPI_Type_free(&float_int);
  } else if (argc > 1 && strcmp(argv[1], "logical") == 0) {
    logical();
  } else if (argc > 1 && atoi(argv[1]) > 0) {
    for (int i = 0; i < atoi(argv[1]); ++i) move(1, 1, MPI_INT, 1, MPI_FLOAT);
  } else {
    bad(double_int, int_double);
  }
  MPI_Type_free(&twice);
  MPI_Type_free(&int_double);
  MPI_Type_free(&double_int);
  free(in);
  free(out);
  MPI_Finalize();
  return 0;
}
