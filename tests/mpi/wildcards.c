// Tests of wildcards and message order: messages of one sender are matched in the order they were sent, short and long
// ones mixed, with any envelope of the receives.
// ranks: 2 3 4 8
// reference: 3
#include "check.h"

enum { kMessages = 60, kTags = 4, kLongBytes = 100000, kGoTag = 50 };

// Short and long alternate irregularly, so that a long one is often followed by shorts that could overtake it.
static int bytes_of(int index) {
  static const int kBytes[] = {8, kLongBytes, 8, 40, 20000, 16384, 16385, 8, 70000, 41};
  return kBytes[index % 10];
}

static void send_series(int to) {
  unsigned char* body = memory_of(kLongBytes);
  MPI_Request requests[kMessages];
  unsigned char* bodies[kMessages];
  for (int i = 0; i < kMessages; ++i) {
    const int bytes = bytes_of(i);
    bodies[i] = memory_of((size_t)bytes);
    pattern_fill(bodies[i], (size_t)bytes, (unsigned)(i + 1000 * world_rank()));
    memcpy(bodies[i], &i, sizeof i);
    if (i % 7 == 3)
      MPI_Issend(bodies[i], bytes, MPI_BYTE, to, i % kTags, MPI_COMM_WORLD, &requests[i]);
    else
      MPI_Isend(bodies[i], bytes, MPI_BYTE, to, i % kTags, MPI_COMM_WORLD, &requests[i]);
  }
  MPI_Waitall(kMessages, requests, MPI_STATUSES_IGNORE);
  for (int i = 0; i < kMessages; ++i) free(bodies[i]);
  free(body);
}

static void check_body(const unsigned char* body, const MPI_Status* status, int index) {
  int count = 0, carried = -1;
  MPI_Get_count(status, MPI_BYTE, &count);
  memcpy(&carried, body, sizeof carried);
  const int source = status->MPI_SOURCE;
  CHECK(carried == index, "from %d: message %d arrived where %d was due", source, carried, index);
  CHECK(status->MPI_TAG == index % kTags, "from %d: message %d has tag %d", source, index, status->MPI_TAG);
  CHECK(count == bytes_of(index), "from %d: message %d has %d bytes", source, index, count);
  for (int i = (int)sizeof index; i < count; ++i)
    if (body[i] != pattern_byte((unsigned)(index + 1000 * source), (size_t)i)) {
      CHECK(0, "from %d: message %d is wrong at byte %d", source, index, i);
      return;
    }
}

// Any source, any tag: from each sender, 0 1 2 ….
static void receive_any(int senders) {
  unsigned char* body = memory_of(kLongBytes);
  int* next = calloc((size_t)senders + 1, sizeof *next);
  for (int i = 0; i < senders * kMessages; ++i) {
    MPI_Status status;
    MPI_Recv(body, kLongBytes, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
    const int source = status.MPI_SOURCE;
    CHECK(source >= 1 && source <= senders, "a message from %d", source);
    if (source >= 1 && source <= senders) check_body(body, &status, next[source]++);
  }
  for (int i = 1; i <= senders; ++i) CHECK(next[i] == kMessages, "from %d: %d messages", i, next[i]);
  free(next);
  free(body);
}

// A tag each, in falling order of tags: within a tag the order of sending holds.
static void receive_by_tag(int senders) {
  unsigned char* body = memory_of(kLongBytes);
  for (int tag = kTags - 1; tag >= 0; --tag) {
    int* next = calloc((size_t)senders + 1, sizeof *next);
    for (int i = 0; i < senders * kMessages / kTags; ++i) {
      MPI_Status status;
      MPI_Recv(body, kLongBytes, MPI_BYTE, MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, &status);
      check_body(body, &status, kTags * next[status.MPI_SOURCE]++ + tag);
    }
    free(next);
  }
  free(body);
}

// All receives posted first, any tag of one source and any source mixed: receives match in the order of posting.
static void receive_posted(int senders) {
  for (int source = 1; source <= senders; ++source) {
    unsigned char* bodies = memory_of((size_t)kMessages * kLongBytes);
    MPI_Request requests[kMessages];
    MPI_Status statuses[kMessages];
    for (int i = 0; i < kMessages; ++i)
      MPI_Irecv(bodies + (size_t)i * kLongBytes, kLongBytes, MPI_BYTE, i % 3 == 0 ? MPI_ANY_SOURCE : source,
                i % 2 == 0 ? MPI_ANY_TAG : i % kTags, MPI_COMM_WORLD, &requests[i]);
    signal_to(source, kGoTag);
    MPI_Waitall(kMessages, requests, statuses);
    for (int i = 0; i < kMessages; ++i) {
      CHECK(statuses[i].MPI_SOURCE == source, "posted %d: from %d", i, statuses[i].MPI_SOURCE);
      check_body(bodies + (size_t)i * kLongBytes, &statuses[i], i);
    }
    free(bodies);
  }
}

int main(int argc, char** argv) {
  suite_begin(&argc, &argv);
  const int rank = world_rank(), senders = world_size() - 1;
  if (rank == 0) {
    receive_any(senders);
    for (int i = 1; i <= senders; ++i) signal_to(i, kGoTag);
    receive_by_tag(senders);
    receive_posted(senders);
    // Unexpected: all messages have been sent (the short ones have arrived) before the first receive is posted.
    for (int i = 1; i <= senders; ++i) signal_to(i, kGoTag);
    usleep(20000);
    receive_any(senders);
    // Only now may the senders send their reports, which a wildcard would match.
    for (int i = 1; i <= senders; ++i) signal_to(i, kGoTag);
  } else {
    send_series(0);
    wait_for(0, kGoTag);
    send_series(0);
    wait_for(0, kGoTag);
    send_series(0);
    wait_for(0, kGoTag);
    send_series(0);
    wait_for(0, kGoTag);
  }
  return suite_end("wildcards");
}
