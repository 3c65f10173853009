// Calls, in rank 1, the function of the first argument, which a simulated rank must not call. The second argument is a
// library.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <threads.h>
#include <unistd.h>

static char* words[] = {"/bin/true", NULL};

static void* thread(void* argument) {
  return argument;
}

static int child(void* argument) {
  return argument != NULL;
}

static void call(const char* name, const char* library) {
  pid_t process;
  pthread_t handle;
  thrd_t other;
  if (strcmp(name, "fork") == 0) process = fork();
  if (strcmp(name, "_Fork") == 0) process = _Fork();
  if (strcmp(name, "vfork") == 0) process = vfork();
  if (strcmp(name, "execl") == 0) execl(words[0], words[0], NULL);
  if (strcmp(name, "execlp") == 0) execlp("true", "true", NULL);
  if (strcmp(name, "execle") == 0) execle(words[0], words[0], NULL, words);
  if (strcmp(name, "execv") == 0) execv(words[0], words);
  if (strcmp(name, "execve") == 0) execve(words[0], words, words);
  if (strcmp(name, "execvp") == 0) execvp("true", words);
  if (strcmp(name, "execvpe") == 0) execvpe("true", words, words);
  if (strcmp(name, "fexecve") == 0) fexecve(0, words, words);
  if (strcmp(name, "posix_spawn") == 0) posix_spawn(&process, words[0], NULL, NULL, words, words);
  if (strcmp(name, "posix_spawnp") == 0) posix_spawnp(&process, "true", NULL, NULL, words, words);
  if (strcmp(name, "system") == 0 && system("true") != 0) puts("system");
  if (strcmp(name, "popen") == 0) popen("true", "r");
  if (strcmp(name, "daemon") == 0 && daemon(0, 0) != 0) puts("daemon");
  // Others may be loaded: the program itself, a library of the system.
  if (strcmp(name, "dlopen") == 0 && dlopen(NULL, RTLD_NOW) != NULL && dlopen("libm.so.6", RTLD_NOW) != NULL) {
    puts("loaded");
    dlopen(library, RTLD_NOW);
  }
  if (strcmp(name, "pthread_create") == 0) pthread_create(&handle, NULL, thread, NULL);
  if (strcmp(name, "thrd_create") == 0) thrd_create(&other, child, NULL);
  if (strcmp(name, "clone") == 0) clone(child, words + 1, 0, NULL);
}

int main(int argc, char** argv) {
  usleep(1000);
  if (argc > 2 && atoi(getenv("RANK")) == 1) call(argv[1], argv[2]);
  usleep(1000);
  puts("still here");
  return 0;
}
