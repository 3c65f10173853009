// Tests of polled generalized requests (MPIX_Grequest_start): several threads wait for them and test them at once,
// while messages are exchanged.
// ranks: 2
// reference: none, MPICH calls the poll functions inside its lock
#include "class_threads.h"

enum { kRounds = 50, kPolls = 5 };

struct state {
  int polls;
  MPI_Request request;
};

static int query(void* extra, MPI_Status* status) {
  const struct state* state = extra;
  MPI_Status_set_elements(status, MPI_INT, state->polls);
  MPI_Status_set_cancelled(status, 0);
  return MPI_SUCCESS;
}
static int release(void* extra) {
  (void)extra;
  return MPI_SUCCESS;
}
static int cancel(void* extra, int complete) {
  (void)extra, (void)complete;
  return MPI_SUCCESS;
}
static int poll(void* extra, MPI_Status* status) {
  struct state* state = extra;
  (void)status;
  if (++state->polls == kPolls) MPI_Grequest_complete(state->request);
  return MPI_SUCCESS;
}

static void start(struct state* state) {
  state->polls = 0;
  MPIX_Grequest_start(query, release, cancel, poll, NULL, state, &state->request);
}

static void expect_polled(const MPI_Status* status) {
  int elements = -1;
  MPI_Get_elements(status, MPI_INT, &elements);
  EXPECT(elements == kPolls, "%d polls, expected %d", elements, kPolls);
}

static void waits(const struct user* me) {
  (void)me;
  for (int round = 0; round < kRounds; ++round) {
    struct state state;
    MPI_Status status;
    start(&state);
    MPI_Request request = state.request;
    MPI_Wait(&request, &status);
    expect_polled(&status);
  }
}

static void tests(const struct user* me) {
  (void)me;
  for (int round = 0; round < kRounds; ++round) {
    struct state state;
    MPI_Status status;
    int flag = 0;
    start(&state);
    MPI_Request request = state.request;
    while (!flag) MPI_Test(&request, &flag, &status);
    expect_polled(&status);
  }
}

// A polled request and one that another thread's message completes, in one wait.
static void with_messages(const struct user* me) {
  for (int round = 0; round < kRounds; ++round) {
    struct state state;
    MPI_Status statuses[2];
    MPI_Request requests[2];
    int came = -1;
    start(&state);
    requests[0] = state.request;
    MPI_Irecv(&came, 1, MPI_INT, me->other, me->self, me->shared, &requests[1]);
    MPI_Send(&round, 1, MPI_INT, me->other, me->self, me->shared);
    MPI_Waitall(2, requests, statuses);
    expect_polled(&statuses[0]);
    EXPECT(came == round, "message %d came in round %d", came, round);
  }
}

int main(int argc, char** argv) {
  static const struct function_class kClasses[] = {
      {"waits", waits}, {"tests", tests}, {"with_messages", with_messages}};
  return class_main(argc, argv, "grequest_threads", kClasses, sizeof kClasses / sizeof kClasses[0], NULL, NULL);
}
