// A benchmark of the machine without MPI: two processes, each on its own processor.
//   limits --mode cache_line|two_lines|memcpy|tcp_latency|tcp_stream|tcp_window [--sizes A,B] [--seconds S]
// Lines: "cache_line 64 VALUE us" (one way, one line that both write), "two_lines 64 VALUE us" (one way, a line for
// each direction), "memcpy SIZE VALUE MB/s", "tcp_latency SIZE VALUE us" (one way, both sides polling), "tcp_stream
// SIZE VALUE MB/s" (in writes of SIZE bytes), "tcp_window SIZE VALUE msg/s" (64 messages of SIZE bytes in one write,
// without heads, and an answer of 8 bytes).
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common.h"

enum { kStreamWindow = 4 << 20, kSocketBuffer = 4 << 20, kWindow = 64, kAnswerBytes = 8 };

// One cache line that both write alternately: even numbers are the parent's, odd ones the child's.
static void line_echo(void* state) {
  atomic_long* line = state;
  for (long next = 1;; next += 2) {
    while (atomic_load_explicit(line, memory_order_acquire) != next) continue;
    atomic_store_explicit(line, next + 1, memory_order_release);
  }
}

static double line_ping_pong(void* state, long count) {
  atomic_long* line = state;
  long next = atomic_load_explicit(line, memory_order_relaxed);  // only this side leaves even numbers behind
  const double start = now_s();
  for (long i = 0; i < count; i++, next += 2) {
    atomic_store_explicit(line, next + 1, memory_order_release);
    while (atomic_load_explicit(line, memory_order_acquire) != next + 2) continue;
  }
  return now_s() - start;
}

static void cache_line(double seconds) {
  void* line = new_shared(kPageBytes);
  const pid_t child = start_child(line_echo, line, 1);
  report("cache_line", 64, time_of_step(line_ping_pong, line, seconds, alone) / 2 * 1e6, "us");
  end_child(child);
}

// A line for each direction, as any queue with a polling receiver needs: its writer does not read it, its reader does
// not write it.
struct TwoLines {
  _Alignas(64) atomic_long there;
  _Alignas(64) atomic_long back;
};

static void two_lines_echo(void* state) {
  struct TwoLines* lines = state;
  for (long next = 1;; next++) {
    while (atomic_load_explicit(&lines->there, memory_order_acquire) != next) continue;
    atomic_store_explicit(&lines->back, next, memory_order_release);
  }
}

static double two_lines_ping_pong(void* state, long count) {
  struct TwoLines* lines = state;
  long next = atomic_load_explicit(&lines->back, memory_order_relaxed);
  const double start = now_s();
  for (long i = 0; i < count; i++) {
    atomic_store_explicit(&lines->there, ++next, memory_order_release);
    while (atomic_load_explicit(&lines->back, memory_order_acquire) != next) continue;
  }
  return now_s() - start;
}

static void two_lines(double seconds) {
  void* lines = new_shared(sizeof(struct TwoLines));
  const pid_t child = start_child(two_lines_echo, lines, 1);
  report("two_lines", 64, time_of_step(two_lines_ping_pong, lines, seconds, alone) / 2 * 1e6, "us");
  end_child(child);
}

struct Copy {
  char* from;
  char* to;
  size_t bytes;
};

static double copies(void* state, long count) {
  const struct Copy* c = state;
  const double start = now_s();
  for (long i = 0; i < count; i++) {
    memcpy(c->to, c->from, c->bytes);
    __asm__ volatile("" : : "r"(c->to), "r"(c->from) : "memory");  // forces each copy
  }
  return now_s() - start;
}

static void memcpy_limit(long size, double seconds) {
  struct Copy c = {new_buffer((size_t)size), new_buffer((size_t)size), (size_t)size};
  fill_pattern(c.from, c.bytes, 1);
  const double step = time_of_step(copies, &c, seconds, alone);
  check_pattern(c.to, c.bytes, 1, "memcpy");
  report("memcpy", size, (double)size / step / 1e6, "MB/s");
  free(c.from);
  free(c.to);
}

struct Tcp {
  int socket;
  size_t bytes;   // of a message
  size_t window;  // of a stream, before an answer
  size_t answer;  // bytes
  char* buffer;
};

// Both ends poll: neither sleeps in the kernel.
static void send_bytes(const struct Tcp* t, size_t bytes) {
  for (size_t done = 0; done < bytes;) {
    const ssize_t n = send(t->socket, t->buffer + done, bytes - done, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (n > 0) done += (size_t)n;
    if (n < 0 && errno != EAGAIN) fail("send on the loopback");
  }
}

static void receive_bytes(const struct Tcp* t, size_t bytes) {
  for (size_t done = 0; done < bytes;) {
    const ssize_t n = recv(t->socket, t->buffer + done, bytes - done, MSG_DONTWAIT);
    if (n > 0) done += (size_t)n;
    if (n == 0 || (n < 0 && errno != EAGAIN)) fail("receive on the loopback");
  }
}

static void tcp_echo(void* state) {
  const struct Tcp* t = state;
  for (;;) {
    receive_bytes(t, t->bytes);
    send_bytes(t, t->bytes);
  }
}

static double tcp_ping_pong(void* state, long count) {
  const struct Tcp* t = state;
  const double start = now_s();
  for (long i = 0; i < count; i++) {
    send_bytes(t, t->bytes);
    receive_bytes(t, t->bytes);
  }
  return now_s() - start;
}

static void tcp_sink(void* state) {
  const struct Tcp* t = state;
  for (;;) {
    for (size_t done = 0; done < t->window; done += t->bytes) receive_bytes(t, t->bytes);
    send_bytes(t, t->answer);
  }
}

static double tcp_stream(void* state, long count) {
  const struct Tcp* t = state;
  const double start = now_s();
  for (long i = 0; i < count; i++) {
    for (size_t done = 0; done < t->window; done += t->bytes) send_bytes(t, t->bytes);
    receive_bytes(t, t->answer);
  }
  return now_s() - start;
}

// Two connected sockets on this machine's loopback interface.
static void connect_pair(int* one, int* other) {
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t length = sizeof address;
  const int listener = socket(AF_INET, SOCK_STREAM, 0), yes = 1, big = kSocketBuffer;
  *one = socket(AF_INET, SOCK_STREAM, 0);
  setsockopt(listener, SOL_SOCKET, SO_RCVBUF, &big, sizeof big);
  if (bind(listener, (struct sockaddr*)&address, length) != 0 || listen(listener, 1) != 0 ||
      getsockname(listener, (struct sockaddr*)&address, &length) != 0 ||
      connect(*one, (struct sockaddr*)&address, length) != 0) {
    fail("no connection over the loopback");
  }
  *other = accept(listener, NULL, NULL);
  close(listener);
  setsockopt(*one, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  setsockopt(*other, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
}

static void tcp_limit(const char* mode, long size, double seconds) {
  const int latency = strcmp(mode, "tcp_latency") == 0, window = strcmp(mode, "tcp_window") == 0;
  const size_t bytes = (size_t)size * (window ? kWindow : 1);
  struct Tcp parent = {.bytes = bytes, .window = kStreamWindow / bytes * bytes, .answer = 1};
  if (parent.window == 0 || window) parent.window = bytes;
  if (window) parent.answer = kAnswerBytes;
  parent.buffer = new_buffer(bytes + kAnswerBytes);
  struct Tcp child_end = parent;
  connect_pair(&parent.socket, &child_end.socket);
  const pid_t child = start_child(latency ? tcp_echo : tcp_sink, &child_end, 1);
  if (latency) {
    report(mode, size, time_of_step(tcp_ping_pong, &parent, seconds, alone) / 2 * 1e6, "us");
  } else if (window) {
    report(mode, size, kWindow / time_of_step(tcp_stream, &parent, seconds, alone), "msg/s");
  } else {
    report(mode, size, (double)parent.window / time_of_step(tcp_stream, &parent, seconds, alone) / 1e6, "MB/s");
  }
  end_child(child);
  close(parent.socket);
  close(child_end.socket);
  free(parent.buffer);
}

int main(int argc, char** argv) {
  struct Options options = {.mode = "cache_line", .sizes = {8}, .size_count = 1, .seconds = 0.1};
  read_options(argc, argv, &options);
  pin_to(0);
  for (int i = 0; i < options.size_count; i++) {
    if (strcmp(options.mode, "cache_line") == 0) {
      cache_line(options.seconds);
    } else if (strcmp(options.mode, "two_lines") == 0) {
      two_lines(options.seconds);
    } else if (strcmp(options.mode, "memcpy") == 0) {
      memcpy_limit(options.sizes[i], options.seconds);
    } else {
      tcp_limit(options.mode, options.sizes[i], options.seconds);
    }
  }
  return 0;
}
