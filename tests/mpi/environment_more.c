// Tests of every error class and its string, before MPI_Init as well; of MPI_Alloc_mem, names of communicators,
// inquiries about threads, MPI_Pcontrol and the clock.
// ranks: 1 2
// reference: 2
#include <stdint.h>

#include "check.h"

// All classes of mpi.h except those of the tool interface, which has its own codes.
static const int classes[] = {MPI_SUCCESS,
                              MPI_ERR_BUFFER,
                              MPI_ERR_COUNT,
                              MPI_ERR_TYPE,
                              MPI_ERR_TAG,
                              MPI_ERR_COMM,
                              MPI_ERR_RANK,
                              MPI_ERR_ROOT,
                              MPI_ERR_TRUNCATE,
                              MPI_ERR_GROUP,
                              MPI_ERR_OP,
                              MPI_ERR_REQUEST,
                              MPI_ERR_TOPOLOGY,
                              MPI_ERR_DIMS,
                              MPI_ERR_ARG,
                              MPI_ERR_OTHER,
                              MPI_ERR_UNKNOWN,
                              MPI_ERR_INTERN,
                              MPI_ERR_IN_STATUS,
                              MPI_ERR_PENDING,
                              MPI_ERR_ACCESS,
                              MPI_ERR_AMODE,
                              MPI_ERR_BAD_FILE,
                              MPI_ERR_CONVERSION,
                              MPI_ERR_DUP_DATAREP,
                              MPI_ERR_FILE_EXISTS,
                              MPI_ERR_FILE_IN_USE,
                              MPI_ERR_FILE,
                              MPI_ERR_IO,
                              MPI_ERR_NO_SPACE,
                              MPI_ERR_NO_SUCH_FILE,
                              MPI_ERR_READ_ONLY,
                              MPI_ERR_UNSUPPORTED_DATAREP,
                              MPI_ERR_INFO,
                              MPI_ERR_INFO_KEY,
                              MPI_ERR_INFO_VALUE,
                              MPI_ERR_INFO_NOKEY,
                              MPI_ERR_NAME,
                              MPI_ERR_NO_MEM,
                              MPI_ERR_NOT_SAME,
                              MPI_ERR_PORT,
                              MPI_ERR_QUOTA,
                              MPI_ERR_SERVICE,
                              MPI_ERR_SPAWN,
                              MPI_ERR_UNSUPPORTED_OPERATION,
                              MPI_ERR_WIN,
                              MPI_ERR_BASE,
                              MPI_ERR_LOCKTYPE,
                              MPI_ERR_KEYVAL,
                              MPI_ERR_RMA_CONFLICT,
                              MPI_ERR_RMA_SYNC,
                              MPI_ERR_SIZE,
                              MPI_ERR_DISP,
                              MPI_ERR_ASSERT,
                              MPI_ERR_RMA_RANGE,
                              MPI_ERR_RMA_ATTACH,
                              MPI_ERR_RMA_SHARED,
                              MPI_ERR_RMA_FLAVOR,
                              MPI_ERR_SESSION,
                              MPI_ERR_PROC_ABORTED,
                              MPI_ERR_VALUE_TOO_LARGE};

// The standard's classes have distinct strings, shorter than MPI_MAX_ERROR_STRING; the class of each class is itself.
static void error_classes(void) {
  enum { kClasses = sizeof classes / sizeof *classes };
  static char texts[kClasses][MPI_MAX_ERROR_STRING];
  for (int i = 0; i < kClasses; ++i) {
    int length = -1;
    CHECK(class_of(classes[i]) == classes[i], "class %d is %d", classes[i], class_of(classes[i]));
    CHECK(classes[i] <= MPI_ERR_LASTCODE, "class %d is above MPI_ERR_LASTCODE", classes[i]);
    MPI_Error_string(classes[i], texts[i], &length);
    CHECK(length > 0 && (size_t)length == strlen(texts[i]), "the text of class %d has length %d", classes[i], length);
    if (strcmp(texts[i], "Unknown error class") == 0 && !on_margay()) continue;  // MPICH lacks some strings
    for (int j = 0; j < i; ++j) CHECK(strcmp(texts[i], texts[j]) != 0, "one text, '%s', for two classes", texts[i]);
  }
}

static void memory(void) {
  char *base = NULL, *empty = NULL;
  MPI_Info aligned;
  CHECK(MPI_Alloc_mem(100000, MPI_INFO_NULL, &base) == MPI_SUCCESS && base != NULL, "no memory");
  pattern_fill(base, 100000, 1);
  CHECK(pattern_mismatch(base, 100000, 1) == 100000, "the memory is not whole");
  CHECK(MPI_Free_mem(base) == MPI_SUCCESS, "it cannot be given back");
  CHECK(MPI_Alloc_mem(0, MPI_INFO_NULL, &empty) == MPI_SUCCESS, "no memory of no size");
  CHECK(MPI_Free_mem(empty) == MPI_SUCCESS, "it cannot be given back");
  CHECK(class_of(MPI_Alloc_mem(-1, MPI_INFO_NULL, &base)) == MPI_ERR_ARG, "a negative size");
  CHECK(class_of(MPI_Alloc_mem(1, MPI_INFO_NULL, NULL)) == MPI_ERR_ARG, "nowhere to put the address");
  if (!on_margay()) return;  // MPICH does not check
  MPI_Info_create(&aligned);
  MPI_Info_set(aligned, "mpi_minimum_memory_alignment", "4096");
  MPI_Alloc_mem(10, aligned, &base);
  CHECK((uintptr_t)base % 4096 == 0, "not aligned as asked");
  MPI_Info_free(&aligned);
  MPI_Free_mem(base);
  CHECK(class_of(MPI_Free_mem(base)) == MPI_ERR_BASE, "memory was given back twice");
  CHECK(class_of(MPI_Alloc_mem(INT64_MAX, MPI_INFO_NULL, &base)) == MPI_ERR_NO_MEM, "too much memory");
}

static void names(void) {
  char name[MPI_MAX_OBJECT_NAME + 100];
  int length = -1;
  MPI_Comm comm, copy;
  MPI_Comm_get_name(MPI_COMM_WORLD, name, &length);
  CHECK(strcmp(name, "MPI_COMM_WORLD") == 0 && length == 14, "the world's name is '%s'", name);
  MPI_Comm_get_name(MPI_COMM_SELF, name, &length);
  CHECK(strcmp(name, "MPI_COMM_SELF") == 0, "self's name is '%s'", name);
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_get_name(comm, name, &length);
  CHECK(length == 0 && name[0] == 0, "a new communicator's name is '%s'", name);
  MPI_Comm_set_name(comm, "a name  ");
  MPI_Comm_dup(comm, &copy);
  MPI_Comm_get_name(comm, name, &length);
  CHECK(strcmp(name, "a name  ") == 0 && length == 8, "'%s' of length %d", name, length);
  MPI_Comm_get_name(copy, name, &length);
  CHECK(length == 0, "a duplicate's name is '%s'", name);
  memset(name, 'n', sizeof name);
  name[sizeof name - 1] = 0;
  MPI_Comm_set_name(comm, name);
  MPI_Comm_get_name(comm, name, &length);
  CHECK(length == MPI_MAX_OBJECT_NAME - 1 && strlen(name) == MPI_MAX_OBJECT_NAME - 1, "a long name has %d", length);
  CHECK(class_of(MPI_Comm_set_name(comm, NULL)) == MPI_ERR_ARG, "no name");
  MPI_Comm_free(&copy);
  MPI_Comm_free(&comm);
}

static void questions(void) {
  int provided = -1, flag = -1, length = -1;
  char name[MPI_MAX_PROCESSOR_NAME] = "";
  MPI_Query_thread(&provided);
  CHECK(provided >= MPI_THREAD_FUNNELED && provided <= MPI_THREAD_MULTIPLE, "level %d", provided);
  MPI_Is_thread_main(&flag);
  CHECK(flag == 1, "this is not the main thread: %d", flag);
  MPI_Get_processor_name(name, &length);
  CHECK(length > 0 && (size_t)length == strlen(name), "a processor name of length %d", length);
  CHECK(MPI_Pcontrol(0) == MPI_SUCCESS && MPI_Pcontrol(1) == MPI_SUCCESS && MPI_Pcontrol(2) == MPI_SUCCESS, "pcontrol");
  CHECK(MPI_Pcontrol(77, "more", 3.0) == MPI_SUCCESS, "pcontrol with more arguments");
  const double tick = MPI_Wtick(), before = MPI_Wtime();
  CHECK(tick > 0 && tick < 0.01, "a tick of %g s", tick);
  usleep(2000);
  const double passed = MPI_Wtime() - before;
  CHECK(passed >= 0.002 && passed < 60, "2 ms took %g s", passed);
  CHECK(class_of(MPI_Query_thread(NULL)) == MPI_ERR_ARG, "nowhere to put the level");
  CHECK(class_of(MPI_Get_processor_name(name, NULL)) == MPI_ERR_ARG, "nowhere to put the length");
}

// The interface for several tools at once. Both libraries are built without it: its functions return
// MPI_ERR_UNSUPPORTED_OPERATION. Only MPICH's header declares it.
int qmpi_register_tool_name(const char* name, void (*begin)(int)) __asm__("QMPI_Register_tool_name");
int qmpi_register_tool_storage(int tool, void* storage) __asm__("QMPI_Register_tool_storage");
int qmpi_register_function(int tool, int function, void (*address)(void)) __asm__("QMPI_Register_function");
int qmpi_get_function(int tool, int function, void (**address)(void), int* next) __asm__("QMPI_Get_function");
static void tools(void) {
  CHECK(qmpi_register_tool_name("tool", NULL) == MPI_ERR_UNSUPPORTED_OPERATION, "a tool's name was registered");
  CHECK(qmpi_register_tool_storage(1, NULL) == MPI_ERR_UNSUPPORTED_OPERATION, "a tool's storage was registered");
  CHECK(qmpi_register_function(1, 0, NULL) == MPI_ERR_UNSUPPORTED_OPERATION, "a tool's function was registered");
  CHECK(qmpi_get_function(1, 0, NULL, NULL) == MPI_ERR_UNSUPPORTED_OPERATION, "a tool's function was found");
}

// Ranks of a node have the same processor name, and ranks of different nodes different ones, also on emulated nodes.
static void processor_names(void) {
  const int partner = partner_of(world_rank());
  char mine[MPI_MAX_PROCESSOR_NAME] = "", theirs[MPI_MAX_PROCESSOR_NAME] = "";
  int length = 0, of_node = 0;
  MPI_Comm node;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  MPI_Comm_size(node, &of_node);
  MPI_Comm_free(&node);
  MPI_Get_processor_name(mine, &length);
  if (partner < 0) return;
  MPI_Sendrecv(mine, sizeof mine, MPI_CHAR, partner, 1, theirs, sizeof theirs, MPI_CHAR, partner, 1, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  CHECK((strcmp(mine, theirs) == 0) == (of_node == world_size()), "%s and %s, %d on the node", mine, theirs, of_node);
}

int main(int argc, char** argv) {
  int provided = -1;
  error_classes();
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  CHECK(provided >= MPI_THREAD_FUNNELED, "provided %d", provided);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  error_classes();
  memory();
  names();
  questions();
  processor_names();
  tools();
  return suite_end("environment_more");
}
