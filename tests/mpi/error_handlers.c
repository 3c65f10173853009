// Tests of error handlers: MPI_ERRORS_RETURN on one communicator only, inheritance by duplicates, references by
// handles, and the default handler.
// ranks: 2
#include "check.h"

enum { kTag = 1 };

static void of_a_session(MPI_Session* session, int* code, ...) {
  (void)session;
  (void)code;
}

static int calls_of_files;
static void of_a_file(MPI_File* file, int* code, ...) {
  CHECK(*file == MPI_FILE_NULL && class_of(*code) == MPI_ERR_ARG, "a file's handler got class %d", class_of(*code));
  ++calls_of_files;
}

// The initial handler of files: C++ programs get it and set it at their start (MPI 4.0, 14.7).
static void files(void) {
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL, made;
  CHECK(MPI_File_get_errhandler(MPI_FILE_NULL, &handler) == MPI_SUCCESS, "asking for the files' handler");
  CHECK(handler == MPI_ERRORS_RETURN, "files begin with %x", (unsigned)handler);
  CHECK(MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_ARE_FATAL) == MPI_SUCCESS, "setting the files' handler");
  MPI_File_get_errhandler(MPI_FILE_NULL, &handler);
  CHECK(handler == MPI_ERRORS_ARE_FATAL, "files begin with %x", (unsigned)handler);
  CHECK(MPI_File_create_errhandler(of_a_file, &made) == MPI_SUCCESS, "making a files' handler");
  CHECK(MPI_File_set_errhandler(MPI_FILE_NULL, made) == MPI_SUCCESS, "setting the program's handler");
  MPI_File_call_errhandler(MPI_FILE_NULL, MPI_ERR_ARG);
  CHECK(calls_of_files == 1, "a file's handler was called %d times", calls_of_files);
  MPI_Errhandler_free(&made);
  CHECK(MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN) == MPI_SUCCESS, "setting the files' handler back");
}

int main(int argc, char** argv) {
  suite_begin(&argc, &argv);
  int value = 1;
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  MPI_Comm comm, copy;
  MPI_Comm_get_errhandler(MPI_COMM_WORLD, &handler);
  CHECK(handler == MPI_ERRORS_ARE_FATAL, "the default handler is %x", (unsigned)handler);
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  MPI_Comm_get_errhandler(comm, &handler);
  CHECK(handler == MPI_ERRORS_RETURN, "after set: %x", (unsigned)handler);
  MPI_Comm_get_errhandler(MPI_COMM_WORLD, &handler);
  CHECK(handler == MPI_ERRORS_ARE_FATAL, "the world's handler changed to %x", (unsigned)handler);
  const int code = MPI_Send(&value, 1, MPI_INT, 99, kTag, comm);
  CHECK(class_of(code) == MPI_ERR_RANK, "class %d", class_of(code));
  // A duplicate has its parent's handler (MPI 4.0, section 9.3).
  MPI_Comm_dup(comm, &copy);
  MPI_Comm_get_errhandler(copy, &handler);
  CHECK(handler == MPI_ERRORS_RETURN, "the duplicate's handler is %x", (unsigned)handler);
  CHECK(class_of(MPI_Send(&value, -1, MPI_INT, 0, kTag, copy)) == MPI_ERR_COUNT, "on the duplicate");
  // A handler for another kind of object is invalid for a communicator.
  if (on_margay()) {  // MPICH 4.0.2 does not check
    MPI_Errhandler other;
    MPI_Session_create_errhandler(&of_a_session, &other);
    CHECK(class_of(MPI_Comm_set_errhandler(copy, other)) == MPI_ERR_ARG, "a session's handler was set");
    MPI_Comm_get_errhandler(copy, &handler);
    CHECK(handler == MPI_ERRORS_RETURN, "a refused handler was set: %x", (unsigned)handler);
    MPI_Errhandler_free(&other);
  }
  // An error does not change the communicator.
  int sum = 0;
  MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, copy);
  CHECK(sum == 2, "sum %d after errors", sum);
  // The class of an error class is itself.
  for (int class = 0; class < 20; ++class) CHECK(class_of(class) == class, "class of %d is %d", class, class_of(class));
  MPI_Comm_free(&copy);
  MPI_Comm_free(&comm);
  files();
  return suite_end("error_handlers");
}
