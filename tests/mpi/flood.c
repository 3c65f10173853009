// Tests of a flood of unexpected messages: 160 MB sent to a rank that does not receive yet. All arrive, in order, and
// on margay the memory stays bounded (the heap's 64 MiB and the wires' buffers), because a full heap delays the
// senders. Then 100 MB of which the last messages are received first: these are held behind the others, so margay opens
// its second heap.
// ranks: 2 3
// reference: 2
// timeout: 90
#include <sys/resource.h>

#include "check.h"

enum { kMessages = 40000, kBytes = 4000, kTag = 2, kLong = 100, kLongBytes = 400000, kBoundMegabytes = 160 };
enum { kBackwards = 25000, kLookedFor = 500, kBackwardsTag = 1000, kBackwardsMegabytes = 250, kHeapMegabytes = 64 };

static long resident_megabytes(void) {
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss / 1024;
}

// Reads one of margay's performance variables by name.
static unsigned long long heap_bytes(void) {
  int provided = 0, index = -1, count = 0;
  unsigned long long bytes = 0;
  MPI_T_pvar_session session;
  MPI_T_pvar_handle handle;
  MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
  CHECK(MPI_T_pvar_get_index("heap_size", MPI_T_PVAR_CLASS_SIZE, &index) == MPI_SUCCESS, "heap_size does not exist");
  MPI_T_pvar_session_create(&session);
  MPI_T_pvar_handle_alloc(session, index, NULL, &handle, &count);
  MPI_T_pvar_read(session, handle, &bytes);
  MPI_T_pvar_handle_free(session, &handle);
  MPI_T_pvar_session_free(&session);
  MPI_T_finalize();
  return bytes;
}

static void send_for_backwards(int messages) {
  unsigned char body[kBytes];
  for (int i = 0; i < messages; ++i) {
    pattern_fill(body, kBytes, (unsigned)i);
    MPI_Send(body, kBytes, MPI_BYTE, 0, kBackwardsTag + i, MPI_COMM_WORLD);
  }
}

static void receive_one(int message, int senders) {
  unsigned char body[kBytes];
  for (int sender = 1; sender <= senders; ++sender) {
    MPI_Recv(body, kBytes, MPI_BYTE, sender, kBackwardsTag + message, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK(pattern_mismatch(body, kBytes, (unsigned)message) == kBytes, "from %d, the last first: %d is wrong", sender,
          message);
  }
}

static void receive_backwards(int messages, int senders) {
  receive_one(messages - 1, senders);
  if (on_margay()) CHECK(heap_bytes() >> 20 > kHeapMegabytes, "the second heap is not open: %llu bytes", heap_bytes());
  // Receives the last messages first, from behind all queued ones, and then the rest in order.
  for (int i = messages - 2; i >= messages - kLookedFor; --i) receive_one(i, senders);
  for (int i = 0; i < messages - kLookedFor; ++i) receive_one(i, senders);
}

static void as_sender(int senders) {
  unsigned char body[kBytes];
  unsigned char* large = memory_of(kLongBytes);
  MPI_Request requests[kLong];
  for (int i = 0; i < kMessages / senders; ++i) {
    pattern_fill(body, kBytes, (unsigned)i);
    MPI_Send(body, kBytes, MPI_BYTE, 0, kTag, MPI_COMM_WORLD);
  }
  // 40 MB of long messages remain here until their bodies are requested.
  pattern_fill(large, kLongBytes, 5);
  for (int i = 0; i < kLong; ++i) MPI_Isend(large, kLongBytes, MPI_BYTE, 0, kTag + 1, MPI_COMM_WORLD, &requests[i]);
  MPI_Waitall(kLong, requests, MPI_STATUSES_IGNORE);
  free(large);
}

static void as_receiver(int senders) {
  unsigned char* body = memory_of(kLongBytes);
  int next[16] = {0};
  MPI_Status status;
  usleep(300000);  // the flood arrives meanwhile, until the heap is full
  for (int i = 0; i < senders; ++i) {
    while (next[i] < kMessages / senders) {
      MPI_Recv(body, kBytes, MPI_BYTE, i + 1, kTag, MPI_COMM_WORLD, &status);
      const unsigned seed = (unsigned)next[i]++;
      CHECK(pattern_mismatch(body, kBytes, seed) == kBytes, "from %d: message %u is wrong", i + 1, seed);
    }
  }
  for (int i = 0; i < kLong * senders; ++i) {
    MPI_Recv(body, kLongBytes, MPI_BYTE, MPI_ANY_SOURCE, kTag + 1, MPI_COMM_WORLD, &status);
    CHECK(pattern_mismatch(body, kLongBytes, 5) == kLongBytes, "long message %d is wrong", i);
  }
  free(body);
}

static void check_memory(int rank, long bound) {
  const long megabytes = resident_megabytes();
  if (!on_margay()) return;
  fprintf(stderr, "rank %d: %ld MB resident\n", rank, megabytes);
  CHECK(megabytes < bound, "%ld MB resident, the bound is %ld", megabytes, bound);
}

int main(int argc, char** argv) {
  suite_begin(&argc, &argv);
  const int rank = world_rank(), senders = world_size() - 1;
  if (rank == 0)
    as_receiver(senders);
  else
    as_sender(senders);
  check_memory(rank, kBoundMegabytes);
  if (rank == 0)
    receive_backwards(kBackwards / senders, senders);
  else
    send_for_backwards(kBackwards / senders);
  check_memory(rank, kBackwardsMegabytes);
  return suite_end("flood");
}
