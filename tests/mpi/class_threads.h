// The common part of the thread tests: a table of function classes, and a driver in which several threads of both ranks
// call the functions of each class at once, under MPI_THREAD_MULTIPLE. The thread sanitizer checks the data that the
// threads share; the programs check the results.
#pragma once

#include <pthread.h>

#include "check.h"

enum { kThreads = 4 };

// The arguments of a thread. Thread i of one rank communicates with thread i of the other.
struct user {
  int self;         // 0 to kThreads - 1; the tag of its messages on `shared`
  int rank, other;  // in both communicators
  MPI_Comm own;     // used by no other thread of this rank
  MPI_Comm shared;  // used by all of them
};

struct function_class {
  const char* name;
  void (*use)(const struct user*);
};

static pthread_mutex_t suite_lock = PTHREAD_MUTEX_INITIALIZER;

// CHECK for use in threads.
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

// Runs one class after the other, so that a failure has the class's name: all threads of both ranks begin it together.
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

// `wanted`: the name of one class; NULL: all.
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

// The main function of a program of classes. `begin` and `end` run in the main thread before and after the threads;
// NULL: nothing.
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
