// The common part of the generated programs of this folder: the memory to which arguments point, living and freed
// handles, and the check of one wrong call (its error class, its message, and that it changed nothing).
//
// The arguments of a program are the number of its first call, and a file to which it writes the number of the call in
// progress. If a call ends the program, its caller reads that number and starts the program again behind this call.
#include <ctype.h>
#include <fcntl.h>
#include <limits.h>
#include <mpi.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { kSlots = 16, kSlotBytes = 1024, kPattern = 0x5a, kPatience = 3, kLongText = 2000 };

// One slot for each argument. Inputs are put there, outputs must leave the pattern as it is.
typedef union {
  char bytes[kSlotBytes];
  long long align;
} Slot;
static Slot slot[kSlots], before[kSlots];
#define PUT(index, type, at, value) (((type*)slot[index].bytes)[at] = (value))

// A living and a freed object of each kind. On one rank: every communicator has one member.
static MPI_Comm comm, cart, graph, dist, freed_comm, never_comm = (MPI_Comm)0x44000fff;
static MPI_Datatype uncommitted, freed_type, own_type, never_type = (MPI_Datatype)0x4c000fff;
static MPI_Group group, freed_group, never_group = (MPI_Group)0x48000fff;
static MPI_Op own_op, freed_op, never_op = (MPI_Op)0x58000fff;
static MPI_Info info, freed_info, never_info = (MPI_Info)0x5c000fff;
static MPI_Errhandler handler, freed_handler, never_handler = (MPI_Errhandler)0x54000fff;
static MPI_Errhandler session_handler;
static MPI_Session session, freed_session, never_session = (MPI_Session)0x78000fff;
static MPI_Request inactive, freed_request, general, partitioned_send, partitioned_receive,
    never_request = (MPI_Request)0x6c000fff;
static MPI_Message never_message = (MPI_Message)0x6c000ffe;
static int comm_key, type_key, win_key, freed_comm_key, freed_type_key, freed_win_key, own_class;
static MPI_Status status;
static char long_text[kLongText];
static char persistent_buffer[64];

static MPIX_Grequest_class request_class;
static int progress_file, first_call, calls, failures;
// With a third argument: this one call is made under the initial handler, which ends the program.
static int is_fatal;

static void add(void* in, void* inout, int* count, MPI_Datatype* type) {
  (void)type;
  for (int i = 0; i < *count; ++i) ((int*)inout)[i] += ((int*)in)[i];
}
static void add_c(void* in, void* inout, MPI_Count* count, MPI_Datatype* type) {
  (void)type;
  for (MPI_Count i = 0; i < *count; ++i) ((int*)inout)[i] += ((int*)in)[i];
}
static void nothing(MPI_Comm* where, int* code, ...) {
  (void)where;
  (void)code;
}
static void session_nothing(MPI_Session* where, int* code, ...) {
  (void)where;
  (void)code;
}
static void file_nothing(MPI_File* where, int* code, ...) {
  (void)where;
  (void)code;
}
static int query(void* state, MPI_Status* asked) {
  (void)state;
  MPI_Status_set_elements(asked, MPI_BYTE, 0);
  MPI_Status_set_cancelled(asked, 0);
  return MPI_SUCCESS;
}
static int release(void* state) {
  (void)state;
  return MPI_SUCCESS;
}
static int cancel(void* state, int complete) {
  (void)state;
  (void)complete;
  return MPI_SUCCESS;
}

static void make_requests(void) {
  MPI_Recv_init(persistent_buffer, 1, MPI_INT, 0, 3, comm, &inactive);
  MPI_Grequest_start(query, release, cancel, NULL, &general);
#ifndef REFERENCE  // MPICH requires a wait function, and its partitioned communication with MPI_PROC_NULL crashes
  MPIX_Grequest_class_create(query, release, cancel, NULL, NULL, &request_class);
  MPI_Psend_init(persistent_buffer, 2, 1, MPI_INT, MPI_PROC_NULL, 3, comm, MPI_INFO_NULL, &partitioned_send);
  MPI_Start(&partitioned_send);
  MPI_Precv_init(persistent_buffer, 2, 1, MPI_INT, MPI_PROC_NULL, 3, comm, MPI_INFO_NULL, &partitioned_receive);
#endif
  MPI_Request request;
  MPI_Recv_init(persistent_buffer, 1, MPI_INT, 0, 3, comm, &request);
  freed_request = request;
  MPI_Request_free(&request);
}

static void make_communicators(void) {
  const int one = 1, zero = 0;
  MPI_Comm_dup(MPI_COMM_SELF, &comm);
  MPI_Cart_create(comm, 1, &one, &zero, 0, &cart);
  MPI_Graph_create(comm, 1, &one, &zero, 0, &graph);
  MPI_Dist_graph_create_adjacent(comm, 1, &zero, &one, 1, &zero, &one, MPI_INFO_NULL, 0, &dist);
  MPI_Comm made;
  MPI_Comm_dup(MPI_COMM_SELF, &made);
  freed_comm = made;
  MPI_Comm_free(&made);
  MPI_Comm_group(comm, &group);
  MPI_Group other;
  MPI_Group_incl(group, 1, &zero, &other);
  freed_group = other;
  MPI_Group_free(&other);
}

static void make_objects(void) {
  MPI_Type_vector(2, 1, 2, MPI_INT, &uncommitted);
  MPI_Type_contiguous(2, MPI_INT, &own_type);
  MPI_Type_commit(&own_type);
  MPI_Datatype type;
  MPI_Type_contiguous(3, MPI_INT, &type);
  freed_type = type;
  MPI_Type_free(&type);
  MPI_Op_create(add, 1, &own_op);
  MPI_Op op;
  MPI_Op_create(add, 1, &op);
  freed_op = op;
  MPI_Op_free(&op);
  MPI_Info_create(&info);
  MPI_Info_set(info, "key", "value");
  MPI_Info other;
  MPI_Info_create(&other);
  freed_info = other;
  MPI_Info_free(&other);
  MPI_Comm_create_errhandler(nothing, &handler);
  MPI_Errhandler made;
  MPI_Comm_create_errhandler(nothing, &made);
  freed_handler = made;
  MPI_Errhandler_free(&made);
}

static void make_sessions(void) {
  MPI_Session other;
  MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
  MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &other);
  MPI_Session_create_errhandler(session_nothing, &session_handler);
  freed_session = other;
  MPI_Session_finalize(&other);
}

static void make_keys(void) {
  int key;
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &comm_key, NULL);
  MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, MPI_TYPE_NULL_DELETE_FN, &type_key, NULL);
  MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, MPI_WIN_NULL_DELETE_FN, &win_key, NULL);
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &key, NULL);
  freed_comm_key = key;
  MPI_Comm_free_keyval(&key);
  MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, MPI_TYPE_NULL_DELETE_FN, &key, NULL);
  freed_type_key = key;
  MPI_Type_free_keyval(&key);
  MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, MPI_WIN_NULL_DELETE_FN, &key, NULL);
  freed_win_key = key;
  MPI_Win_free_keyval(&key);
  MPI_Add_error_class(&own_class);
}

#include "windows.h"

// The observable state of the living objects; a wrong call does not change it.
enum { kLooks = 20 };
static const char* const look_names[kLooks] = {"the communicator's size",
                                               "the communicator's rank",
                                               "its attribute",
                                               "its name's length",
                                               "the topology of cart",
                                               "the topology of graph",
                                               "the group's size",
                                               "the group's rank",
                                               "own_type's size",
                                               "own_type's extent",
                                               "own_type's name",
                                               "the uncommitted type's size",
                                               "the info object's pairs",
                                               "whether own_op is commutative",
                                               "whether inactive is done",
                                               "the code of own_class",
                                               "the window's memory",
                                               "the window's name's length",
                                               "the window's attribute",
                                               "the window's hints"};
static int looks_at_first[kLooks];

static void look(int* seen) {
  char name[MPI_MAX_OBJECT_NAME];
  void* value;
  MPI_Aint bound, extent;
  MPI_Comm_size(comm, &seen[0]);
  MPI_Comm_rank(comm, &seen[1]);
  MPI_Comm_get_attr(comm, comm_key, &value, &seen[2]);
  MPI_Comm_get_name(comm, name, &seen[3]);
  MPI_Topo_test(cart, &seen[4]);
  MPI_Topo_test(graph, &seen[5]);
  MPI_Group_size(group, &seen[6]);
  MPI_Group_rank(group, &seen[7]);
  MPI_Type_size(own_type, &seen[8]);
  MPI_Type_get_extent(own_type, &bound, &extent);
  seen[9] = (int)extent + 1000 * (int)bound;
  MPI_Type_get_name(own_type, name, &seen[10]);
  MPI_Type_size(uncommitted, &seen[11]);
  MPI_Info_get_nkeys(info, &seen[12]);
  MPI_Op_commutative(own_op, &seen[13]);
  MPI_Request_get_status(inactive, &seen[14], MPI_STATUS_IGNORE);
  MPI_Error_class(own_class, &seen[15]);
  look_at_windows(&seen[16]);
}

static void begin_calls(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  first_call = argc > 1 ? atoi(argv[1]) : 0;
  progress_file = argc > 2 ? open(argv[2], O_WRONLY | O_CREAT, 0600) : -1;
  is_fatal = argc > 3;
  if (!is_fatal) {
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  }
  memset(long_text, 'x', sizeof long_text - 1);
  make_communicators();
  make_requests();
  make_objects();
  make_keys();
  make_sessions();
  make_windows();
  look(looks_at_first);
}

static int end_calls(void) {
  printf("%d calls, %d failures\n", calls, failures);
  fflush(stdout);
  // The living objects are not freed: half of them have been misused.
  _exit(failures != 0);
}

// The number of the next call; 0 when an earlier run made it.
static int next_call(int number) {
  if (number < first_call || (is_fatal && number > first_call)) return 0;
  char text[16];
  const int length = snprintf(text, sizeof text, "%-9d\n", number);
  if (progress_file >= 0 && pwrite(progress_file, text, (size_t)length, 0) != length) exit(3);
  alarm(kPatience);
  ++calls;
  memset(slot, kPattern, sizeof slot);
  return 1;
}

static void arguments_ready(void) {
  memcpy(before, slot, sizeof slot);
}

__attribute__((unused)) static const char* in_decimal(long long value) {
  static char text[32];
  snprintf(text, sizeof text, "%lld", value);
  return text;
}
__attribute__((unused)) static const char* in_hex(unsigned value) {
  static char text[32];
  snprintf(text, sizeof text, "0x%08x", value);
  return text;
}

__attribute__((format(printf, 2, 3))) static void fail(int number, const char* format, ...) {
  char text[2 * MPI_MAX_ERROR_STRING];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  ++failures;
  printf("call %d: %s\n", number, text);
  fflush(stdout);
}

// Whether a character may be part of a name or a number.
static int is_inside(char c) {
  return isalnum((unsigned char)c) || c == '_';
}

// Whether `text` has `word` as a word of its own, not within another name or number: -1 does not contain 1.
static int has_word(const char* text, const char* word) {
  const size_t length = strlen(word);
  for (const char* at = strstr(text, word); at != NULL; at = strstr(at + 1, word)) {
    const char ahead = at == text ? ' ' : at[-1], behind = at[length];
    const int begins = !is_inside(word[0]) || !(is_inside(ahead) || (isdigit((unsigned char)word[0]) && ahead == '-'));
    const int ends = !is_inside(word[length - 1]) || !is_inside(behind);
    if (begins && ends) return 1;
  }
  return 0;
}

// Whether `text` has one of the words in `words`, which '|' separates.
static int has_one(const char* text, const char* part) {
  char copy[256];
  snprintf(copy, sizeof copy, "%s", part);
  for (char* word = strtok(copy, "|"); word != NULL; word = strtok(NULL, "|"))
    if (has_word(text, word)) return 1;
  return 0;
}

// Compares the result of the call with that number with the expected one.
static void judge(int number, int code, int expected, const char* function, const char* argument, const char* value) {
  char text[MPI_MAX_ERROR_STRING] = "";
  int class = -1, length = 0, bad = 0;
  MPI_Error_class(code, &class);
  MPI_Error_string(code, text, &length);
  if (class != expected) {
    fail(number, "class %d, expected %d: \"%s\"", class, expected, text);
    return;
  }
  {
    char head[96];
    snprintf(head, sizeof head, "%s: ", function);
    const char* said = strstr(text, head);
    if (said == NULL) fail(number, "no word of the function: \"%s\"", text);
    if (said != NULL && !has_one(said + strlen(head), argument))
      fail(number, "no word of the argument (%s): \"%s\"", argument, text);
    if (said != NULL && !has_one(said + strlen(head), value))
      fail(number, "no word of the value (%s): \"%s\"", value, text);
  }
  for (int i = 0; i < kSlots && !bad; ++i) bad = memcmp(slot[i].bytes, before[i].bytes, kSlotBytes) != 0 ? i + 1 : 0;
  if (bad) fail(number, "the memory of argument %d was changed", bad);
  int seen[kLooks] = {0};
  look(seen);
  for (int i = 0; i < kLooks; ++i) {
    if (seen[i] == looks_at_first[i]) continue;
    fail(number, "%s was %d and is %d", look_names[i], looks_at_first[i], seen[i]);
    looks_at_first[i] = seen[i];
  }
  printf("said %d %d %s\n", number, class, text);
}
