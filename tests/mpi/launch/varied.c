// Seeded random messages, round after round, for a trace: communicators, types, tags, modes, wildcards, collective
// calls in between. varied SEED FOLDER [ROUNDS]: each rank writes the messages that it received into FOLDER, in their
// order, one line each: "SOURCE DESTINATION TAG COUNT TYPE COMMUNICATOR", with ranks of MPI_COMM_WORLD; with ROUNDS
// rank 1 then kills itself.
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

enum { kRounds = 60, kMost = 30000, kModes = 7 };

static unsigned long state;

// xorshift64*: all ranks roll the same numbers.
static unsigned roll(unsigned below) {
  state ^= state >> 12;
  state ^= state << 25;
  state ^= state >> 27;
  return (unsigned)((state * 2685821657736338717UL) >> 33) % below;
}

struct Type {
  MPI_Datatype type;
  const char* name;
};
struct Group {
  MPI_Comm comm;
  const char* name;
  int first, stride;  // its rank r is rank first + r * stride of the world
};

static void send(void* body, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm, unsigned mode) {
  MPI_Request request = MPI_REQUEST_NULL;
  switch (mode) {
    case 0:
      MPI_Send(body, count, type, to, tag, comm);
      return;
    case 1:
      MPI_Isend(body, count, type, to, tag, comm, &request);
      break;
    case 2:
      MPI_Ssend(body, count, type, to, tag, comm);
      return;
    case 3:
      MPI_Issend(body, count, type, to, tag, comm, &request);
      break;
    case 4:
      MPI_Bsend(body, count, type, to, tag, comm);
      return;
    case 5:
      MPI_Rsend(body, count, type, to, tag, comm);  // the receive was posted before a barrier
      return;
    default:
      MPI_Send_init(body, count, type, to, tag, comm, &request);
      MPI_Start(&request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      MPI_Request_free(&request);
      return;
  }
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

// Each rank sends to the rank `shift` positions further on, and receives.
static void pass_on(const struct Group* group, const struct Type* type, double* out, double* in, FILE* log) {
  int size, rank, got = 0;
  MPI_Request receive;
  MPI_Status status;
  MPI_Comm_size(group->comm, &size);
  MPI_Comm_rank(group->comm, &rank);
  const unsigned below[] = {2, 12, 1000, kMost};
  const int count = (int)roll(below[roll(4)]), tag = (int)roll(50), shift = 1 + (int)roll(16);
  const unsigned mode = roll(kModes), wild = roll(4);
  const int to = (rank + shift) % size, from = (rank + size - shift % size) % size;
  if (wild != 0) MPI_Barrier(group->comm);
  MPI_Irecv(in, kMost, type->type, (wild & 1) != 0 ? MPI_ANY_SOURCE : from, (wild & 2) != 0 ? MPI_ANY_TAG : tag,
            group->comm, &receive);
  if (mode == 5) MPI_Barrier(group->comm);
  send(out, count, type->type, to, tag, group->comm, mode);
  MPI_Wait(&receive, &status);
  MPI_Get_count(&status, type->type, &got);
  fprintf(log, "%d %d %d %d %s %s\n", group->first + status.MPI_SOURCE * group->stride,
          group->first + rank * group->stride, status.MPI_TAG, got, type->name, group->name);
  if (wild != 0) MPI_Barrier(group->comm);
}

static void collective(MPI_Comm comm, double* out, double* in) {
  int size;
  MPI_Request request;
  MPI_Comm_size(comm, &size);
  const int count = (int)roll(roll(2) != 0 ? 8 : 2000), root = (int)roll(64) % size;
  switch (roll(5)) {
    case 0:
      MPI_Bcast(out, count, MPI_DOUBLE, root, comm);
      break;
    case 1:
      MPI_Allreduce(out, in, count, MPI_DOUBLE, MPI_SUM, comm);
      break;
    case 2:
      MPI_Allgather(out, count, MPI_DOUBLE, in, count, MPI_DOUBLE, comm);
      break;
    case 3:
      MPI_Ireduce(out, in, count, MPI_DOUBLE, MPI_SUM, root, comm, &request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      break;
    default:
      MPI_Alltoall(out, count, MPI_DOUBLE, in, count, MPI_DOUBLE, comm);
  }
}

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  const int dies_at = argc > 3 ? atoi(argv[3]) : -1;
  int rank, size, room = 4 * kMost * (int)sizeof(double);
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  state = (strtoul(argv[1], NULL, 10) + 1) * 0x9E3779B97F4A7C15UL;
  struct Group groups[3] = {
      {MPI_COMM_WORLD, "MPI_COMM_WORLD", 0, 1}, {MPI_COMM_NULL, "halo", 0, 1}, {MPI_COMM_NULL, "half", rank % 2, 2}};
  MPI_Comm_dup(MPI_COMM_WORLD, &groups[1].comm);
  MPI_Comm_set_name(groups[1].comm, groups[1].name);
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &groups[2].comm);
  MPI_Comm_set_name(groups[2].comm, groups[2].name);
  struct Type types[4] = {
      {MPI_INT, "MPI_INT"}, {MPI_DOUBLE, "MPI_DOUBLE"}, {MPI_CHAR, "MPI_CHAR"}, {MPI_DATATYPE_NULL, "pairs"}};
  MPI_Datatype gap;
  MPI_Type_vector(2, 1, 2, MPI_FLOAT, &gap);
  MPI_Type_create_resized(gap, 0, 16, &types[3].type);
  MPI_Type_free(&gap);
  MPI_Type_set_name(types[3].type, types[3].name);
  MPI_Type_commit(&types[3].type);
  double* out = calloc(2 * kMost, sizeof *out);
  double* in = calloc(2 * kMost, sizeof *in);
  void* buffer = malloc((size_t)room);
  MPI_Buffer_attach(buffer, room);
  char path[4096];
  snprintf(path, sizeof path, "%s/%d", argv[2], rank);
  FILE* log = fopen(path, "w");
  if (log == NULL) MPI_Abort(MPI_COMM_WORLD, 3);
  setvbuf(log, NULL, _IONBF, 0);  // every line in the file was received, whenever the rank ends
  for (int round = 0; round < kRounds; ++round) {
    if (rank == 1 && round == dies_at) raise(SIGKILL);
    const struct Group* group = &groups[roll(3)];
    const struct Type* type = &types[roll(4)];
    pass_on(group, type, out, in, log);
    if (roll(4) == 0) collective(group->comm, out, in);
  }
  fclose(log);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Buffer_detach(&buffer, &room);
  free(buffer);
  free(in);
  free(out);
  MPI_Type_free(&types[3].type);
  MPI_Comm_free(&groups[2].comm);
  MPI_Comm_free(&groups[1].comm);
  MPI_Finalize();
  return 0;
}
