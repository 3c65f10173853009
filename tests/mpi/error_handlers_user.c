// Tests of the program's error handlers: their arguments, MPI calls inside them, inheritance, and freeing while
// attached; error classes, codes and strings of the program; MPI_Comm_call_errhandler.
// ranks: 1 2
// reference: 2
#include "check.h"

static MPI_Comm seen_comm;
static int seen_class, calls, nested;

static void handler(MPI_Comm* comm, int* code, ...) {
  ++calls;
  seen_comm = *comm;
  seen_class = class_of(*code);
}

// The call returns the code that its handler stores.
static void forgiving(MPI_Comm* comm, int* code, ...) {
  (void)comm;
  *code = MPI_SUCCESS;
}

static void rewording(MPI_Comm* comm, int* code, ...) {
  (void)comm;
  *code = MPI_ERR_OTHER;
}

static void changing_the_code(void) {
  MPI_Comm_errhandler_function* const functions[] = {forgiving, rewording};
  const int returned[] = {MPI_SUCCESS, MPI_ERR_OTHER};
  for (int i = 0; i < 2; ++i) {
    int sent = 0, value = 0, code;
    MPI_Comm comm;
    MPI_Errhandler mine;
    MPI_Request request;
    MPI_Comm_create_errhandler(functions[i], &mine);
    MPI_Comm_dup(MPI_COMM_SELF, &comm);
    MPI_Comm_set_errhandler(comm, mine);
    MPI_Errhandler_free(&mine);
    code = MPI_Send(&sent, 1, MPI_INT, 99, 0, comm);
    CHECK(code == returned[i], "a wrong destination returns %d, expected %d", code, returned[i]);
    MPI_Irecv(&value, 1, MPI_CHAR, 0, 0, comm, &request);
    MPI_Send(&sent, 1, MPI_INT, 0, 0, comm);
    code = MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(code == returned[i], "a message that is too long returns %d, expected %d", code, returned[i]);
    CHECK(MPI_Comm_call_errhandler(comm, MPI_ERR_TAG) == MPI_SUCCESS, "MPI_Comm_call_errhandler failed");
    MPI_Comm_free(&comm);
  }
}

// Makes MPI calls, one with an error, and collective ones.
static void busy_handler(MPI_Comm* comm, int* code, ...) {
  int size = 0;
  (void)code;
  ++calls;
  if (nested++ == 0) MPI_Comm_size(MPI_COMM_NULL, &size);
  MPI_Barrier(*comm);
}

static void attached(void) {
  int value = 0;
  MPI_Errhandler mine, got;
  MPI_Comm comm, copy, part;
  MPI_Comm_create_errhandler(handler, &mine);
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_errhandler(comm, mine);
  MPI_Comm_get_errhandler(comm, &got);
  CHECK(got == mine, "set %x, got %x", (unsigned)mine, (unsigned)got);
  MPI_Errhandler_free(&got);
  CHECK(got == MPI_ERRHANDLER_NULL, "a freed handler is %x", (unsigned)got);
  // An attached handler works without a handle.
  MPI_Errhandler_free(&mine);
  calls = 0;
  const int code = MPI_Send(&value, 1, MPI_INT, 99, 0, comm);
  CHECK(calls == 1 && seen_comm == comm && seen_class == MPI_ERR_RANK, "%d calls, class %d", calls, seen_class);
  CHECK(class_of(code) == MPI_ERR_RANK, "the call returned class %d", class_of(code));
  MPI_Comm_dup(comm, &copy);
  MPI_Comm_split(comm, 0, 0, &part);
  MPI_Comm_free(&comm);
  MPI_Recv(&value, -1, MPI_INT, 0, 0, copy, MPI_STATUS_IGNORE);
  CHECK(calls == 2 && seen_comm == copy && seen_class == MPI_ERR_COUNT, "not inherited by dup");
  MPI_Send(&value, 1, MPI_INT, 0, -5, part);
  CHECK(calls == 3 && seen_comm == part && seen_class == MPI_ERR_TAG, "not inherited by split");
  MPI_Comm_get_errhandler(part, &got);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, got);
  MPI_Errhandler_free(&got);
  MPI_Comm_free(&part);
  MPI_Comm_free(&copy);
  MPI_Send(&value, 1, MPI_INT, 7, 0, MPI_COMM_SELF);
  CHECK(calls == 4 && seen_comm == MPI_COMM_SELF, "a handler that was returned and set elsewhere");
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
}

static void calling_mpi(void) {
  int value = 0;
  MPI_Errhandler mine;
  MPI_Comm comm;
  MPI_Errhandler_create(busy_handler, &mine);
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Errhandler_set(comm, mine);
  MPI_Errhandler_free(&mine);
  calls = 0;
  MPI_Send(&value, 1, MPI_INT, 99, 0, comm);
  CHECK(calls == 1, "%d calls", calls);
  MPI_Comm_free(&comm);
}

static void none_of_a_communicator(void) {
  int size;
  MPI_Errhandler mine;
  MPI_Comm_create_errhandler(handler, &mine);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, mine);
  calls = 0;
  MPI_Type_size(MPI_DATATYPE_NULL, &size);
  CHECK(calls == 1 && seen_comm == MPI_COMM_WORLD && seen_class == MPI_ERR_TYPE, "%d calls", calls);
  MPI_Errhandler_free(&mine);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
}

static void codes_of_the_program(void) {
  int class, code, second, got = 0, length = 0, *last = NULL, flag = 0;
  char text[MPI_MAX_ERROR_STRING] = "x";
  MPI_Errhandler mine;
  MPI_Add_error_class(&class);
  MPI_Add_error_code(class, &code);
  MPI_Add_error_code(class, &second);
  CHECK(class > MPI_ERR_LASTCODE && code != class && second != code, "class %d, codes %d %d", class, code, second);
  CHECK(class_of(class) == class && class_of(code) == class && class_of(second) == class, "classes of added codes");
  MPI_Error_string(code, text, &length);
  CHECK(length == 0 && text[0] == 0, "the string of an added code begins as '%s'", text);
  MPI_Add_error_string(class, "a class of ours");
  MPI_Add_error_string(code, "a code of ours");
  MPI_Error_string(code, text, &length);
  CHECK(strcmp(text, "a code of ours") == 0 && length == 14, "'%s' of length %d", text, length);
  MPI_Error_string(class, text, &length);
  CHECK(strcmp(text, "a class of ours") == 0, "'%s'", text);
  MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_LASTUSEDCODE, &last, &flag);
  CHECK(flag && *last >= class, "MPI_LASTUSEDCODE is %d", flag ? *last : 0);
  MPI_Comm_create_errhandler(handler, &mine);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, mine);
  MPI_Errhandler_free(&mine);
  calls = 0;
  got = MPI_Comm_call_errhandler(MPI_COMM_SELF, code);
  CHECK(got == MPI_SUCCESS && calls == 1 && seen_class == class && seen_comm == MPI_COMM_SELF, "call_errhandler");
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  CHECK(MPI_Comm_call_errhandler(MPI_COMM_SELF, code) == MPI_SUCCESS, "call_errhandler with MPI_ERRORS_RETURN");
  if (!on_margay()) return;  // MPICH accepts any code
  CHECK(*last == second, "MPI_LASTUSEDCODE is %d, the last code %d", *last, second);
  CHECK(class_of(MPI_Add_error_string(MPI_ERR_TAG, "no")) == MPI_ERR_ARG, "a predefined string was changed");
  CHECK(class_of(MPI_Add_error_code(second, &got)) == MPI_ERR_ARG, "a code of a code");
  CHECK(class_of(MPIX_Delete_error_class(class)) == MPI_ERR_ARG, "a class with codes was deleted");
  CHECK(MPIX_Delete_error_code(code) == MPI_SUCCESS && MPIX_Delete_error_code(second) == MPI_SUCCESS, "codes deleted");
  CHECK(class_of(MPIX_Delete_error_code(code)) == MPI_ERR_ARG, "a code deleted twice");
  CHECK(MPIX_Delete_error_class(class) == MPI_SUCCESS, "a class deleted");
}

// Tests the longest string, and the removal of a code as a class and of a class as a code. MPICH 4.0.2 does not check.
static void strings_and_kinds(void) {
  int class, code, length = -1;
  char text[MPI_MAX_ERROR_STRING], longest[MPI_MAX_ERROR_STRING + 1];
  MPI_Add_error_class(&class);
  MPI_Add_error_code(class, &code);
  memset(longest, 'e', sizeof longest);
  longest[MPI_MAX_ERROR_STRING] = 0;
  CHECK(class_of(MPI_Add_error_string(code, longest)) == MPI_ERR_ARG, "a string without room for its end");
  longest[MPI_MAX_ERROR_STRING - 1] = 0;
  CHECK(MPI_Add_error_string(code, longest) == MPI_SUCCESS, "the longest string");
  MPI_Error_string(code, text, &length);
  CHECK(length == MPI_MAX_ERROR_STRING - 1 && strcmp(text, longest) == 0, "it has length %d", length);
  CHECK(MPIX_Delete_error_string(code) == MPI_SUCCESS, "a string deleted");
  MPI_Error_string(code, text, &length);
  CHECK(length == 0, "the deleted string is '%s'", text);
  CHECK(class_of(MPIX_Delete_error_string(MPI_ERR_TAG)) == MPI_ERR_ARG, "a predefined string deleted");
  CHECK(class_of(MPIX_Delete_error_class(code)) == MPI_ERR_ARG, "a code deleted as a class");
  CHECK(MPIX_Delete_error_code(code) == MPI_SUCCESS, "the code deleted");
  CHECK(class_of(MPIX_Delete_error_code(class)) == MPI_ERR_ARG, "a class deleted as a code");
  CHECK(MPIX_Delete_error_class(class) == MPI_SUCCESS, "the class deleted");
}

static void wrong(void) {
  MPI_Errhandler null = MPI_ERRHANDLER_NULL, made = MPI_ERRHANDLER_NULL;
  CHECK(class_of(MPI_Comm_set_errhandler(MPI_COMM_WORLD, null)) == MPI_ERR_ARG, "the null handler was set");
  CHECK(class_of(MPI_Comm_set_errhandler(MPI_COMM_NULL, MPI_ERRORS_RETURN)) == MPI_ERR_COMM, "on no communicator");
  CHECK(class_of(MPI_Comm_create_errhandler(NULL, &made)) == MPI_ERR_ARG, "no function");
  CHECK(class_of(MPI_Errhandler_free(&null)) == MPI_ERR_ARG, "the null handler was freed");
  CHECK(class_of(MPI_Comm_call_errhandler(MPI_COMM_NULL, MPI_ERR_TAG)) == MPI_ERR_COMM, "call on no communicator");
  MPI_Comm_create_errhandler(handler, &made);
  MPI_Errhandler dead = made;
  MPI_Errhandler_free(&made);
  if (!on_margay()) return;
  CHECK(class_of(MPI_Comm_set_errhandler(MPI_COMM_WORLD, dead)) == MPI_ERR_ARG, "a freed handler was set");
  CHECK(class_of(MPI_Errhandler_free(&dead)) == MPI_ERR_ARG, "a handler was freed twice");
  CHECK(class_of(MPI_Init(NULL, NULL)) == MPI_ERR_OTHER, "a second MPI_Init");
}

int main(int argc, char** argv) {
  // With the threads' lock: the library must not hold it while the program's functions run, as MPICH does.
  int provided = -1;
  MPI_Init_thread(&argc, &argv, on_margay() ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &provided);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  attached();
  calling_mpi();
  changing_the_code();
  none_of_a_communicator();
  codes_of_the_program();
  if (on_margay()) strings_and_kinds();
  wrong();
  return suite_end("error_handlers_user");
}
