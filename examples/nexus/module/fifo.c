/* A module of Nexus over named FIFOs, one for each context of a node (docs/nexus_modules.md). Built outside of the
 * tree:
 *
 *   cc -shared -fPIC -o fifo.so fifo.c $(pkg-config --cflags margay-nexus)
 *   margay run -n 2 ./hello --nexus-load fifo=./fifo.so --nexus-order fifo
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <margay/nexus_module.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

/* A message in a FIFO: this, the header, the body. Writes of at most PIPE_BUF bytes are atomic, so that the messages of
 * several senders do not mix. */
typedef struct {
  uint32_t header_bytes, body_bytes, source;
} fifo_message;
enum { BODY_MOST = PIPE_BUF - sizeof(fifo_message) - MARGAY_NEXUS_HEADER_MOST };

/* The state of one context: `in` has `bytes` bytes that are read, but not delivered. */
typedef struct {
  const margay_nexus_host* host;
  char folder[64], path[96];
  int fifo;
  size_t bytes;
  char in[16 * PIPE_BUF];
} context;

/* An open object: the peer's FIFO. */
typedef struct {
  int fifo;
  uint32_t peer;
} object;

static int failed(const char* step, const char* path, char* why, size_t why_bytes) {
  snprintf(why, why_bytes, "%s(%s): %s", step, path, strerror(errno));
  return 1;
}

static int fifo_init(const margay_nexus_host* host, const margay_nexus_parameter* parameters, size_t count,
                     void** state, char* why, size_t why_bytes) {
  (void)parameters;
  if (count != 0) return snprintf(why, why_bytes, "fifo has no parameters; remove them");
  context* self = calloc(1, sizeof *self);
  if (self == NULL) return failed("calloc", "", why, why_bytes);
  self->host = host;
  snprintf(self->folder, sizeof self->folder, "/tmp/nexus-fifo-%016llx", (unsigned long long)host->session);
  snprintf(self->path, sizeof self->path, "%s/%u", self->folder, host->context);
  /* All contexts of the node share the folder, which must belong to this user. */
  struct stat folder;
  if ((mkdir(self->folder, 0700) != 0 && errno != EEXIST) || lstat(self->folder, &folder) != 0 ||
      folder.st_uid != geteuid() || mkfifo(self->path, 0600) != 0 ||
      (self->fifo = open(self->path, O_RDWR | O_NONBLOCK | O_CLOEXEC)) < 0) {
    failed("mkfifo", self->path, why, why_bytes);
    free(self);
    return 1;
  }
  *state = self;
  return 0;
}

static void fifo_finish(void* state) {
  context* self = state;
  close(self->fifo);
  unlink(self->path);
  rmdir(self->folder); /* succeeds for the last context */
  free(self);
}

/* The descriptor is the name of the FIFO. */
static int64_t fifo_descriptor(void* state, void* bytes, size_t most) {
  context* self = state;
  return snprintf(bytes, most, "%s", self->path);
}

/* A descriptor may contain any bytes, so it is compared with the name of the peer's FIFO on this node. */
static int fifo_applicable(void* state, const void* own, size_t own_bytes, uint32_t peer, const void* theirs,
                           size_t theirs_bytes, uint32_t content, char* why, size_t why_bytes) {
  context* self = state;
  char path[96];
  const size_t length = (size_t)snprintf(path, sizeof path, "%s/%u", self->folder, peer);
  (void)own, (void)own_bytes, (void)content;
  if (theirs_bytes == length && memcmp(theirs, path, length) == 0 && access(path, W_OK) == 0) return 1;
  snprintf(why, why_bytes, "missing FIFO %s on this node", path);
  return 0;
}

static int fifo_open(void* state, uint32_t peer, const void* theirs, size_t theirs_bytes, void** opened, char* why,
                     size_t why_bytes) {
  context* self = state;
  char path[96];
  (void)theirs, (void)theirs_bytes;
  snprintf(path, sizeof path, "%s/%u", self->folder, peer);
  object* to = malloc(sizeof *to);
  /* Also for reading, so that a write to a peer that has ended raises no SIGPIPE. */
  if (to == NULL || (to->fifo = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC)) < 0) {
    free(to);
    return failed("open", path, why, why_bytes);
  }
  to->peer = peer;
  *opened = to;
  return 0;
}

static void fifo_close(void* state, void* opened) {
  object* to = opened;
  (void)state;
  close(to->fifo);
  free(to);
}

static int fifo_send(void* state, void* opened, const void* header, size_t header_bytes, const margay_nexus_bytes* body,
                     size_t pieces, char* why, size_t why_bytes) {
  context* self = state;
  object* to = opened;
  fifo_message message = {(uint32_t)header_bytes, 0, self->host->context};
  struct iovec parts[2 + MARGAY_NEXUS_PIECES_MOST] = {{&message, sizeof message}, {(void*)header, header_bytes}};
  for (size_t i = 0; i < pieces; ++i) {
    parts[2 + i] = (struct iovec){(void*)body[i].base, body[i].bytes};
    message.body_bytes += (uint32_t)body[i].bytes;
  }
  if (writev(to->fifo, parts, (int)(2 + pieces)) > 0) return MARGAY_NEXUS_TAKEN;
  if (errno == EAGAIN && !self->host->is_lost(self->host->self, to->peer)) return MARGAY_NEXUS_FULL;
  failed("writev", "FIFO", why, why_bytes);
  return MARGAY_NEXUS_FAILED;
}

static int fifo_poll(void* state, int most, char* why, size_t why_bytes) {
  context* self = state;
  const ssize_t count = read(self->fifo, self->in + self->bytes, sizeof self->in - self->bytes);
  if (count < 0 && errno != EAGAIN) return -failed("read", self->path, why, why_bytes);
  if (count > 0) self->bytes += (size_t)count;
  int delivered = 0;
  size_t at = 0;
  fifo_message message;
  while (delivered < most && self->bytes - at >= sizeof message) {
    memcpy(&message, self->in + at, sizeof message);
    const size_t bytes = sizeof message + (size_t)message.header_bytes + message.body_bytes;
    if (bytes > PIPE_BUF) return -(snprintf(why, why_bytes, "another process wrote to %s", self->path) > 0);
    if (self->bytes - at < bytes) break;
    const char* header = self->in + at + sizeof message;
    self->host->deliver(self->host->self, message.source, header, message.header_bytes, header + message.header_bytes,
                        message.body_bytes);
    ++delivered;
    at += bytes;
  }
  memmove(self->in, self->in + at, self->bytes -= at);
  return delivered;
}

const margay_nexus_module* margay_nexus_module_table(void) {
  static const margay_nexus_module table = {
      .version = MARGAY_NEXUS_MODULE_VERSION,
      .size = sizeof table,
      .name = "fifo",
      .description = "named FIFOs of one node",
      .traits = MARGAY_NEXUS_ORDERED | MARGAY_NEXUS_RELIABLE,
      .latency_ns = 3000,
      .body_most = BODY_MOST,
      .init = fifo_init,
      .finish = fifo_finish,
      .descriptor = fifo_descriptor,
      .applicable = fifo_applicable,
      .open = fifo_open,
      .close = fifo_close,
      .send = fifo_send,
      .poll = fifo_poll,
  };
  return &table;
}
