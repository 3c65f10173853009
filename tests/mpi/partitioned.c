// Tests of partitioned communication: different numbers of partitions on both sides, any order of Pready, rounds, two
// channels with one tag, and other receives of the program.
// ranks: 2
// timeout: 30
// sanitized: shm epoll
#include "check.h"

enum { kTag = 3, kTotal = 24000 };

static int value_of(int round, int channel, int i) {
  return (round * 7 + channel) * 100000 + i;
}

static void rounds(int rank, int sending, int receiving, int early) {
  const int mine = rank == 0 ? sending : receiving;
  int* data = memory_of(sizeof(int) * 2 * kTotal);
  MPI_Request requests[2];
  for (int c = 0; c < 2; ++c) {
    int* part = data + c * kTotal;
    if (rank == 0) {
      MPI_Psend_init(part, mine, kTotal / mine, MPI_INT, 1, kTag, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[c]);
    } else {
      MPI_Precv_init(part, mine, kTotal / mine, MPI_INT, 0, kTag, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[c]);
    }
  }
  for (int round = 0; round < 3; ++round) {
    if (rank == 0) {
      for (int c = 0; c < 2; ++c)
        for (int i = 0; i < kTotal; ++i) data[c * kTotal + i] = value_of(round, c, i);
      MPI_Startall(2, requests);
      // From both ends, the second channel first.
      for (int c = 1; c >= 0; --c) {
        int low = 0, high = mine - 1;
        for (; high - low > 4; ++low, --high) {
          MPI_Pready(high, requests[c]);
          MPI_Pready(low, requests[c]);
        }
        if (high > low) {
          const int first = low;
          int list[1] = {first};
          MPI_Pready_list(1, list, requests[c]);
          MPI_Pready_range(low + 1, high, requests[c]);
        } else if (high == low) {
          MPI_Pready(low, requests[c]);
        }
      }
    } else {
      memset(data, 0xff, sizeof(int) * 2 * kTotal);
      MPI_Startall(2, requests);
      if (early) {
        for (int p = mine - 1; p >= 0; --p) {
          int flag = 0;
          while (!flag) MPI_Parrived(requests[1], p, &flag);
          const int at = p * (kTotal / mine);
          CHECK(data[kTotal + at] == value_of(round, 1, at), "partition %d of %d: %d", p, mine, data[kTotal + at]);
        }
      }
    }
    MPI_Status statuses[2];
    MPI_Waitall(2, requests, statuses);
    for (int c = 0; c < 2 && rank == 1; ++c) {
      check_status("partitioned", &statuses[c], 0, kTag, kTotal * (int)sizeof(int));
      for (int i = 0; i < kTotal; ++i)
        CHECK(data[c * kTotal + i] == value_of(round, c, i), "round %d, channel %d, element %d: %d", round, c, i,
              data[c * kTotal + i]);
    }
  }
  MPI_Request_free(&requests[0]);
  MPI_Request_free(&requests[1]);
  free(data);
}

// Wildcard receives do not match partitions.
static void beside(int rank) {
  int data[4] = {1, 2, 3, 4}, other = 9, flag = -1;
  MPI_Request request;
  MPI_Status status;
  if (rank == 0) {
    MPI_Psend_init(data, 4, 1, MPI_INT, 1, kTag, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    MPI_Start(&request);
    MPI_Pready_range(0, 3, request);
    MPI_Send(&other, 1, MPI_INT, 1, kTag, MPI_COMM_WORLD);
  } else {
    memset(data, 0, sizeof data);
    MPI_Recv(&other, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
    check_status("beside", &status, 0, kTag, (int)sizeof other);
    MPI_Precv_init(data, 2, 2, MPI_INT, 0, kTag, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    MPI_Start(&request);
  }
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  CHECK(data[0] == 1 && data[3] == 4, "beside: %d %d", data[0], data[3]);
  MPI_Test(&request, &flag, &status);
  CHECK(flag == 1, "an inactive request is not complete");
  if (on_margay()) check_empty_status("inactive", &status);  // MPICH 4.0.2 leaves a different one
  MPI_Request_free(&request);
}

static void with_proc_null(int rank) {
  int data[2] = {1, 2};
  MPI_Request request;
  MPI_Status status;
  if (rank == 0) {
    MPI_Psend_init(data, 2, 1, MPI_INT, MPI_PROC_NULL, kTag, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
  } else {
    MPI_Precv_init(data, 2, 1, MPI_INT, MPI_PROC_NULL, kTag, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
  }
  MPI_Start(&request);
  if (rank == 0) MPI_Pready_range(0, 1, request);
  MPI_Wait(&request, &status);
  CHECK(data[0] == 1 && data[1] == 2, "MPI_PROC_NULL changed the buffer");
  if (rank == 1) check_status("MPI_PROC_NULL", &status, MPI_PROC_NULL, MPI_ANY_TAG, 0);
  MPI_Request_free(&request);
}

static void gaps(int rank) {
  MPI_Datatype type;
  MPI_Type_vector(3, 1, 2, MPI_INT, &type);  // 0, 2, 4 of five
  MPI_Type_commit(&type);
  int data[20];
  MPI_Request request;
  if (rank == 0) {
    MPI_Psend_init(data, 4, 1, type, 1, kTag, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
  } else {
    MPI_Precv_init(data, 2, 2, type, 0, kTag, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
  }
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 20; ++i) data[i] = rank == 0 ? 100 * round + i : -1;
    MPI_Start(&request);
    if (rank == 0) {
      MPI_Pready_range(0, 3, request);
    } else {
      // Arrived partitions are in place. The first round only waits.
      for (int p = 0; p < 2 && round > 0; ++p) {
        int flag = 0;
        while (!flag) MPI_Parrived(request, p, &flag);
        CHECK(data[10 * p + 9] == 100 * round + 10 * p + 9, "with gaps: partition %d ends with %d", p,
              data[10 * p + 9]);
      }
    }
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    for (int i = 0; i < 20 && rank == 1; ++i)
      CHECK(data[i] == (i % 5 % 2 == 0 ? 100 * round + i : -1), "with gaps: element %d is %d", i, data[i]);
  }
  MPI_Request_free(&request);
  MPI_Type_free(&type);
}

// Ready partitions arrive while the others are not ready.
static void one_by_one(int rank) {
  int data[4] = {1, 2, 3, 4}, flag = 0;
  MPI_Request request;
  if (rank == 0) {
    MPI_Psend_init(data, 4, 1, MPI_INT, 1, kTag, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    MPI_Start(&request);
    MPI_Pready_range(0, 1, request);
    wait_for(1, kTag);
    MPI_Pready_range(2, 3, request);
  } else {
    memset(data, 0, sizeof data);
    MPI_Precv_init(data, 2, 2, MPI_INT, 0, kTag, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    MPI_Start(&request);
    while (!flag) MPI_Parrived(request, 0, &flag);
    CHECK(data[0] == 1 && data[1] == 2, "the first partition: %d %d", data[0], data[1]);
    MPI_Parrived(request, 1, &flag);
    CHECK(flag == 0, "a partition arrived that is not ready");
    signal_to(0, kTag);
  }
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  for (int i = 0; i < 4; ++i) CHECK(data[i] == i + 1, "one by one: element %d is %d", i, data[i]);
  MPI_Request_free(&request);
}

// Two partitions share a message. The program passes one of them twice: the message nevertheless waits for the other.
static void named_twice(int rank) {
  enum { kPartitions = 2046 };
  static int data[kPartitions];
  int list[2] = {0, 0};
  MPI_Request request;
  if (rank == 0) {
    for (int i = 0; i < kPartitions; ++i) data[i] = i == 1 ? -1 : i;
    MPI_Psend_init(data, kPartitions, 1, MPI_INT, 1, kTag, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    MPI_Start(&request);
    MPI_Pready_list(2, list, request);
    data[1] = 1;
    MPI_Pready_range(1, kPartitions - 1, request);
  } else {
    MPI_Precv_init(data, kPartitions, 1, MPI_INT, 0, kTag, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    MPI_Start(&request);
  }
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  for (int i = 0; i < kPartitions; ++i) CHECK(data[i] == i, "named twice: element %d is %d", i, data[i]);
  MPI_Request_free(&request);
}

#define REFUSED(call, class) CHECK(class_of(call) == (class), "%s", #call)

// Two sides that do not match.
static void unfit(int rank) {
  int data[4] = {1, 2, 3, 4};
  MPI_Request request;
  MPI_Status status;
  // A receive that is freed before it is matched: the next one gets the message, which is shorter than its buffer. The
  // sender calls MPI_Psend_init after the free, because inits match in order (MPI 4.0, 4.2), and an earlier one would
  // match the freed receive.
  if (rank == 1) {
    MPI_Precv_init(data, 4, 1, MPI_INT, 0, kTag + 1, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    MPI_Request_free(&request);
    signal_to(0, kTag);
    MPI_Precv_init(data, 4, 1, MPI_INT, 0, kTag + 1, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
  } else {
    wait_for(1, kTag);
    MPI_Psend_init(data, 3, 1, MPI_INT, 1, kTag + 1, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
  }
  MPI_Start(&request);
  if (rank == 0) MPI_Pready_range(0, 2, request);
  MPI_Wait(&request, &status);
  if (rank == 1) check_status("a shorter one", &status, 0, kTag + 1, 3 * (int)sizeof(int));
  MPI_Request_free(&request);
  // A receive buffer that is too small.
  if (rank == 0) {
    MPI_Psend_init(data, 4, 1, MPI_INT, 1, kTag, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    MPI_Start(&request);
    // Partitions that fit, and arrive after one that does not, do not remove the error.
    MPI_Pready(3, request);
    MPI_Pready_range(0, 2, request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  } else {
    MPI_Precv_init(data, 1, 3, MPI_INT, 0, kTag, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    MPI_Start(&request);
    REFUSED(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_ERR_TRUNCATE);
  }
  MPI_Request_free(&request);
}

// Setups whose tags differ in one bit are distinguished, up to the highest tag: the receives are created in reverse
// order.
static void tags(int rank) {
  MPI_Request requests[32];
  int data[32], tag[32], *highest, flag, count = 0;
  MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &highest, &flag);
  tag[count++] = *highest;
  for (int bit = 0; bit < 31 && 1 << bit < *highest; ++bit) tag[count++] = 1 << bit;
  for (int i = 0; i < count; ++i) {
    const int at = rank == 0 ? i : count - 1 - i;
    data[at] = rank == 0 ? at : -1;
    if (rank == 0)
      MPI_Psend_init(&data[at], 1, 1, MPI_INT, 1, tag[at], MPI_COMM_WORLD, MPI_INFO_NULL, &requests[at]);
    else
      MPI_Precv_init(&data[at], 1, 1, MPI_INT, 0, tag[at], MPI_COMM_WORLD, MPI_INFO_NULL, &requests[at]);
  }
  MPI_Startall(count, requests);
  for (int i = 0; rank == 0 && i < count; ++i) MPI_Pready(0, requests[i]);
  MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
  for (int i = 0; i < count; ++i) {
    CHECK(data[i] == i, "tag %d has %d, the data of tag %d", tag[i], data[i], data[i] < 0 ? -1 : tag[data[i]]);
    MPI_Request_free(&requests[i]);
  }
}

// One message that is too long for the buffer: the status counts the bytes in the buffer.
static void one_too_long(int rank, int stride) {
  int data[8] = {1, 2, 3, 4}, count = -1;
  MPI_Datatype type;
  MPI_Request request;
  MPI_Status status;
  if (rank == 0) {
    MPI_Psend_init(data, 1, 4, MPI_INT, 1, kTag, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    MPI_Start(&request);
    wait_for(1, kTag);
    MPI_Pready(0, request);
    MPI_Wait(&request, &status);
  } else {
    memset(data, 0, sizeof data);
    MPI_Type_create_resized(MPI_INT, 0, stride * (MPI_Aint)sizeof(int), &type);
    MPI_Type_commit(&type);
    MPI_Precv_init(data, 1, 3, type, 0, kTag, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    MPI_Type_free(&type);
    MPI_Start(&request);
    signal_to(0, kTag);
    REFUSED(MPI_Wait(&request, &status), MPI_ERR_TRUNCATE);
    MPI_Get_count(&status, MPI_INT, &count);
    CHECK(count == 0 || count == 3, "too long: %d elements are counted", count);
    for (int i = 0; i < 8; ++i) {
      const int expected = i % stride == 0 && i / stride < count ? i / stride + 1 : 0;
      CHECK(data[i] == expected, "too long: %d are counted, number %d is %d", count, i, data[i]);
    }
  }
  MPI_Request_free(&request);
}

// Each wrong argument returns its class and has no effect: the transfer completes.
static void refused(int rank) {
  int data[4] = {1, 2, 3, 4}, flag = -1, twice[2] = {1, 7}, other = 5;
  MPI_Request request = MPI_REQUEST_NULL, plain;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  REFUSED(MPI_Psend_init(data, -1, 1, MPI_INT, 0, kTag, MPI_COMM_WORLD, MPI_INFO_NULL, &request), MPI_ERR_ARG);
  REFUSED(MPI_Psend_init(data, 1, -1, MPI_INT, 0, kTag, MPI_COMM_WORLD, MPI_INFO_NULL, &request), MPI_ERR_COUNT);
  REFUSED(MPI_Psend_init(data, 2, (MPI_Count)1 << 60, MPI_INT, 0, kTag, MPI_COMM_WORLD, MPI_INFO_NULL, &request),
          MPI_ERR_COUNT);
  REFUSED(MPI_Psend_init(data, 1, 1, MPI_DATATYPE_NULL, 0, kTag, MPI_COMM_WORLD, MPI_INFO_NULL, &request),
          MPI_ERR_TYPE);
  REFUSED(MPI_Psend_init(data, 1, 1, MPI_INT, 99, kTag, MPI_COMM_WORLD, MPI_INFO_NULL, &request), MPI_ERR_RANK);
  REFUSED(MPI_Psend_init(data, 1, 1, MPI_INT, 0, -5, MPI_COMM_WORLD, MPI_INFO_NULL, &request), MPI_ERR_TAG);
  REFUSED(MPI_Psend_init(data, 1, 1, MPI_INT, 0, kTag, MPI_COMM_NULL, MPI_INFO_NULL, &request), MPI_ERR_COMM);
  REFUSED(MPI_Precv_init(data, 1, 1, MPI_INT, MPI_ANY_SOURCE, kTag, MPI_COMM_WORLD, MPI_INFO_NULL, &request),
          MPI_ERR_RANK);
  REFUSED(MPI_Precv_init(data, 1, 1, MPI_INT, 0, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_INFO_NULL, &request), MPI_ERR_TAG);
  CHECK(request == MPI_REQUEST_NULL, "a refused init made a request");
  REFUSED(MPI_Pready(0, MPI_REQUEST_NULL), MPI_ERR_REQUEST);
  flag = 0;
  CHECK(MPI_Parrived(MPI_REQUEST_NULL, 0, &flag) == MPI_SUCCESS && flag == 1, "nothing awaited: flag %d", flag);
  MPI_Send_init(&other, 1, MPI_INT, MPI_PROC_NULL, kTag, MPI_COMM_WORLD, &plain);
  REFUSED(MPI_Pready(0, plain), MPI_ERR_REQUEST);
  REFUSED(MPI_Parrived(plain, 0, &flag), MPI_ERR_REQUEST);
  MPI_Request_free(&plain);
  if (rank == 0) {
    MPI_Psend_init(data, 4, 1, MPI_INT, 1, kTag, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    REFUSED(MPI_Pready(0, request), MPI_ERR_REQUEST);  // not started
    REFUSED(MPI_Cancel(&request), MPI_ERR_REQUEST);
    MPI_Start(&request);
    REFUSED(MPI_Cancel(&request), MPI_ERR_REQUEST);  // always invalid, active or not
    REFUSED(MPI_Start(&request), MPI_ERR_REQUEST);
    REFUSED(MPI_Pready(4, request), MPI_ERR_ARG);
    REFUSED(MPI_Pready(-1, request), MPI_ERR_ARG);
    REFUSED(MPI_Pready_range(2, 4, request), MPI_ERR_ARG);
    REFUSED(MPI_Pready_list(2, twice, request), MPI_ERR_ARG);
    REFUSED(MPI_Pready_list(-1, twice, request), MPI_ERR_COUNT);
    REFUSED(MPI_Parrived(request, 0, &flag), MPI_ERR_REQUEST);
    MPI_Pready(1, request);
    REFUSED(MPI_Pready(1, request), MPI_ERR_ARG);  // already ready
    REFUSED(MPI_Pready_range(0, 1, request), MPI_ERR_ARG);
    MPI_Request copy = request;
    REFUSED(MPI_Request_free(&copy), MPI_ERR_REQUEST);
    CHECK(copy == request, "a refused Request_free changed the handle");
    MPI_Pready(0, request);
    MPI_Pready_range(2, 3, request);
  } else {
    memset(data, 0, sizeof data);
    MPI_Precv_init(data, 4, 1, MPI_INT, 0, kTag, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    MPI_Parrived(request, 3, &flag);
    CHECK(flag == 1, "a partition of an inactive request has not arrived");
    REFUSED(MPI_Cancel(&request), MPI_ERR_REQUEST);
    MPI_Start(&request);
    REFUSED(MPI_Cancel(&request), MPI_ERR_REQUEST);
    REFUSED(MPI_Parrived(request, 4, &flag), MPI_ERR_ARG);
    REFUSED(MPI_Pready(0, request), MPI_ERR_REQUEST);
  }
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  for (int i = 0; i < 4; ++i) CHECK(data[i] == i + 1, "after refused calls: element %d is %d", i, data[i]);
  MPI_Request_free(&request);
  unfit(rank);
  tags(rank);
  one_too_long(rank, 1);
  one_too_long(rank, 2);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
}

int main(int argc, char** argv) {
  suite_begin(&argc, &argv);
  const int rank = world_rank();
  rounds(rank, 8, 8, 1);
  rounds(rank, 1, 12, 1);
  rounds(rank, 24, 5, 0);
  rounds(rank, 6000, 3, 1);
  beside(rank);
  if (on_margay()) with_proc_null(rank);  // MPICH 4.0.2 crashes
  gaps(rank);
  if (on_margay()) one_by_one(rank);  // MPICH 4.0.2 sends only when all partitions are ready
  if (on_margay()) named_twice(rank);
  if (on_margay()) refused(rank);  // MPICH 4.0.2 does not check
  return suite_end("partitioned");
}
