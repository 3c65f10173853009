// Tests of Wait, Waitall, Waitany, Waitsome, Test, Testall, Testany, Testsome: indices, statuses, null and inactive
// requests.
// ranks: 2 4
// reference: 2
#include "check.h"

enum { kCount = 12, kGoTag = 90, kWays = 8 };

static int bytes_of(int index) {
  return index % 3 == 0 ? 50000 + index : 10 + index;
}

struct Receives {
  MPI_Request requests[kCount];
  unsigned char* bodies[kCount];
  int done[kCount];
};

static void took(struct Receives* receives, int index, const MPI_Status* status, int partner, const char* what) {
  CHECK(index >= 0 && index < kCount, "%s: index %d", what, index);
  if (index < 0 || index >= kCount) return;
  CHECK(!receives->done[index], "%s: request %d completed twice", what, index);
  receives->done[index] = 1;
  check_status(what, status, partner, index, bytes_of(index));
  const size_t bytes = (size_t)bytes_of(index);
  CHECK(pattern_mismatch(receives->bodies[index], bytes, (unsigned)index) == bytes, "%s: wrong body %d", what, index);
  CHECK(receives->requests[index] == MPI_REQUEST_NULL, "%s: request %d is not null", what, index);
}

static void complete_each(struct Receives* receives, int partner, int way) {
  static const char* const kNames[] = {"Wait", "Test", "Waitany", "Testany", "Waitsome", "Testsome"};
  const char* what = kNames[way];
  MPI_Status status, statuses[kCount];
  int left = kCount, index = 0, flag = 0, count = 0, indices[kCount];
  for (int i = 0; left > 0; i = (i + 1) % kCount) {
    flag = 1;
    index = i;
    if (way < 2 && receives->done[i]) continue;
    if (way == 0) MPI_Wait(&receives->requests[i], &status);
    if (way == 1) MPI_Test(&receives->requests[i], &flag, &status);
    if (way == 2) MPI_Waitany(kCount, receives->requests, &index, &status);
    if (way == 3) MPI_Testany(kCount, receives->requests, &index, &flag, &status);
    if (way < 4) {
      if (flag) took(receives, index, &status, partner, what);
      left -= flag;
      continue;
    }
    if (way == 4) MPI_Waitsome(kCount, receives->requests, &count, indices, statuses);
    if (way == 5) MPI_Testsome(kCount, receives->requests, &count, indices, statuses);
    CHECK(way == 5 || count > 0, "Waitsome completed %d", count);
    CHECK(count != MPI_UNDEFINED, "%s says that no request is active", what);
    for (int k = 0; k < count; ++k) took(receives, indices[k], &statuses[k], partner, what);
    left -= count;
  }
}

static void complete_all(struct Receives* receives, int partner, int way) {
  MPI_Status statuses[kCount];
  int flag = 1;
  if (way == 6) MPI_Waitall(kCount, receives->requests, statuses);
  if (way == 7)
    for (flag = 0; !flag;) MPI_Testall(kCount, receives->requests, &flag, statuses);
  for (int i = 0; i < kCount; ++i) took(receives, i, &statuses[i], partner, way == 6 ? "Waitall" : "Testall");
}

static void as_receiver(int partner, int way) {
  struct Receives receives;
  memset(&receives, 0, sizeof receives);
  for (int i = 0; i < kCount; ++i) {
    receives.bodies[i] = memory_of((size_t)bytes_of(i));
    MPI_Irecv(receives.bodies[i], bytes_of(i), MPI_BYTE, partner, i, MPI_COMM_WORLD, &receives.requests[i]);
  }
  int flag = 1;
  MPI_Testall(kCount, receives.requests, &flag, MPI_STATUSES_IGNORE);
  CHECK(!flag, "Testall is true before anything was sent");
  signal_to(partner, kGoTag);
  if (way < 6)
    complete_each(&receives, partner, way);
  else
    complete_all(&receives, partner, way);
  for (int i = 0; i < kCount; ++i) free(receives.bodies[i]);
}

// The receives complete in another order than that of posting.
static void as_sender(int partner) {
  unsigned char* bodies[kCount];
  MPI_Request requests[kCount];
  wait_for(partner, kGoTag);
  for (int i = 0; i < kCount; ++i) {
    const int index = i * 5 % kCount;
    bodies[i] = memory_of((size_t)bytes_of(index));
    pattern_fill(bodies[i], (size_t)bytes_of(index), (unsigned)index);
    MPI_Isend(bodies[i], bytes_of(index), MPI_BYTE, partner, index, MPI_COMM_WORLD, &requests[i]);
  }
  MPI_Waitall(kCount, requests, MPI_STATUSES_IGNORE);
  for (int i = 0; i < kCount; ++i) free(bodies[i]);
}

static void with_null_requests(void) {
  MPI_Request null = MPI_REQUEST_NULL, nulls[3] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  MPI_Status status, statuses[3];
  int flag = 0, index = 0, count = 0, indices[3];
  MPI_Wait(&null, &status);
  check_empty_status("Wait for null", &status);
  MPI_Test(&null, &flag, &status);
  CHECK(flag, "Test of null is false");
  check_empty_status("Test of null", &status);
  MPI_Waitall(3, nulls, statuses);
  for (int i = 0; i < 3; ++i) check_empty_status("Waitall for nulls", &statuses[i]);
  MPI_Waitany(3, nulls, &index, &status);
  CHECK(index == MPI_UNDEFINED, "Waitany for nulls: index %d", index);
  check_empty_status("Waitany for nulls", &status);
  MPI_Testany(3, nulls, &index, &flag, &status);
  CHECK(flag && index == MPI_UNDEFINED, "Testany of nulls: flag %d, index %d", flag, index);
  MPI_Waitsome(3, nulls, &count, indices, statuses);
  CHECK(count == MPI_UNDEFINED, "Waitsome for nulls: %d", count);
  MPI_Testsome(3, nulls, &count, indices, statuses);
  CHECK(count == MPI_UNDEFINED, "Testsome of nulls: %d", count);
  flag = 0;
  MPI_Testall(3, nulls, &flag, statuses);
  CHECK(flag, "Testall of nulls is false");
  MPI_Waitall(0, NULL, MPI_STATUSES_IGNORE);
}

int main(int argc, char** argv) {
  suite_begin(&argc, &argv);
  const int rank = world_rank(), partner = partner_of(rank);
  with_null_requests();
  for (int way = 0; way < kWays; ++way)
    for (int direction = 0; direction < 2; ++direction) {
      if ((rank < partner) == (direction == 0))
        as_sender(partner);
      else
        as_receiver(partner, way);
    }
  return suite_end("completion");
}
