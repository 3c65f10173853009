// Tests of extended generalized requests: MPICH's MPIX_Grequest_start, with functions that poll and wait, for single
// requests and for classes, in every call that completes or tests requests.
// ranks: 1 2
// reference: 1 2
#include "check.h"

typedef struct {
  int polls_needed, polled, waited, queried, freed, cancelled, over, answer;
  MPI_Request request;
} State;

static int group_of_last_wait;

static int query(void* extra, MPI_Status* status) {
  State* state = extra;
  ++state->queried;
  MPI_Status_set_elements(status, MPI_INT, state->polls_needed);
  MPI_Status_set_cancelled(status, state->cancelled);
  status->MPI_SOURCE = 5;
  status->MPI_TAG = 6;
  return MPI_SUCCESS;
}
static int release(void* extra) {
  ++((State*)extra)->freed;
  return MPI_SUCCESS;
}
static int cancel(void* extra, int complete) {
  State* state = extra;
  (void)complete;
  ++state->cancelled;
  return MPI_SUCCESS;
}
static int poll(void* extra, MPI_Status* status) {
  State* state = extra;
  int flag = 0;
  (void)status;
  ++state->polled;
  MPI_Iprobe(MPI_ANY_SOURCE, 77, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE);  // a call inside a call
  if (!state->over && (state->polled >= state->polls_needed || state->cancelled)) {
    state->over = 1;
    MPI_Grequest_complete(state->request);
  }
  return state->answer;
}
static int wait_all(int count, void** states, double timeout, MPI_Status* status) {
  (void)timeout, (void)status;
  group_of_last_wait = count;
  for (int i = 0; i < count; ++i) {
    State* state = states[i];
    ++state->waited;
    MPI_Grequest_complete(state->request);
  }
  return MPI_SUCCESS;
}

// Another wait function, which polls.
static int poll_all(int count, void** states, double timeout, MPI_Status* status) {
  (void)timeout;
  for (int i = 0; i < count; ++i) {
    State* state = states[i];
    ++state->waited;
    while (!state->over) poll(state, status);
  }
  return MPI_SUCCESS;
}

static void prepare(State* state, int polls) {
  memset(state, 0, sizeof *state);
  state->polls_needed = polls;
}
static MPI_Request polled(State* state, int polls) {
  prepare(state, polls);
  MPIX_Grequest_start(query, release, cancel, poll, poll_all, state, &state->request);
  return state->request;
}

static void check_over(const char* what, const State* state, const MPI_Status* status, MPI_Request request) {
  int count = -1;
  MPI_Get_count(status, MPI_INT, &count);
  CHECK(count == state->polls_needed, "%s: %d elements", what, count);
  CHECK(status->MPI_SOURCE == 5 && status->MPI_TAG == 6, "%s: %d %d", what, status->MPI_SOURCE, status->MPI_TAG);
  // MPI_Testall of MPICH polls twice.
  CHECK((state->queried == 1 || !on_margay()) && state->freed == 1, "%s: queried %d, freed %d", what, state->queried,
        state->freed);
  CHECK(request == MPI_REQUEST_NULL, "%s: the handle is left", what);
}

static void polling(void) {
  State state, other;
  MPI_Status status, statuses[3];
  MPI_Request request = polled(&state, 3), row[3];
  int flag = -1, index = -1, count = -1;

  MPI_Wait(&request, &status);
  check_over("wait", &state, &status, request);
  CHECK(state.polled == 3, "wait: polled %d times", state.polled);

  request = polled(&state, 3);
  for (count = 0, flag = 0; !flag && count < 100; ++count) MPI_Test(&request, &flag, &status);
  check_over("test", &state, &status, request);
  CHECK(count == 3, "test: complete after %d tests", count);

  request = polled(&state, 2);
  if (on_margay()) {  // MPICH does not poll here
    for (flag = 0, count = 0; !flag && count < 100; ++count) MPI_Request_get_status(request, &flag, &status);
    CHECK(flag == 1 && state.freed == 0, "get_status: flag %d, freed %d", flag, state.freed);
  }
  state.queried = 0;
  MPI_Wait(&request, &status);
  check_over("get_status, wait", &state, &status, request);

  row[0] = polled(&state, 4), row[1] = MPI_REQUEST_NULL, row[2] = polled(&other, 2);
  MPI_Waitall(3, row, statuses);
  check_over("waitall 0", &state, &statuses[0], row[0]);
  check_over("waitall 2", &other, &statuses[2], row[2]);
  check_empty_status("waitall", &statuses[1]);

  row[0] = polled(&state, 1000000), row[1] = MPI_REQUEST_NULL, row[2] = polled(&other, 2);
  MPI_Waitany(3, row, &index, &status);
  CHECK(index == 2, "waitany: %d", index);
  check_over("waitany", &other, &status, row[2]);
  row[2] = polled(&other, 2);
  MPI_Waitsome(3, row, &count, &index, &status);
  CHECK(count == 1 && index == 2, "waitsome: %d, %d", count, index);
  check_over("waitsome", &other, &status, row[2]);
  row[2] = polled(&other, 2);
  for (flag = 0; !flag;) MPI_Testany(3, row, &index, &flag, &status);
  CHECK(index == 2, "testany: %d", index);
  check_over("testany", &other, &status, row[2]);
  row[2] = polled(&other, 2);
  for (count = 0; count == 0;) MPI_Testsome(3, row, &count, &index, &status);
  CHECK(count == 1 && index == 2, "testsome: %d, %d", count, index);
  check_over("testsome", &other, &status, row[2]);
  row[2] = polled(&other, 2);
  MPI_Cancel(&row[0]);
  for (flag = 0; !flag;) MPI_Testall(3, row, &flag, statuses);
  check_over("testall 2", &other, &statuses[2], row[2]);
  MPI_Test_cancelled(&statuses[0], &flag);
  CHECK(flag && state.cancelled == 1 && state.freed == 1, "cancelled: %d %d %d", flag, state.cancelled, state.freed);

  request = polled(&state, 1);
  MPI_Grequest_complete(request);
  MPI_Wait(&request, &status);
  CHECK(state.polled == 0, "complete before the wait, and polled %d times", state.polled);
}

static void waiting(void) {
  State states[4];
  MPI_Status statuses[5];
  MPI_Request row[5];
  MPIX_Grequest_class group = 0, other = 0;
  const int rank = world_rank(), partner = world_size() == 1 ? 0 : rank ^ 1;
  int in = -1, out = rank + 30;

  prepare(&states[0], 1);
  MPIX_Grequest_start(query, release, cancel, poll, wait_all, &states[0], &states[0].request);
  row[0] = states[0].request;
  MPI_Wait(&row[0], &statuses[0]);
  check_over("wait function", &states[0], &statuses[0], row[0]);
  // MPICH polls in MPI_Wait.
  CHECK((states[0].waited == 1 && group_of_last_wait == 1) || !on_margay(), "waited for %d times", states[0].waited);

  MPIX_Grequest_class_create(query, release, cancel, poll, wait_all, &group);
  MPIX_Grequest_class_create(query, release, cancel, poll, poll_all, &other);
  CHECK(group != other, "two classes are one");
  for (int i = 0; i < 3; ++i) {
    prepare(&states[i], 1000000);
    MPIX_Grequest_class_allocate(group, &states[i], &states[i].request);
    row[i] = states[i].request;
  }
  MPI_Waitall(3, row, statuses);
  for (int i = 0; i < 3; ++i) {
    check_over("a class", &states[i], &statuses[i], row[i]);
    CHECK(states[i].waited == 1, "a class: %d was waited for %d times", i, states[i].waited);
  }
  // MPICH calls it for each request.
  CHECK(group_of_last_wait == 3 || !on_margay(), "a class: the wait function had %d states", group_of_last_wait);

  // Mixed with requests of messages; two classes.
  for (int i = 0; i < 3; ++i) {
    prepare(&states[i], 2);
    MPIX_Grequest_class_allocate(i == 1 ? other : group, &states[i], &states[i].request);
    row[i] = states[i].request;
  }
  MPI_Irecv(&in, 1, MPI_INT, partner, 1, MPI_COMM_WORLD, &row[3]);
  MPI_Isend(&out, 1, MPI_INT, partner, 1, MPI_COMM_WORLD, &row[4]);
  MPI_Waitall(5, row, statuses);
  for (int i = 0; i < 3; ++i) check_over("mixed", &states[i], &statuses[i], row[i]);
  check_status("mixed", &statuses[3], partner, 1, (int)sizeof in);
  CHECK(in == partner + 30, "mixed: %d", in);
}

#define REFUSED(call, class) CHECK(class_of(call) == (class), "%s", #call)

static void refused(void) {
  State state;
  MPI_Request request, none = MPI_REQUEST_NULL;
  MPIX_Grequest_class group;
  MPI_Status status;
  int flag = -1;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  REFUSED(MPIX_Grequest_start(NULL, release, cancel, poll, NULL, NULL, &none), MPI_ERR_ARG);
  REFUSED(MPIX_Grequest_class_create(query, NULL, cancel, poll, NULL, &group), MPI_ERR_ARG);
  REFUSED(MPIX_Grequest_class_create(query, release, cancel, poll, NULL, NULL), MPI_ERR_ARG);
  REFUSED(MPIX_Grequest_class_allocate(1234, NULL, &none), MPI_ERR_ARG);
  REFUSED(MPIX_Grequest_class_allocate(0, NULL, &none), MPI_ERR_ARG);
  CHECK(none == MPI_REQUEST_NULL, "a refused start made a request");
  // Without a wait function, which MPICH requires: the poll function replaces it.
  prepare(&state, 3);
  MPIX_Grequest_start(query, release, cancel, poll, NULL, &state, &state.request);
  request = state.request;
  MPI_Wait(&request, &status);
  check_over("no wait function", &state, &status, request);
  CHECK(state.polled == 3, "no wait function: polled %d times", state.polled);
  // An error of a poll function becomes the error of the call that polled, and the request remains.
  request = polled(&state, 2);
  state.answer = MPI_ERR_IO;
  REFUSED(MPI_Test(&request, &flag, &status), MPI_ERR_IO);
  CHECK(flag == 0 && request != MPI_REQUEST_NULL, "test: flag %d", flag);
  state.answer = MPI_SUCCESS;
  REFUSED(MPI_Wait(&request, &status), MPI_SUCCESS);
  check_over("after an error", &state, &status, request);
}

int main(int argc, char** argv) {
  suite_begin(&argc, &argv);
  polling();
  waiting();
  if (on_margay()) refused();
  return suite_end("grequest_extended");
}
