// A test of seeded random traffic between all ranks at once: every mode, sizes over all protocols, wildcard and exact
// receives posted early and late. Every message contains its sender and its index among that pair's messages.
// ranks: 2 3 4 6
// reference: 3
// sanitized: shm uring epoll
#include <signal.h>
#include <unistd.h>

#include "check.h"

enum { kMessages = 250, kLargest = 150000, kModes = 5, kTag = 1 };

struct Dice {
  unsigned long state;
};

// xorshift64*: the same numbers on every MPI and machine.
static unsigned roll(struct Dice* dice, unsigned below) {
  dice->state ^= dice->state >> 12;
  dice->state ^= dice->state << 25;
  dice->state ^= dice->state >> 27;
  return (unsigned)((dice->state * 2685821657736338717UL) >> 33) % below;
}

static unsigned long seed;   // an argument; 0 without one
static int dies_after = -1;  // another: rank 1 kills itself after this number of received messages

static struct Dice dice_of(int from, int to) {
  struct Dice dice = {((unsigned long)(from * 1000 + to + 1) + seed * 1000000) * 0x9E3779B97F4A7C15UL};
  roll(&dice, 2);
  return dice;
}

static int roll_bytes(struct Dice* dice) {
  static const unsigned kBelow[] = {41, 200, 4097, 16400, 70000, kLargest + 1};
  return (int)(sizeof(int)) + (int)roll(dice, kBelow[roll(dice, 6)] - (unsigned)sizeof(int));
}

struct Sends {
  MPI_Request request;
  unsigned char* body;
};

static void start_send(struct Sends* send, int to, int index, int bytes, unsigned mode) {
  send->body = memory_of((size_t)bytes);
  pattern_fill(send->body, (size_t)bytes, (unsigned)(world_rank() * 7919 + index));
  memcpy(send->body, &index, sizeof index);
  void* body = send->body;
  switch (mode) {
    case 0:
    case 1:
      MPI_Isend(body, bytes, MPI_BYTE, to, kTag, MPI_COMM_WORLD, &send->request);
      return;
    case 2:
      MPI_Issend(body, bytes, MPI_BYTE, to, kTag, MPI_COMM_WORLD, &send->request);
      return;
    case 3:
      MPI_Ibsend(body, bytes, MPI_BYTE, to, kTag, MPI_COMM_WORLD, &send->request);
      return;
    default:
      MPI_Send_init(body, bytes, MPI_BYTE, to, kTag, MPI_COMM_WORLD, &send->request);
      MPI_Start(&send->request);
  }
}

struct Inbox {
  int* next;          // per source, the next index
  struct Dice* dice;  // per source, the sender's random numbers
  long bytes;
  int received;
  int size;
};

static void take(struct Inbox* inbox, const unsigned char* body, const MPI_Status* status) {
  const int source = status->MPI_SOURCE;
  int index = -1, count = -1;
  MPI_Get_count(status, MPI_BYTE, &count);
  memcpy(&index, body, sizeof index);
  CHECK(source >= 0 && source < inbox->size, "a message from %d", source);
  if (source < 0 || source >= inbox->size) return;
  const int bytes = roll_bytes(&inbox->dice[source]);
  roll(&inbox->dice[source], kModes);
  CHECK(index == inbox->next[source], "from %d: message %d where %d was due", source, index, inbox->next[source]);
  CHECK(count == bytes, "from %d: message %d has %d bytes, expected %d", source, index, count, bytes);
  for (int i = (int)sizeof index; i < count; ++i)
    if (body[i] != pattern_byte((unsigned)(source * 7919 + index), (size_t)i)) {
      CHECK(0, "from %d: message %d of %d bytes is wrong at byte %d", source, index, count, i);
      break;
    }
  ++inbox->next[source];
  ++inbox->received;
  inbox->bytes += count;
  if (world_rank() == 1 && inbox->received == dies_after) raise(SIGKILL);
}

// A window of receives in the order of posting, from any source; they match in that order.
static void exchange(struct Inbox* inbox, struct Sends* sends, struct Dice* own) {
  enum { kWindow = 6 };
  const int rank = world_rank(), total = (inbox->size - 1) * kMessages;
  unsigned char* bodies = memory_of((size_t)kWindow * kLargest);
  MPI_Request window[kWindow];
  MPI_Status status;
  int posted = 0, sent = 0, indices[64] = {0};
  struct Dice order = dice_of(rank, 999);
  while (inbox->received < total || sent < total) {
    const int before = inbox->received + sent;
    while (posted < total && posted - inbox->received < kWindow) {
      MPI_Irecv(bodies + (size_t)(posted % kWindow) * kLargest, kLargest, MPI_BYTE, MPI_ANY_SOURCE, kTag,
                MPI_COMM_WORLD, &window[posted % kWindow]);
      ++posted;
    }
    for (unsigned burst = roll(&order, 5); burst > 0 && sent < total; --burst) {
      int to = (int)roll(&order, (unsigned)inbox->size);
      while (to == rank || indices[to] == kMessages) to = (to + 1) % inbox->size;
      const int bytes = roll_bytes(&own[to]);
      start_send(&sends[sent++], to, indices[to]++, bytes, roll(&own[to], kModes));
    }
    int flag = inbox->received < total;
    while (flag) {
      const int slot = inbox->received % kWindow;
      MPI_Test(&window[slot], &flag, &status);
      if (!flag) break;
      take(inbox, bodies + (size_t)slot * kLargest, &status);
      flag = inbox->received < posted;
    }
    if (inbox->received + sent == before) usleep(50);  // a trace holds a limited number of calls
  }
  free(bodies);
}

int main(int argc, char** argv) {
  suite_begin(&argc, &argv);
  seed = argc > 1 ? strtoul(argv[1], NULL, 10) : 0;
  dies_after = argc > 2 ? atoi(argv[2]) : -1;
  const int rank = world_rank(), size = world_size(), total = (size - 1) * kMessages;
  // Space for all buffered sends at once. They are a fifth of all sends, and never need twice their mean.
  int buffer_bytes = total * 30000;
  void* buffer = memory_of((size_t)buffer_bytes);
  MPI_Buffer_attach(buffer, buffer_bytes);
  struct Inbox inbox = {calloc((size_t)size, sizeof(int)), calloc((size_t)size, sizeof(struct Dice)), 0, 0, size};
  struct Dice* own = calloc((size_t)size, sizeof *own);
  struct Sends* sends = calloc((size_t)total, sizeof *sends);
  for (int i = 0; i < size; ++i) {
    inbox.dice[i] = dice_of(i, rank);
    own[i] = dice_of(rank, i);
  }
  exchange(&inbox, sends, own);
  for (int i = 0; i < total; ++i) {
    MPI_Wait(&sends[i].request, MPI_STATUS_IGNORE);
    if (sends[i].request != MPI_REQUEST_NULL) MPI_Request_free(&sends[i].request);
    free(sends[i].body);
  }
  CHECK(inbox.received == total, "%d of %d messages", inbox.received, total);
  long all = 0;
  MPI_Reduce(&inbox.bytes, &all, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("%d messages, %ld bytes\n", total * size, all);
  MPI_Buffer_detach(&buffer, &buffer_bytes);
  free(buffer);
  free(inbox.next);
  free(inbox.dice);
  free(own);
  free(sends);
  return suite_end("traffic");
}
