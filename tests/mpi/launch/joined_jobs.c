// Jobs that are joined to one communicator, and divided again: `joined_jobs NUMBER JOBS FILE MODE`. Job 0 opens a port,
// writes its name to FILE.1, and the jobs 1, 2, ... connect one after the other, each with all that are joined already;
// job N reads the name from FILE.N.
//
// Modes: `halves`: groups that have members of each job meet by a port and by a third communicator. `session`: without
// MPI_Init, in one session after the other. `cut`: rank 0 of job 0 makes the file FILE.joined, and all members wait for
// messages that never arrive, until the connection is lost.
#include "../check.h"
#include "port_file.h"

enum { kTag = 5 };

// The sum of the ranks, and a message from each rank to each one.
static void check_works(MPI_Comm comm) {
  int me = -1, size = 0, sum = 0;
  MPI_Comm_rank(comm, &me);
  MPI_Comm_size(comm, &size);
  MPI_Allreduce(&me, &sum, 1, MPI_INT, MPI_SUM, comm);
  CHECK(sum == size * (size - 1) / 2, "the sum of ranks is %d", sum);
  for (int other = 0; other < size; ++other) {
    int theirs = -1;
    MPI_Sendrecv(&me, 1, MPI_INT, other, kTag, &theirs, 1, MPI_INT, other, kTag, comm, MPI_STATUS_IGNORE);
    CHECK(theirs == other, "%d arrived from %d", theirs, other);
  }
}

// The group of an intercommunicator that each side sees of the other one, and its merged communicator.
static void check_inter(MPI_Comm inter, int color, int members) {
  int others = 0, theirs = -1, size = 0;
  MPI_Comm_remote_size(inter, &others);
  for (int other = 0; other < others; ++other) {
    MPI_Sendrecv(&color, 1, MPI_INT, other, kTag, &theirs, 1, MPI_INT, other, kTag, inter, MPI_STATUS_IGNORE);
    CHECK(theirs == 1 - color, "member %d of the other group is of group %d", other, theirs);
  }
  int word = color == 0 ? 77 : -1, root = MPI_PROC_NULL;
  int me = -1;
  MPI_Comm_rank(inter, &me);
  if (color == 0 && me == 0) root = MPI_ROOT;
  MPI_Bcast(&word, 1, MPI_INT, color == 0 ? root : 0, inter);
  CHECK(word == 77, "%d was broadcast", word);
  MPI_Comm all, copy;
  MPI_Intercomm_merge(inter, color, &all);
  MPI_Comm_size(all, &size);
  CHECK(size == members, "%d members in place of %d", size, members);
  check_works(all);
  MPI_Comm_dup(all, &copy);
  check_works(copy);
  MPI_Comm_free(&copy);
  MPI_Comm_free(&all);
}

static void offer_port(const char* file, int number, const char* port) {
  char name[4096];
  snprintf(name, sizeof name, "%s.%d", file, number);
  write_port(name, port);
}

// All jobs joined, in the order of their numbers. `local`: this job's members.
static MPI_Comm join_all(MPI_Comm local, int number, int jobs, const char* file, char* port) {
  int me = -1;
  MPI_Comm_rank(local, &me);
  MPI_Comm joined = local;
  if (number == 0 && me == 0) {
    CHECK(MPI_Open_port(MPI_INFO_NULL, port) == MPI_SUCCESS, "no port");
    offer_port(file, 1, port);
  }
  for (int next = number == 0 ? 1 : number; next < jobs; ++next) {
    MPI_Comm inter, all;
    if (next == number) {
      char name[4096];
      snprintf(name, sizeof name, "%s.%d", file, number);
      if (me == 0) read_port(name, port);
      MPI_Comm_connect(port, MPI_INFO_NULL, 0, joined, &inter);
    } else {
      // Only the root, job 0's first member, has the port.
      MPI_Comm_accept(port, MPI_INFO_NULL, 0, joined, &inter);
    }
    MPI_Intercomm_merge(inter, next == number, &all);
    MPI_Comm_free(&inter);
    if (joined != local) MPI_Comm_free(&joined);
    joined = all;
    // A later job calls when the ones before it are joined.
    int rank = -1;
    MPI_Comm_rank(joined, &rank);
    if (rank == 0 && next + 1 < jobs) offer_port(file, next + 1, port);
  }
  return joined;
}

// The members are divided by `color`; each group then has processes of several jobs, and each job processes in both
// groups. `last`: the last members are the roots and leaders, otherwise the first ones.
static void check_halves(MPI_Comm all, int color, int last) {
  int me = -1, size = 0, half_size = 0;
  MPI_Comm half, inter;
  MPI_Comm_rank(all, &me);
  MPI_Comm_size(all, &size);
  MPI_Comm_split(all, color, 0, &half);
  MPI_Comm_size(half, &half_size);
  const int root = last ? half_size - 1 : 0;
  int half_me = -1, leads = 0;
  MPI_Comm_rank(half, &half_me);
  // The leaders as ranks of `all`.
  int mine[2] = {-1, -1}, leaders[2];
  leads = half_me == root;
  if (leads) mine[color] = me;
  MPI_Allreduce(mine, leaders, 2, MPI_INT, MPI_MAX, all);
  char port[MPI_MAX_PORT_NAME] = "";
  if (leads && color == 0) MPI_Open_port(MPI_INFO_NULL, port);
  MPI_Bcast(port, MPI_MAX_PORT_NAME, MPI_CHAR, leaders[0], all);
  if (color == 0) MPI_Comm_accept(port, MPI_INFO_NULL, root, half, &inter);
  if (color == 1) MPI_Comm_connect(port, MPI_INFO_NULL, root, half, &inter);
  check_inter(inter, color, size);
  MPI_Comm_disconnect(&inter);
  if (leads && color == 0) MPI_Close_port(port);
  MPI_Intercomm_create(half, root, all, leaders[1 - color], kTag, &inter);
  check_inter(inter, color, size);
  MPI_Comm_free(&inter);
  MPI_Group groups[2];
  int ranks = 0;
  int* members = malloc(sizeof(int) * (size_t)size);
  int* colors = malloc(sizeof(int) * (size_t)size);
  MPI_Group whole;
  MPI_Comm_group(all, &whole);
  MPI_Allgather(&color, 1, MPI_INT, colors, 1, MPI_INT, all);
  for (int each = 0; each < 2; ++each) {
    ranks = 0;
    for (int i = 0; i < size; ++i) {
      if (colors[i] == each) members[ranks++] = i;
    }
    MPI_Group_incl(whole, ranks, members, &groups[each]);
  }
  MPI_Intercomm_create_from_groups(groups[color], root, groups[1 - color], last ? size - half_size - 1 : 0, "halves",
                                   MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &inter);
  check_inter(inter, color, size);
  MPI_Comm_free(&inter);
  MPI_Group_free(&groups[0]);
  MPI_Group_free(&groups[1]);
  MPI_Group_free(&whole);
  free(members);
  free(colors);
  MPI_Comm_free(&half);
}

// A group of processes of all jobs makes a communicator of its own, without a parent.
static void check_from_group(MPI_Comm all) {
  MPI_Group group;
  MPI_Comm made;
  int result = -1;
  MPI_Comm_group(all, &group);
  MPI_Comm_create_group(all, group, kTag, &made);
  check_works(made);
  MPI_Comm_compare(all, made, &result);
  CHECK(result == MPI_CONGRUENT, "the communicators compare as %d", result);
  MPI_Comm_free(&made);
  MPI_Comm_create_from_group(group, "all jobs", MPI_INFO_NULL, MPI_ERRORS_RETURN, &made);
  CHECK(made != MPI_COMM_NULL, "no communicator from a group of several jobs");
  if (made != MPI_COMM_NULL) {
    check_works(made);
    MPI_Comm_free(&made);
  }
  MPI_Group_free(&group);
}

static void run_halves(int number, int jobs, const char* file) {
  char port[MPI_MAX_PORT_NAME] = "";
  MPI_Comm all = join_all(MPI_COMM_WORLD, number, jobs, file, port);
  check_works(all);
  int me = -1, size = 0;
  MPI_Comm_rank(all, &me);
  MPI_Comm_size(all, &size);
  check_halves(all, me % 2, 0);
  check_halves(all, (me + 1) % 2, 1);
  check_halves(all, me != size - 1, 0);
  check_from_group(all);
  MPI_Comm_disconnect(&all);
  if (port[0] != 0 && number == 0) MPI_Close_port(port);
}

// Two sessions, one after the other, each with connections of its own.
static void run_sessions(int number, int jobs, const char* file) {
  for (int round = 0; round < 2; ++round) {
    MPI_Session session;
    MPI_Group group;
    MPI_Comm local;
    char port[MPI_MAX_PORT_NAME] = "", name[4096];
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
    MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
    MPI_Comm_create_from_group(group, "joined_jobs", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &local);
    MPI_Group_free(&group);
    snprintf(name, sizeof name, "%s.session%d", file, round);
    MPI_Comm all = join_all(local, number, jobs, name, port);
    check_works(all);
    int me = -1;
    MPI_Comm_rank(all, &me);
    check_halves(all, me % 2, 0);
    check_from_group(all);
    MPI_Comm_disconnect(&all);
    int failures = 0;
    MPI_Reduce(&suite_failures, &failures, 1, MPI_INT, MPI_SUM, 0, local);
    MPI_Comm_rank(local, &me);
    if (me == 0) printf("job %d: session %d, %d failures\n", number, round, failures);
    MPI_Comm_free(&local);
    MPI_Session_finalize(&session);
  }
}

// Every member waits for a process of the other job. Prints the error once for each job.
static void run_cut(int number, int jobs, const char* file) {
  char port[MPI_MAX_PORT_NAME] = "", text[MPI_MAX_ERROR_STRING];
  MPI_Comm all = join_all(MPI_COMM_WORLD, number, jobs, file, port);
  check_works(all);
  // No member needs a message of another one from here on.
  int sum = 0, one = 1;
  MPI_Reduce(&one, &sum, 1, MPI_INT, MPI_SUM, 0, all);
  int me = -1, size = 0, word = 0, error_class = 0, length = 0;
  MPI_Comm_rank(all, &me);
  MPI_Comm_size(all, &size);
  MPI_Comm_set_errhandler(all, MPI_ERRORS_RETURN);
  if (me == 0) {
    char name[4096];
    snprintf(name, sizeof name, "%s.joined", file);
    write_port(name, port);
  }
  const int code = MPI_Recv(&word, 1, MPI_INT, number == 0 ? size - 1 : 0, kTag, all, MPI_STATUS_IGNORE);
  MPI_Error_class(code, &error_class);
  MPI_Error_string(code, text, &length);
  CHECK(error_class == MPIX_ERR_PROC_FAILED, "%s", text);
  MPI_Barrier(MPI_COMM_WORLD);
  if (world_rank() == 0) printf("job %d: lost: %s\n", number, text);
  MPI_Comm_free(&all);
}

int main(int argc, char** argv) {
  if (argc < 5) return 2;
  const int number = atoi(argv[1]), jobs = atoi(argv[2]);
  const char* file = argv[3];
  if (has_option(argc, argv, "session")) {
    run_sessions(number, jobs, file);
    return suite_failures != 0;
  }
  MPI_Init(&argc, &argv);
  if (has_option(argc, argv, "halves")) run_halves(number, jobs, file);
  if (has_option(argc, argv, "cut")) run_cut(number, jobs, file);
  int failures = 0;
  MPI_Allreduce(&suite_failures, &failures, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (world_rank() == 0) printf("job %d: %d failures\n", number, failures);
  MPI_Finalize();
  return failures != 0;
}
