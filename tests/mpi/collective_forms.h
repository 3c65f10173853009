// The forms of a collective call in a program, and the driver that makes a call in one of them.
#pragma once

#include "check.h"

// The last three are those with large counts (MPI 4.0, 2.5.8).
enum { kBlocking, kNonblocking, kPersistent, kLargeBlocking, kLargeNonblocking, kLargePersistent, kForms };
enum { kStarts = 3 };

__attribute__((unused)) static int is_persistent(int form) {
  return form % 3 == kPersistent;
}

// MPI_Name, MPI_Iname or MPI_Name_init with arguments `plain`, or the same with large counts and arguments `large`,
// both in parentheses. A blocking form leaves the request as it is.
#define UNPACKED(...) __VA_ARGS__
#define CALL_IN_FORM(form, Name, name, plain, large, comm, request)        \
  do {                                                                     \
    switch (form) {                                                        \
      case kBlocking:                                                      \
        MPI_##Name(UNPACKED plain, comm);                                  \
        break;                                                             \
      case kNonblocking:                                                   \
        MPI_I##name(UNPACKED plain, comm, request);                        \
        break;                                                             \
      case kPersistent:                                                    \
        MPI_##Name##_init(UNPACKED plain, comm, MPI_INFO_NULL, request);   \
        break;                                                             \
      case kLargeBlocking:                                                 \
        MPI_##Name##_c(UNPACKED large, comm);                              \
        break;                                                             \
      case kLargeNonblocking:                                              \
        MPI_I##name##_c(UNPACKED large, comm, request);                    \
        break;                                                             \
      default:                                                             \
        MPI_##Name##_init_c(UNPACKED large, comm, MPI_INFO_NULL, request); \
    }                                                                      \
  } while (0)

// The driver's operations on a call of the program's own type.
typedef struct {
  void (*fill)(void* call, int start);  // writes the data of the `start`-th start; clears the receive buffers
  void (*begin)(void* call, int form, MPI_Request* request);
  void (*check)(void* call, int form, int start);
} Steps;

__attribute__((unused)) static void await_collective(MPI_Request* request, int by_test) {
  int done = 0;
  while (by_test && !done) MPI_Test(request, &done, MPI_STATUS_IGNORE);
  MPI_Wait(request, MPI_STATUS_IGNORE);
}

// Makes the call, completes it and checks the results; a persistent one is started `starts` times, with different data
// each time. With one start all data is written before the request is created, because some of MPICH 4.0.2's persistent
// calls require that.
__attribute__((unused)) static void in_form(const Steps* steps, void* call, int form, int starts) {
  MPI_Request request = MPI_REQUEST_NULL;
  const int persistent = is_persistent(form);
  if (!persistent || starts == 1) steps->fill(call, 0);
  steps->begin(call, form, &request);
  for (int start = 0; start < (persistent ? starts : 1); ++start) {
    if (persistent && starts > 1) steps->fill(call, start);
    if (persistent) MPI_Start(&request);
    await_collective(&request, start % 2 == 1 || form == kNonblocking);
    CHECK(persistent == (request != MPI_REQUEST_NULL), "form %d: the request is %s", form,
          persistent ? "null" : "left");
    steps->check(call, form, start);
  }
  if (persistent) MPI_Request_free(&request);
}
