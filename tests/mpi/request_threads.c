// Tests with MPI_THREAD_MULTIPLE: messages of all modes, completion, generalized, persistent and partitioned requests,
// cancels, probes and large counts. Four threads of a rank call each class's functions at once.
// ranks: 2
// timeout: 60
// sanitized: shm epoll
#include <stdatomic.h>

#include "class_threads.h"

enum { kRounds = 24, kInts = 300, kLongInts = 40000 };

static void fill(int* data, int number, int value) {
  for (int i = 0; i < number; ++i) data[i] = value + i;
}
static void expect_ints(const struct user* me, const char* what, const int* data, int number, int value) {
  for (int i = 0; i < number; ++i) {
    if (data[i] == value + i) continue;
    EXPECT(0, "thread %d, %s: element %d is %d, expected %d", me->self, what, i, data[i], value + i);
    return;
  }
}
static int value_of(int thread, int rank, int round) {
  return 1000000 * (thread + 1) + 100000 * rank + 1000 * round;
}

// Short, long and synchronous; ready if the receive is known to be posted; buffered into the process's one buffer.
static void modes(const struct user* me) {
  int* out = memory_of(sizeof(int) * kLongInts);
  int* in = memory_of(sizeof(int) * kLongInts);
  for (int round = 0; round < kRounds; ++round) {
    const int number = round % 4 == 3 ? kLongInts : kInts;
    MPI_Request receive, send = MPI_REQUEST_NULL;
    fill(out, number, value_of(me->self, me->rank, round));
    MPI_Irecv(in, number, MPI_INT, me->other, me->self, me->shared, &receive);
    MPI_Sendrecv(NULL, 0, MPI_INT, me->other, me->self, NULL, 0, MPI_INT, me->other, me->self, me->own,
                 MPI_STATUS_IGNORE);  // both receives are posted
    if (round % 3 == 0) MPI_Irsend(out, number, MPI_INT, me->other, me->self, me->shared, &send);
    if (round % 3 == 1) MPI_Issend(out, number, MPI_INT, me->other, me->self, me->shared, &send);
    if (round % 3 == 2) MPI_Bsend(out, number, MPI_INT, me->other, me->self, me->shared);
    MPI_Wait(&receive, MPI_STATUS_IGNORE);
    MPI_Wait(&send, MPI_STATUS_IGNORE);
    expect_ints(me, "modes", in, number, value_of(me->self, me->other, round));
  }
  free(out);
  free(in);
}

static int finish_some(MPI_Request* requests, int number, int round) {
  int indices[8], done = 0, flag = 0, index = -1;
  switch (round % 5) {
    case 0:
      MPI_Waitany(number, requests, &index, MPI_STATUS_IGNORE);
      return index != MPI_UNDEFINED;
    case 1:
      MPI_Waitsome(number, requests, &done, indices, MPI_STATUSES_IGNORE);
      break;
    case 2:
      MPI_Testsome(number, requests, &done, indices, MPI_STATUSES_IGNORE);
      break;
    case 3:
      MPI_Testany(number, requests, &index, &flag, MPI_STATUS_IGNORE);
      return flag && index != MPI_UNDEFINED;
    default:
      MPI_Testall(number, requests, &flag, MPI_STATUSES_IGNORE);
      return flag ? number : 0;
  }
  return done == MPI_UNDEFINED ? 0 : done;
}

static void completion(const struct user* me) {
  enum { kPairs = 4 };
  int out[kPairs], in[kPairs];
  for (int round = 0; round < kRounds; ++round) {
    MPI_Request requests[2 * kPairs];
    int active = 2 * kPairs, flag = 0;
    for (int i = 0; i < kPairs; ++i) {
      out[i] = value_of(me->self, me->rank, round) + i;
      MPI_Irecv(&in[i], 1, MPI_INT, me->other, 10 * i + me->self, me->shared, &requests[i]);
      MPI_Isend(&out[i], 1, MPI_INT, me->other, 10 * i + me->self, me->shared, &requests[kPairs + i]);
    }
    MPI_Request_get_status(requests[0], &flag, MPI_STATUS_IGNORE);
    while (active > 0) {
      finish_some(requests, 2 * kPairs, round);
      active = 0;
      for (int i = 0; i < 2 * kPairs; ++i) active += requests[i] != MPI_REQUEST_NULL;
    }
    expect_ints(me, "completion", in, kPairs, value_of(me->self, me->other, round));
  }
}

static int query(void* extra, MPI_Status* status) {
  MPI_Status_set_elements(status, MPI_INT, *(int*)extra);
  MPI_Status_set_cancelled(status, 0);
  return MPI_SUCCESS;
}
static int release(void* extra) {
  *(int*)extra = -1;
  return MPI_SUCCESS;
}
static int cancel(void* extra, int complete) {
  (void)extra, (void)complete;
  return MPI_SUCCESS;
}

// The neighbouring thread completes a thread's requests, as a worker thread would.
static _Atomic MPI_Request handed[kThreads];

static void generalized(const struct user* me) {
  const int next = (me->self + 1) % kThreads;
  for (int round = 0; round < 4 * kRounds; ++round) {
    int state = me->self + 7, elements = -1;
    MPI_Request request, theirs;
    MPI_Status status;
    MPI_Grequest_start(query, release, cancel, &state, &request);
    atomic_store(&handed[me->self], request);
    while ((theirs = atomic_exchange(&handed[next], MPI_REQUEST_NULL)) == MPI_REQUEST_NULL) sched_yield();
    MPI_Grequest_complete(theirs);
    MPI_Wait(&request, &status);
    MPI_Get_elements(&status, MPI_INT, &elements);
    EXPECT(elements == me->self + 7 && state == -1, "thread %d: %d elements, state %d", me->self, elements, state);
  }
}

static void persistent(const struct user* me) {
  int out[kInts], in[kInts];
  MPI_Request requests[2];
  MPI_Recv_init(in, kInts, MPI_INT, me->other, me->self, me->shared, &requests[0]);
  MPI_Send_init(out, kInts, MPI_INT, me->other, me->self, me->shared, &requests[1]);
  for (int round = 0; round < kRounds; ++round) {
    fill(out, kInts, value_of(me->self, me->rank, round));
    MPI_Startall(2, requests);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    expect_ints(me, "persistent", in, kInts, value_of(me->self, me->other, round));
  }
  MPI_Request_free(&requests[0]);
  MPI_Request_free(&requests[1]);
}

// One channel each, and one whose partitions the threads fill together.
static pthread_barrier_t together;
static MPI_Request common_send, common_receive;
static int common_out[kThreads * kInts], common_in[kThreads * kInts];

static void fill_together(const struct user* me, int round) {
  int flag = 0;
  if (me->self == 0) {
    MPI_Start(&common_receive);
    MPI_Start(&common_send);
  }
  pthread_barrier_wait(&together);
  fill(common_out + me->self * kInts, kInts, value_of(me->self, me->rank, round));
  MPI_Pready(me->self, common_send);
  while (!flag) MPI_Parrived(common_receive, me->self, &flag);
  expect_ints(me, "common partitions", common_in + me->self * kInts, kInts, value_of(me->self, me->other, round));
  pthread_barrier_wait(&together);
  if (me->self != 0) return;
  MPI_Wait(&common_send, MPI_STATUS_IGNORE);
  MPI_Wait(&common_receive, MPI_STATUS_IGNORE);
}

static void partitioned(const struct user* me) {
  int out[kInts], in[kInts];
  MPI_Request send, receive;
  if (me->self == 0) {
    MPI_Psend_init(common_out, kThreads, kInts, MPI_INT, me->other, 77, me->shared, MPI_INFO_NULL, &common_send);
    MPI_Precv_init(common_in, kThreads, kInts, MPI_INT, me->other, 77, me->shared, MPI_INFO_NULL, &common_receive);
  }
  MPI_Psend_init(out, 3, kInts / 3, MPI_INT, me->other, me->self, me->shared, MPI_INFO_NULL, &send);
  MPI_Precv_init(in, 2, kInts / 2, MPI_INT, me->other, me->self, me->shared, MPI_INFO_NULL, &receive);
  for (int round = 0; round < kRounds; ++round) {
    fill(out, kInts, value_of(me->self, me->rank, round));
    MPI_Start(&receive);
    MPI_Start(&send);
    MPI_Pready_range(1, 2, send);
    MPI_Pready(0, send);
    MPI_Wait(&send, MPI_STATUS_IGNORE);
    MPI_Wait(&receive, MPI_STATUS_IGNORE);
    expect_ints(me, "partitioned", in, kInts, value_of(me->self, me->other, round));
    fill_together(me, round);
  }
  MPI_Request_free(&send);
  MPI_Request_free(&receive);
  pthread_barrier_wait(&together);
  if (me->self != 0) return;
  MPI_Request_free(&common_send);
  MPI_Request_free(&common_receive);
}

// Receives without a message, and synchronous sends without a receive: all are cancelled.
static void cancelling(const struct user* me) {
  int body[kInts] = {0};
  for (int round = 0; round < kRounds; ++round) {
    MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    MPI_Status statuses[2];
    int flag = -1;
    MPI_Irecv(body, kInts, MPI_INT, me->other, 500 + me->self, me->shared, &requests[0]);
    if (on_margay()) MPI_Issend(body, 1, MPI_INT, me->other, 600 + me->self, me->shared, &requests[1]);
    MPI_Cancel(&requests[0]);
    if (on_margay()) MPI_Cancel(&requests[1]);  // MPICH does not cancel sends
    MPI_Waitall(2, requests, statuses);
    MPI_Test_cancelled(&statuses[0], &flag);
    EXPECT(flag, "a receive was not cancelled");
    MPI_Test_cancelled(&statuses[1], &flag);
    EXPECT(flag || !on_margay(), "a send was not cancelled");
  }
}

// A message belongs to the thread whose matched probe found it, so each is received once.
static atomic_int received, sum;

static void matched_probes(const struct user* me) {
  MPI_Request sends[kRounds];
  int out[kRounds], in = -1, count = -1, flag = 0;
  for (int i = 0; i < kRounds; ++i) {
    out[i] = me->self * kRounds + i;
    MPI_Isend(&out[i], 1, MPI_INT, me->other, 900 + i % 3, me->shared, &sends[i]);
  }
  while (atomic_fetch_add(&received, 1) < kThreads * kRounds) {
    MPI_Message message;
    MPI_Status status;
    if (me->self % 2 == 0) {
      MPI_Mprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, me->shared, &message, &status);
    } else {
      for (flag = 0; !flag;) MPI_Improbe(me->other, MPI_ANY_TAG, me->shared, &flag, &message, &status);
    }
    MPI_Get_count(&status, MPI_INT, &count);
    MPI_Mrecv(&in, 1, MPI_INT, &message, &status);
    EXPECT(count == 1 && status.MPI_TAG == 900 + in % kRounds % 3, "%d ints, tag %d of message %d", count,
           status.MPI_TAG, in);
    atomic_fetch_add(&sum, in);
  }
  MPI_Waitall(kRounds, sends, MPI_STATUSES_IGNORE);
  pthread_barrier_wait(&together);
  const int number = kThreads * kRounds;
  EXPECT(atomic_load(&sum) == number * (number - 1) / 2, "the messages' sum is %d", atomic_load(&sum));
}

static void probes(const struct user* me) {
  for (int round = 0; round < kRounds; ++round) {
    int out[8] = {0}, in[8], count = -1, flag = 0;
    MPI_Status status;
    MPI_Request send;
    MPI_Isend(out, round % 8, MPI_INT, me->other, me->self, me->own, &send);
    if (round % 2 == 0) {
      MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, me->own, &status);
    } else {
      while (!flag) MPI_Iprobe(me->other, me->self, me->own, &flag, &status);
    }
    MPI_Get_count(&status, MPI_INT, &count);
    EXPECT(count == round % 8, "%d ints, expected %d", count, round % 8);
    MPI_Recv(in, count, MPI_INT, status.MPI_SOURCE, status.MPI_TAG, me->own, MPI_STATUS_IGNORE);
    MPI_Wait(&send, MPI_STATUS_IGNORE);
  }
}

static void large_counts(const struct user* me) {
  int out[kInts], in[kInts];
  for (int round = 0; round < kRounds; ++round) {
    MPI_Datatype type;
    MPI_Request send;
    MPI_Status status;
    MPI_Count size = -1, count = -1;
    MPI_Type_contiguous_c(kInts / 3, MPI_INT, &type);
    MPI_Type_commit(&type);
    MPI_Type_size_c(type, &size);
    fill(out, kInts, value_of(me->self, me->rank, round));
    MPI_Isend_c(out, 3, type, me->other, me->self, me->shared, &send);
    MPI_Recv_c(in, kInts, MPI_INT, me->other, me->self, me->shared, &status);
    MPI_Get_count_c(&status, MPI_INT, &count);
    EXPECT(size == (MPI_Count)sizeof(int) * kInts / 3 && count == kInts, "size %lld, count %lld", (long long)size,
           (long long)count);
    expect_ints(me, "large counts", in, kInts, value_of(me->self, me->other, round));
    MPI_Wait(&send, MPI_STATUS_IGNORE);
    MPI_Type_free(&type);
  }
}

static char* buffer;

static void make_common(void) {
  const int bytes = kThreads * (kLongInts * (int)sizeof(int) + MPI_BSEND_OVERHEAD) * 4;
  buffer = memory_of((size_t)bytes);
  MPI_Buffer_attach(buffer, bytes);
  pthread_barrier_init(&together, NULL, kThreads);
  for (int i = 0; i < kThreads; ++i) atomic_init(&handed[i], MPI_REQUEST_NULL);
}
static void free_common(void) {
  int bytes = 0;
  void* was = NULL;
  MPI_Buffer_detach(&was, &bytes);
  free(buffer);
  pthread_barrier_destroy(&together);
}

int main(int argc, char** argv) {
  static const struct function_class kClasses[] = {
      {"modes", modes},           {"completion", completion},         {"generalized", generalized},
      {"persistent", persistent}, {"partitioned", partitioned},       {"cancelling", cancelling},
      {"probes", probes},         {"matched_probes", matched_probes}, {"large_counts", large_counts},
  };
  return class_main(argc, argv, "request_threads", kClasses, sizeof kClasses / sizeof kClasses[0], make_common,
                    free_common);
}
