// A program that ends MPI inside exit(): in a handler that was registered before MPI began, or in a destructor (MPI
// 4.0, 11.2.2 lets the program choose the place of MPI_Finalize). It ends there: "session", only a session; "later", a
// session begun after MPI_Finalize; "world", the world model, after a session; "begun", also a session that the handler
// begins.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static MPI_Session session = MPI_SESSION_NULL;
static int in_destructor, in_world, begins;

static void begin_session(void) {
  MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
}

static void end(void) {
  if (begins) begin_session();
  if (session != MPI_SESSION_NULL) MPI_Session_finalize(&session);
  if (in_world) MPI_Finalize();
  puts("ended in order");
  fflush(stdout);
}

static void handler(void) {
  if (!in_destructor) end();
}

__attribute__((destructor)) static void destructor(void) {
  if (in_destructor) end();
}

int main(int argc, char** argv) {
  in_destructor = argc > 2 && strcmp(argv[2], "destructor") == 0;
  atexit(handler);
  if (strcmp(argv[1], "later") == 0) {
    MPI_Init(&argc, &argv);
    MPI_Finalize();
  }
  begin_session();
  if (strcmp(argv[1], "world") != 0 && strcmp(argv[1], "begun") != 0) return 0;
  MPI_Session_finalize(&session);
  begins = strcmp(argv[1], "begun") == 0;
  in_world = !begins;
  if (in_world) MPI_Init(&argc, &argv);
  return 0;
}
