// Calls that belong to no rank (error handlers, info objects) and calls of sessions: a trace has their lines.
#include <mpi.h>

static void on_error(MPI_Comm* communicator, int* code, ...) {
  (void)communicator;
  (void)code;
}

int main(int argc, char** argv) {
  MPI_Errhandler handler;
  MPI_Session session;
  MPI_Info info;
  int length = 0;
  char text[MPI_MAX_ERROR_STRING];
  MPI_Init(&argc, &argv);
  MPI_Comm_create_errhandler(on_error, &handler);                   // line: MPI_Comm_create_errhandler
  MPI_Errhandler_free(&handler);                                    // line: MPI_Errhandler_free
  MPI_Info_create(&info);                                           // line: MPI_Info_create
  MPI_Info_free(&info);                                             // line: MPI_Info_free
  MPI_Error_string(MPI_ERR_TAG, text, &length);                     // line: MPI_Error_string
  MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);  // line: MPI_Session_init
  MPI_Session_finalize(&session);                                   // line: MPI_Session_finalize
  MPI_Finalize();
  return 0;
}
