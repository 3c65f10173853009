// A process whose main thread waits in vfork(), so that a debugger that attaches has to wait, while its other threads
// send themselves signals until a file exists. Then it prints the number of lost signals. signalled FILE
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

enum { kPauseUs = 1000, kThreads = 4 };

static const char* file;
static _Thread_local volatile sig_atomic_t came;

static void on_signal(int number) {
  (void)number;
  came = 1;
}

static int is_there(void) {
  return access(file, F_OK) == 0;
}

// raise() to the calling thread returns after the handler.
static void* signal_self(void* lost) {
  for (long at = 0; at % 1024 != 0 || !is_there(); ++at) {
    came = 0;
    raise(SIGRTMIN);
    if (!came) ++*(long*)lost;
  }
  return NULL;
}

// The child runs on the stack of the waiting thread.
__attribute__((noinline)) static void wait_in_vfork(void) {
  if (vfork() != 0) return;
  printf("begun\n");
  fflush(stdout);
  while (!is_there()) usleep(kPauseUs);
  _exit(0);
}

int main(int argc, char** argv) {
  pthread_t threads[kThreads];
  long lost[kThreads] = {0}, all = 0;
  struct sigaction action = {0};
  file = argc > 1 ? argv[1] : "";
  action.sa_handler = on_signal;
  sigaction(SIGRTMIN, &action, NULL);
  for (int at = 0; at < kThreads; ++at) {
    if (pthread_create(&threads[at], NULL, signal_self, &lost[at]) != 0) return 1;
  }
  wait_in_vfork();
  for (int at = 0; at < kThreads; ++at) {
    pthread_join(threads[at], NULL);
    all += lost[at];
  }
  printf("signals lost: %ld\n", all);
  return 0;
}
