// Tests of application bypass: a message is matched, moved and answered while the other side computes without calling
// MPI, or makes local calls in an endless loop.
// ranks: 2
// reference: none, MPICH makes progress only inside its calls
#include "away.h"

enum { kTag = 4, kGoTag = 5, kBytes = 1 << 20, kTries = 3, kRounds = 5 };

// Returns how many of a round's transfers took 50 ms or longer. One of them may, because the test has three threads on
// two processors, and they and other programs take turns of several milliseconds.
static int late_of(const double* took) {
  int late = 0;
  for (int i = 0; i < kTries; ++i) late += took[i] >= 0.050;
  return late;
}

// For timed runs. Even a busy machine has quiet moments, so at least one of kRounds rounds must be in time.
static void check_rounds(const char* what, int bytes, enum how how, const double* took, int late) {
  CHECK(late <= 1,
        "%s of %d bytes took more than 50 ms more than once in each of %d rounds, while the other side %s; "
        "of the last %.1f, %.1f and %.1f ms",
        what, bytes, kRounds, kHowNames[how], took[0] * 1e3, took[1] * 1e3, took[2] * 1e3);
}

// Completes a request by MPI_Wait, or by MPI_Test in a loop.
static void wait_or_look(MPI_Request* request, int look) {
  int flag = 0;
  if (!look) MPI_Wait(request, MPI_STATUS_IGNORE);
  while (look && !flag) MPI_Test(request, &flag, MPI_STATUS_IGNORE);
}

// The receiver of synchronous sends: posts the receives, and then makes no progress (see `how`) until the sends are
// complete.
static int receive_absent(const struct shared* shared, int round, int bytes, unsigned char* body, enum how how) {
  MPI_Request requests[kTries];
  MPI_Status statuses[kTries];
  memset(body, 0, kTries * (size_t)bytes);
  for (int i = 0; i < kTries; ++i) MPI_Irecv(body + i * bytes, bytes, MPI_BYTE, 0, kTag, MPI_COMM_WORLD, &requests[i]);
  signal_to(0, kGoTag);
  away_until(shared, round, how, "MPI_Ssend");
  int flag = 0;
  MPI_Testall(kTries, requests, &flag, statuses);
  CHECK(flag, "the messages of %d bytes are not there, though their senders know them received", bytes);
  if (!flag) MPI_Waitall(kTries, requests, statuses);
  for (int i = 0; i < kTries; ++i) {
    check_status("bypass", &statuses[i], 0, kTag, bytes);
    CHECK(pattern_mismatch(body + i * bytes, (size_t)bytes, 6) == (size_t)bytes, "wrong body");
  }
  int again = 0;
  MPI_Recv(&again, 1, MPI_INT, 0, kGoTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  return again;
}

static int send_to_absent(struct shared* shared, int round, int bytes, unsigned char* body, double* took) {
  pattern_fill(body, (size_t)bytes, 6);
  wait_for(1, kGoTag);
  for (int i = 0; i < kTries; ++i) {
    usleep(20000);
    const double began = now();
    MPI_Request request;
    MPI_Issend(body, bytes, MPI_BYTE, 1, kTag, MPI_COMM_WORLD, &request);
    wait_or_look(&request, i % 2 == 0);
    took[i] = now() - began;
  }
  usleep(20000);
  atomic_store(&shared->done, round);
  return late_of(took);
}

// The sender of long messages, which makes no progress (see `how`) while the receiver pulls their bodies from its
// memory.
static int offer_and_leave(const struct shared* shared, int round, unsigned char* body, enum how how) {
  MPI_Request requests[kTries];
  pattern_fill(body, kBytes, 8);
  for (int i = 0; i < kTries; ++i) MPI_Isend(body, kBytes, MPI_BYTE, 1, kTag, MPI_COMM_WORLD, &requests[i]);
  signal_to(1, kGoTag);
  away_until(shared, round, how, "pulling");
  MPI_Waitall(kTries, requests, MPI_STATUSES_IGNORE);
  int again = 0;
  MPI_Recv(&again, 1, MPI_INT, 1, kGoTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  return again;
}

static int pull_from_absent(struct shared* shared, int round, unsigned char* body, double* took) {
  wait_for(0, kGoTag);
  for (int i = 0; i < kTries; ++i) {
    memset(body, 0, kBytes);
    usleep(20000);
    const double began = now();
    MPI_Request request;
    MPI_Irecv(body, kBytes, MPI_BYTE, 0, kTag, MPI_COMM_WORLD, &request);
    wait_or_look(&request, i % 2 == 0);
    took[i] = now() - began;
    CHECK(pattern_mismatch(body, kBytes, 8) == kBytes, "pulled: wrong body");
  }
  atomic_store(&shared->done, round);
  return late_of(took);
}

// Runs rounds until one is in time, at most kRounds. Rank `worker` measures, and the other rank is away. `pull`: rank 1
// measures pulls; otherwise rank 0 measures sends.
static void rounds(struct shared* shared, int* round, int pull, int bytes, unsigned char* body, enum how how) {
  const int rank = world_rank(), worker = pull ? 1 : 0;
  double took[kTries];
  int again = 1, late = 0;
  for (int i = 1; again; ++i) {
    ++*round;
    if (rank != worker) {
      again = pull ? offer_and_leave(shared, *round, body, how) : receive_absent(shared, *round, bytes, body, how);
      continue;
    }
    late = pull ? pull_from_absent(shared, *round, body, took) : send_to_absent(shared, *round, bytes, body, took);
    again = timed() && late > 1 && i < kRounds;
    MPI_Send(&again, 1, MPI_INT, 1 - worker, kGoTag, MPI_COMM_WORLD);
  }
  if (rank == worker && timed()) check_rounds(pull ? "pulling" : "MPI_Ssend", bytes, how, took, late);
}

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define MARGAY_TEST_SANITIZED 1
#endif
#endif
#ifdef MARGAY_TEST_SANITIZED
enum { kSanitized = 1 };
#else
enum { kSanitized = 0 };
#endif

// Many messages, one after the other, to a rank that makes local calls without end. Each takes at most about a
// millisecond, because the coprocessor reserves the process lock; if it entered only by chance, each would take 0.1 s.
static void many_to_caller(struct shared* shared, int done, unsigned char* body) {
  enum { kMany = kSanitized ? 3 : 600 };  // under a sanitizer calls take long
  if (world_rank() == 0) {
    pattern_fill(body, kBytes, 6);
    wait_for(1, kGoTag);
    for (int i = 0; i < kMany; ++i) MPI_Ssend(body, kBytes, MPI_BYTE, 1, kTag, MPI_COMM_WORLD);
    atomic_store(&shared->done, done);
    return;
  }
  MPI_Request requests[kMany];
  for (int i = 0; i < kMany; ++i) MPI_Irecv(body, kBytes, MPI_BYTE, 0, kTag, MPI_COMM_WORLD, &requests[i]);
  signal_to(0, kGoTag);
  away_until(shared, done, CALLING, "many MPI_Ssend");
  MPI_Waitall(kMany, requests, MPI_STATUSES_IGNORE);
}

static int query(void* state, MPI_Status* status) {
  (void)state;
  return MPI_Status_set_elements(status, MPI_BYTE, 0);
}
static int release(void* state) {
  (void)state;
  return MPI_SUCCESS;
}
static int cancel(void* state, int complete) {
  (void)state, (void)complete;
  return MPI_SUCCESS;
}
static int look(void* state, MPI_Status* status) {
  (void)state, (void)status;
  return MPI_SUCCESS;
}

// A wait wakes a rank that makes no progress, even if the wait also has to poll an extended generalized request: one of
// its own requests (`awaits_both`), or another one of the program.
static void send_and_poll(struct shared* shared, int done, unsigned char* body, int awaits_both) {
  MPI_Request requests[2];
  if (world_rank() == 1) {
    MPI_Irecv(body, 100, MPI_BYTE, 0, kTag, MPI_COMM_WORLD, &requests[0]);
    signal_to(0, kGoTag);
    away_until(shared, done, COMPUTING, "MPI_Issend beside a request that is polled");
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    return;
  }
  int index = -1;
  wait_for(1, kGoTag);
  MPIX_Grequest_start(query, release, cancel, look, NULL, NULL, &requests[1]);
  MPI_Issend(body, 100, MPI_BYTE, 1, kTag, MPI_COMM_WORLD, &requests[0]);
  if (awaits_both)
    MPI_Waitany(2, requests, &index, MPI_STATUS_IGNORE);
  else
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
  CHECK(index == (awaits_both ? 0 : -1), "request %d is complete", index);
  atomic_store(&shared->done, done);
  MPI_Grequest_complete(requests[1]);
  MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
}

int main(int argc, char** argv) {
  suite_begin(&argc, &argv);
  unsigned char* body = memory_of(kTries * (size_t)kBytes);
  struct shared* shared = map_shared();
  int round = 0;
  for (enum how how = ASLEEP; how <= CALLING; ++how) {
    rounds(shared, &round, 0, kBytes, body, how);
    rounds(shared, &round, 0, 100, body, how);
    rounds(shared, &round, 0, 20000, body, how);
    rounds(shared, &round, 1, kBytes, body, how);
  }
  many_to_caller(shared, ++round, body);
  for (int both = 0; both < 2; ++both) send_and_poll(shared, ++round, body, both);
  free(body);
  return suite_end("bypass");
}
