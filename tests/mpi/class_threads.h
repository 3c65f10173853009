// What the thread tests share: a table of function classes, the functions of each called by several threads of both
// ranks at once, under MPI_THREAD_MULTIPLE. The thread sanitizer sees what the threads of a process share; that values
// are right is checked here.
#pragma once

#include <pthread.h>

#include "check.h"

enum { kThreads = 4 };

// What a thread is given. Thread i of one rank works with thread i of the other.
struct user {
  int self;         // 0 to kThreads - 1; the tag of its messages on `shared`
  int rank, other;  // in both communicators
  MPI_Comm own;     // no other thread of this rank uses it
  MPI_Comm shared;  // all do
};

struct function_class {
  const char* name;
  void (*use)(const struct user*);
};

static pthread_mutex_t suite_lock = PTHREAD_MUTEX_INITIALIZER;

// CHECK for threads.
#define EXPECT(condition, ...)           \
  do {                                   \
    if (!(condition)) {                  \
      pthread_mutex_lock(&suite_lock);   \
      CHECK(0, __VA_ARGS__);             \
      pthread_mutex_unlock(&suite_lock); \
    }                                    \
  } while (0)

struct turn {
  const struct function_class* what;
  struct user user;
  pthread_t thread;
};

static void* take_turn(void* argument) {
  const struct turn* turn = argument;
  turn->what->use(&turn->user);
  return NULL;
}

// One class after the other, so that a failure has its name: all threads of both ranks begin it together.
static void use_class(const struct function_class* what, struct turn* turns) {
  MPI_Barrier(MPI_COMM_WORLD);
  const int before = suite_failures;
  for (int i = 0; i < kThreads; ++i) {
    turns[i].what = what;
    pthread_create(&turns[i].thread, NULL, take_turn, &turns[i]);
  }
  for (int i = 0; i < kThreads; ++i) pthread_join(turns[i].thread, NULL);
  if (suite_failures != before) fprintf(stderr, "rank %d: class %s failed\n", world_rank(), what->name);
}

// `wanted`: one class alone, by name; NULL: all.
static void use_classes(const struct function_class* classes, int number, const char* wanted) {
  struct turn turns[kThreads];
  MPI_Comm shared;
  MPI_Comm_dup(MPI_COMM_WORLD, &shared);
  for (int i = 0; i < kThreads; ++i) {
    turns[i].user = (struct user){.self = i, .rank = world_rank(), .other = 1 - world_rank(), .shared = shared};
    MPI_Comm_dup(MPI_COMM_WORLD, &turns[i].user.own);
  }
  for (int i = 0; i < number; ++i) {
    if (wanted == NULL || strcmp(wanted, classes[i].name) == 0) use_class(&classes[i], turns);
  }
  for (int i = 0; i < kThreads; ++i) MPI_Comm_free(&turns[i].user.own);
  MPI_Comm_free(&shared);
}

// main of a program of classes. `begin` and `end`: what the threads find made, in the main thread; NULL for nothing.
static int class_main(int argc, char** argv, const char* name, const struct function_class* classes, int number,
                      void (*begin)(void), void (*end)(void)) {
  int provided = -1;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  CHECK(provided == MPI_THREAD_MULTIPLE, "thread level %d", provided);
  CHECK(world_size() == 2, "%d ranks, written for 2", world_size());
  if (provided == MPI_THREAD_MULTIPLE && world_size() == 2) {
    if (begin != NULL) begin();
    use_classes(classes, number, argc > 1 ? argv[1] : NULL);
    if (end != NULL) end();
  }
  return suite_end(name);
}
