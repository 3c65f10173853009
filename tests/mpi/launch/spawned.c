// A program that starts others while it runs, or is started: spawned MODE ...
//   start PROGRAM COUNT [KEY=VALUE ...] [-- ARGUMENT ...]   rank 0 spawns, prints the number of children and the codes
//   ports PROGRAM COUNT     the same, after rank 0 has opened as many ports as it can
//   tell, read, folder      what a child does: says its numbers; prints its standard input; prints its folder
//   handler                 prints its initial error handler
//   loop COUNT              COUNT children one after the other, each with a message in each direction
//   many COUNT              COUNT children at once, each with a message to and from each other one
//   first, dies, left       the child ends before its parent; the child is killed; the parent is killed
//   nested DEPTH            each child starts the next one
//   wrong                   wrong arguments
//   stuck                   parent and child wait for each other
#include <dirent.h>
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "error_words.h"

enum { kTag = 3, kPathBytes = 4096, kCodesMost = 64, kLoopBytes = 100000, kFirstChildren = 10, kPagesMost = 80 };

static char* program;

static MPI_Comm parent_of(void) {
  MPI_Comm parent = MPI_COMM_NULL;
  MPI_Comm_get_parent(&parent);
  return parent;
}

static MPI_Comm start_one(char* mode, char* argument) {
  char* arguments[] = {mode, argument, NULL};
  MPI_Comm child = MPI_COMM_NULL;
  MPI_Comm_spawn(program, arguments, 1, MPI_INFO_NULL, 0, MPI_COMM_SELF, &child, MPI_ERRCODES_IGNORE);
  return child;
}

static void start(int argc, char** argv) {
  int rank = 0, at = 4, codes[kCodesMost], remote = 0;
  memset(codes, -1, sizeof codes);
  const int count = atoi(argv[3]);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Info info;
  MPI_Info_create(&info);
  for (; at < argc && strcmp(argv[at], "--") != 0; ++at) {
    char* value = strchr(argv[at], '=');
    *value = '\0';
    MPI_Info_set(info, argv[at], value + 1);
  }
  char** arguments = at < argc ? argv + at + 1 : MPI_ARGV_NULL;
  MPI_Comm children = MPI_COMM_NULL;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  const int error = MPI_Comm_spawn(argv[2], arguments, count, info, 0, MPI_COMM_WORLD, &children, codes);
  MPI_Info_free(&info);
  int class = 0, length = 0;
  MPI_Error_class(error, &class);
  char text[MPI_MAX_ERROR_STRING];
  MPI_Error_string(error, text, &length);
  if (children != MPI_COMM_NULL) MPI_Comm_remote_size(children, &remote);
  printf("rank %d: %s%d children, codes", rank, class == MPI_ERR_SPAWN ? "MPI_ERR_SPAWN, " : "", remote);
  for (int i = 0; i < count; ++i)
    printf(" %s", codes[i] == MPI_SUCCESS ? "started" : codes[i] == MPI_ERR_SPAWN ? "not" : "?");
  printf("\n");
  if (children != MPI_COMM_NULL) MPI_Comm_disconnect(&children);
}

static void open_ports(void) {
  char port[MPI_MAX_PORT_NAME];
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  while (rank == 0 && MPI_Open_port(MPI_INFO_NULL, port) == MPI_SUCCESS) continue;
}

static void handler(void) {
  MPI_Errhandler initial;
  MPI_Comm_get_errhandler(MPI_COMM_WORLD, &initial);
  printf("%s\n", initial == MPI_ERRORS_RETURN ? "errors return" : initial == MPI_ERRORS_ARE_FATAL ? "fatal" : "abort");
}

static void tell(void) {
  int rank = 0, size = 0, parents = 0;
  int *universe = NULL, *appnum = NULL, found = 0;
  MPI_Comm parent = parent_of();
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_remote_size(parent, &parents);
  MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_UNIVERSE_SIZE, &universe, &found);
  MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_APPNUM, &appnum, &found);
  printf("child %d of %d, with %d parents, in a universe of %d, program %d\n", rank, size, parents, *universe, *appnum);
}

static void read_input(void) {
  char bytes[16];
  printf("the input has %zu bytes\n", fread(bytes, 1, sizeof bytes, stdin));
}

static void folder(void) {
  char path[kPathBytes];
  printf("in %s\n", getcwd(path, sizeof path));
}

// The open descriptors of a process, and this one's pages of memory.
static int descriptors_of(int process) {
  char path[64];
  int count = 0;
  snprintf(path, sizeof path, "/proc/%d/fd", process);
  DIR* folder = opendir(path);
  while (folder != NULL && readdir(folder) != NULL) ++count;
  if (folder != NULL) closedir(folder);
  return count;
}
static long resident_pages(void) {
  long all = 0, resident = 0;
  FILE* file = fopen("/proc/self/statm", "r");
  if (file == NULL || fscanf(file, "%ld %ld", &all, &resident) != 2) resident = 0;
  if (file != NULL) fclose(file);
  return resident;
}

// Each child needs three descriptors of the launcher, and some pages while it runs; a leak of one for each shows.
static void loop(int count) {
  int own = 0, launchers = 0;
  long pages = 0;
  char mode[] = "answer", none[] = "";
  static char bytes[kLoopBytes];
  for (int i = 0; i < count; ++i) {
    MPI_Comm child = start_one(mode, none);
    bytes[kLoopBytes - 1] = (char)i;
    MPI_Send(bytes, kLoopBytes, MPI_CHAR, 0, kTag, child);
    MPI_Recv(bytes, kLoopBytes, MPI_CHAR, 0, kTag, child, MPI_STATUS_IGNORE);
    if (bytes[0] != (char)i) printf("child %d answers wrongly\n", i);
    MPI_Comm_disconnect(&child);
    if (i == kFirstChildren) {
      own = descriptors_of(getpid());
      launchers = descriptors_of(getppid());
      pages = resident_pages();
    }
  }
  if (count > 4 * kFirstChildren) {
    if (descriptors_of(getpid()) > own) printf("descriptors leak\n");
    if (descriptors_of(getppid()) > launchers + kFirstChildren) printf("descriptors of the launcher leak\n");
    if (resident_pages() > pages + kPagesMost) printf("%ld pages leak\n", resident_pages() - pages);
  }
  printf("%d children answered\n", count);
}

static void answer(void) {
  static char bytes[kLoopBytes];
  MPI_Comm parent = parent_of();
  MPI_Recv(bytes, kLoopBytes, MPI_CHAR, 0, kTag, parent, MPI_STATUS_IGNORE);
  bytes[0] = bytes[kLoopBytes - 1];
  MPI_Send(bytes, kLoopBytes, MPI_CHAR, 0, kTag, parent);
}

static void many(char* count) {
  char mode[] = "member";
  char* arguments[] = {mode, NULL};
  MPI_Comm children = MPI_COMM_NULL;
  int sum = 0;
  MPI_Comm_spawn(program, arguments, atoi(count), MPI_INFO_NULL, 0, MPI_COMM_SELF, &children, MPI_ERRCODES_IGNORE);
  MPI_Recv(&sum, 1, MPI_INT, 0, kTag, children, MPI_STATUS_IGNORE);
  printf("the children's sum is %d\n", sum);
  MPI_Comm_disconnect(&children);
}

static void member(void) {
  int rank = 0, sum = 0;
  MPI_Comm parent = parent_of();
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) MPI_Send(&sum, 1, MPI_INT, 0, kTag, parent);
  MPI_Comm_disconnect(&parent);
}

static void nested(const char* depth) {
  char mode[] = "nested", next[16];
  snprintf(next, sizeof next, "%d", atoi(depth) - 1);
  printf("depth %s\n", depth);
  MPI_Comm parent = parent_of();
  if (atoi(depth) > 1) {
    MPI_Comm child = start_one(mode, next);
    MPI_Comm_disconnect(&child);
  }
  if (parent != MPI_COMM_NULL) MPI_Comm_disconnect(&parent);
}

static void print_class(const char* what, int error) {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  printf("rank %d: %s: %s\n", rank, what, class_word(error));
}

static int spawn_one(const char* command, char** arguments, int count, MPI_Info info) {
  MPI_Comm made = MPI_COMM_NULL;
  int code = -1;
  const int error = MPI_Comm_spawn(command, arguments, count, info, 0, MPI_COMM_WORLD, &made, &code);
  if (count == 1 && code != MPI_ERR_SPAWN) printf("the code is %d\n", code);
  return error;
}

// Wrong arguments at the root are errors on all ranks.
static void wrong(void) {
  MPI_Comm made = MPI_COMM_NULL;
  MPI_Info info;
  MPI_Info_create(&info);
  const MPI_Info gone = info;
  MPI_Info_free(&info);
  char two_lines[] = "two\nlines";
  char* arguments[] = {two_lines, NULL};
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  print_class("command", spawn_one(NULL, MPI_ARGV_NULL, 1, MPI_INFO_NULL));
  print_class("maxprocs", spawn_one(program, MPI_ARGV_NULL, -1, MPI_INFO_NULL));
  print_class("info", spawn_one(program, MPI_ARGV_NULL, 1, gone));
  print_class("argv", spawn_one(program, arguments, 1, MPI_INFO_NULL));
  print_class("count", MPI_Comm_spawn_multiple(0, NULL, MPI_ARGVS_NULL, NULL, NULL, 0, MPI_COMM_WORLD, &made,
                                               MPI_ERRCODES_IGNORE));
}

// A message that never comes, from the other side.
static void await(MPI_Comm other) {
  int never = 0;
  MPI_Recv(&never, 1, MPI_INT, 0, kTag, other, MPI_STATUS_IGNORE);
}

static void with_child(char* mode) {
  char none[] = "", child_mode[32];
  snprintf(child_mode, sizeof child_mode, "child_%s", mode);
  MPI_Comm child = start_one(child_mode, none);
  if (strcmp(mode, "left") == 0) raise(SIGKILL);
  if (strcmp(mode, "first") == 0) {
    MPI_Comm_disconnect(&child);
    printf("the parent goes on\n");
  } else {
    await(child);
  }
}

static void as_child(const char* mode) {
  MPI_Comm parent = parent_of();
  if (strcmp(mode, "child_dies") == 0) raise(SIGKILL);
  if (strcmp(mode, "child_first") == 0) {
    MPI_Comm_disconnect(&parent);
    printf("the child ends\n");
  } else {
    await(parent);
  }
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  program = argv[0];
  const char* const mode = argv[1];
  if (strcmp(mode, "start") == 0) start(argc, argv);
  if (strcmp(mode, "ports") == 0) {
    open_ports();
    start(argc, argv);
  }
  if (strcmp(mode, "handler") == 0) handler();
  if (strcmp(mode, "tell") == 0) tell();
  if (strcmp(mode, "read") == 0) read_input();
  if (strcmp(mode, "folder") == 0) folder();
  if (strcmp(mode, "loop") == 0) loop(atoi(argv[2]));
  if (strcmp(mode, "answer") == 0) answer();
  if (strcmp(mode, "many") == 0) many(argv[2]);
  if (strcmp(mode, "member") == 0) member();
  if (strcmp(mode, "nested") == 0) nested(argv[2]);
  if (strcmp(mode, "wrong") == 0) wrong();
  if (strncmp(mode, "child_", 6) == 0) as_child(mode);
  for (const char* const* one = (const char* const[]){"first", "dies", "left", "stuck", NULL}; *one != NULL; ++one) {
    if (strcmp(mode, *one) == 0) with_child(argv[1]);
  }
  // Children that did not disconnect from their parents do so here; the parents of `start` disconnect, too.
  MPI_Comm parent = parent_of();
  if (parent != MPI_COMM_NULL) MPI_Comm_disconnect(&parent);
  MPI_Finalize();
  return 0;
}
