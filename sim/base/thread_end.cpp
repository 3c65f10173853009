#include "sim/base/thread_end.hpp"

#include <pthread.h>
#include <unistd.h>

namespace margay::sim {

namespace {

// The process in which the calling thread registered. It is compared, because a forked child must not notify.
constinit thread_local pid_t asked_in = 0;

void ended(void* whom) {
  if (asked_in == getpid()) static_cast<ThreadEnds*>(whom)->thread_ends();
}

}  // namespace

// Uses a key of POSIX threads, because the destructors of thread_local objects also run at exit().
void notify_thread_end(ThreadEnds& whom) {
  static const struct Key {
    Key() : made(pthread_key_create(&key, &ended) == 0) {}
    pthread_key_t key{};
    const bool made;
  } key;
  if (!key.made) return;
  asked_in = getpid();
  static_cast<void>(pthread_setspecific(key.key, &whom));
}

}  // namespace margay::sim
