// ranks: 1 2 3 4 8
// reference: 2
// timeout: 30
// Tests of sessions (MPI 4.0, 11.3): before, beside and after MPI_Init; process sets, communicators created from groups
// only, error handlers, and the separation of the sessions' communicators.
#include <sys/wait.h>

#include "check.h"

static int handler_calls = 0;
static MPI_Session handler_session;

static void count_call(MPI_Session* session, int* code, ...) {
  ++handler_calls;
  handler_session = *session;
  CHECK(*code != MPI_SUCCESS, "the handler got MPI_SUCCESS");
}

static MPI_Session session_of(MPI_Errhandler handler) {
  MPI_Session session = MPI_SESSION_NULL;
  const int code = MPI_Session_init(MPI_INFO_NULL, handler, &session);
  CHECK(code == MPI_SUCCESS && session != MPI_SESSION_NULL, "MPI_Session_init: %d", code);
  return session;
}

static MPI_Comm comm_of(MPI_Session session, const char* set, const char* tag) {
  MPI_Group group = MPI_GROUP_NULL;
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Group_from_session_pset(session, set, &group);
  const int code = MPI_Comm_create_from_group(group, tag, MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm);
  CHECK(code == MPI_SUCCESS && comm != MPI_COMM_NULL, "MPI_Comm_create_from_group: %d", code);
  MPI_Group_free(&group);
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  MPI_Comm_get_errhandler(comm, &handler);
  CHECK(handler == MPI_ERRORS_RETURN, "the communicator's error handler is %x", (unsigned)handler);
  return comm;
}

// Computes the sum of all members' ranks; passes a message around the ring.
static void check_works(MPI_Comm comm, int base) {
  int rank = -1, size = 0, sum = 0, got = -1;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm);
  CHECK(sum == size * (size - 1) / 2, "sum %d of %d ranks", sum, size);
  const int left = (rank + size - 1) % size, mine = base + rank;
  MPI_Sendrecv(&mine, 1, MPI_INT, (rank + 1) % size, 3, &got, 1, MPI_INT, left, 3, comm, MPI_STATUS_IGNORE);
  CHECK(got == base + left, "got %d from %d", got, left);
}

static void check_flags(int initialized, int finalized) {
  int flag = -1;
  MPI_Initialized(&flag);
  CHECK(flag == initialized, "MPI_Initialized says %d", flag);
  MPI_Finalized(&flag);
  CHECK(flag == finalized, "MPI_Finalized says %d", flag);
}

static void check_sets(MPI_Session session) {
  int sets = 0, world = 0, self = 0;
  MPI_Session_get_num_psets(session, MPI_INFO_NULL, &sets);
  for (int i = 0; i < sets; ++i) {
    char name[MPI_MAX_PSET_NAME_LEN], cut[4] = "???";
    int length = 0;
    MPI_Session_get_nth_pset(session, MPI_INFO_NULL, i, &length, NULL);
    CHECK(length > 5 && length <= MPI_MAX_PSET_NAME_LEN, "set %d: length %d", i, length);
    MPI_Session_get_nth_pset(session, MPI_INFO_NULL, i, &length, name);
    CHECK((int)strlen(name) + 1 == length, "'%s' with length %d", name, length);
    world += strcmp(name, "mpi://WORLD") == 0;
    self += strcmp(name, "mpi://SELF") == 0;
    length = 4;
    MPI_Session_get_nth_pset(session, MPI_INFO_NULL, i, &length, cut);
    CHECK(strcmp(cut, "mpi") == 0, "cut to '%s'", cut);
    MPI_Info info = MPI_INFO_NULL;
    MPI_Session_get_pset_info(session, name, &info);
    char value[MPI_MAX_INFO_VAL + 1] = "";
    int found = 0, size = -1, width = sizeof value;
    MPI_Info_get_string(info, "mpi_size", &width, value, &found);
    MPI_Info_free(&info);
    MPI_Group group = MPI_GROUP_NULL;
    MPI_Group_from_session_pset(session, name, &group);
    MPI_Group_size(group, &size);
    MPI_Group_free(&group);
    CHECK(found && atoi(value) == size, "%s: mpi_size '%s', %d members", name, value, size);
  }
  CHECK(world == 1 && self == 1, "%d sets: %d world, %d self", sets, world, self);
  MPI_Info used = MPI_INFO_NULL;
  char level[64] = "";
  int found = 0, width = sizeof level;
  MPI_Session_get_info(session, &used);
  MPI_Info_get_string(used, "thread_level", &width, level, &found);
  CHECK(found && strncmp(level, "MPI_THREAD_", 11) == 0, "thread_level '%s'", level);
  MPI_Info_free(&used);
}

// Requests a thread level; the first session of a process can have the lowest one.
static void check_single(void) {
  MPI_Info asked = MPI_INFO_NULL, used = MPI_INFO_NULL;
  MPI_Session session = MPI_SESSION_NULL;
  char level[64] = "";
  int found = 0, width = sizeof level;
  MPI_Info_create(&asked);
  MPI_Info_set(asked, "thread_level", "MPI_THREAD_SINGLE");
  MPI_Session_init(asked, MPI_ERRORS_RETURN, &session);
  MPI_Info_free(&asked);
  MPI_Session_get_info(session, &used);
  MPI_Info_get_string(used, "thread_level", &width, level, &found);
  CHECK(found && strcmp(level, "MPI_THREAD_SINGLE") == 0, "thread_level '%s'", level);
  MPI_Info_free(&used);
  MPI_Comm comm = comm_of(session, "mpi://WORLD", "single");
  check_works(comm, 900);
  MPI_Comm_free(&comm);
  MPI_Session_finalize(&session);
}

// MPICH 4.0 raises errors of groups from process sets on another object than the session.
static void check_errors(MPI_Session session, MPI_Errhandler handler) {
  const int all = on_margay();
  MPI_Group group = MPI_GROUP_EMPTY;
  MPI_Errhandler current = MPI_ERRHANDLER_NULL;
  MPI_Session_set_errhandler(session, handler);
  if (all) {
    const int code = MPI_Group_from_session_pset(session, "mpi://NOBODY", &group);
    CHECK(code != MPI_SUCCESS && class_of(code) == MPI_ERR_ARG, "an unknown set: class %d", class_of(code));
    CHECK(group == MPI_GROUP_NULL, "an unknown set: a group is returned");
    CHECK(handler_calls == 1 && handler_session == session, "%d calls of the handler", handler_calls);
  }
  MPI_Session_get_errhandler(session, &current);
  CHECK(current == handler, "another handler is returned");
  MPI_Errhandler_free(&current);
  const int code = MPI_Session_call_errhandler(session, MPI_ERR_OTHER);
  CHECK(code == MPI_SUCCESS && handler_calls == 1 + all && handler_session == session, "%d calls of the handler",
        handler_calls);
  MPI_Session_set_errhandler(session, MPI_ERRORS_RETURN);
  if (all) {
    const int wrong = MPI_Session_get_nth_pset(session, MPI_INFO_NULL, 77, &(int){0}, NULL);
    CHECK(class_of(wrong) == MPI_ERR_ARG, "set 77: class %d", class_of(wrong));
    CHECK(handler_calls == 2, "a handler that was replaced is called");
    MPI_Session_get_errhandler(session, &current);
    CHECK(current == MPI_ERRORS_RETURN, "the handler is %x", (unsigned)current);
  }
}

// The odd and the even processes each create a communicator, at the same time with different tags; then an
// intercommunicator joins both.
static void check_groups(MPI_Session session) {
  MPI_Group all = MPI_GROUP_NULL, part[2];
  MPI_Group_from_session_pset(session, "mpi://WORLD", &all);
  int rank = -1, size = 0;
  MPI_Group_rank(all, &rank);
  MPI_Group_size(all, &size);
  for (int odd = 0; odd < 2; ++odd) {
    int range[1][3] = {{odd, size - 1, 2}};
    if (odd < size)
      MPI_Group_range_incl(all, 1, range, &part[odd]);
    else
      part[odd] = MPI_GROUP_EMPTY;
  }
  const int mine = rank % 2;
  MPI_Comm comm = MPI_COMM_NULL, inter = MPI_COMM_NULL, merged = MPI_COMM_NULL;
  MPI_Comm_create_from_group(part[mine], mine ? "odd" : "even", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm);
  check_works(comm, 100 * mine);
  MPI_Comm_free(&comm);
  int running = 0, over = 0;
  MPI_Initialized(&running);
  MPI_Finalized(&over);
  // MPICH 4.0 needs its world for this.
  if (size > 1 && (on_margay() || (running && !over))) {
    MPI_Intercomm_create_from_groups(part[mine], 0, part[1 - mine], 0, "faces", MPI_INFO_NULL, MPI_ERRORS_RETURN,
                                     &inter);
    int remote = 0;
    MPI_Comm_remote_size(inter, &remote);
    CHECK(remote == (mine ? (size + 1) / 2 : size / 2), "%d over there", remote);
    MPI_Intercomm_merge(inter, mine, &merged);
    check_works(merged, 500);
    MPI_Comm_free(&merged);
    MPI_Comm_free(&inter);
  }
  if (size > 1) MPI_Group_free(&part[1]);
  MPI_Group_free(&part[0]);
  MPI_Group_free(&all);
}

// Groups from which no communicator can be created: empty, without this process, or with this process on both sides.
static void check_no_groups(MPI_Session session) {
  MPI_Group all = MPI_GROUP_NULL, self = MPI_GROUP_NULL, other = MPI_GROUP_NULL;
  MPI_Comm comm = MPI_COMM_SELF;
  int size = 0, rank = -1;
  int code = MPI_Comm_create_from_group(MPI_GROUP_EMPTY, "nobody", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm);
  CHECK(code == MPI_SUCCESS && comm == MPI_COMM_NULL, "of an empty group: %d", code);
  MPI_Group_from_session_pset(session, "mpi://SELF", &self);
  code = MPI_Intercomm_create_from_groups(self, 0, self, 0, "both", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm);
  CHECK(class_of(code) == MPI_ERR_GROUP, "on both sides: class %d", class_of(code));
  MPI_Group_from_session_pset(session, "mpi://WORLD", &all);
  MPI_Group_size(all, &size);
  MPI_Group_rank(all, &rank);
  if (size > 1) {
    const int next = (rank + 1) % size;
    MPI_Group_incl(all, 1, &next, &other);
    code = MPI_Comm_create_from_group(other, "others", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm);
    CHECK(class_of(code) == MPI_ERR_GROUP, "of others: class %d", class_of(code));
    MPI_Group_free(&other);
  }
  MPI_Group_free(&all);
  MPI_Group_free(&self);
}

// The longest tag string, and hints for a communicator created from a group.
static void check_long_text(MPI_Session session) {
  char text[MPI_MAX_STRINGTAG_LEN];
  memset(text, 't', sizeof text);
  text[sizeof text - 1] = 0;
  MPI_Group group = MPI_GROUP_NULL;
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Info info, used;
  MPI_Info_create(&info);
  MPI_Info_set(info, "mpi_assert_no_any_tag", "true");
  MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
  const int code = MPI_Comm_create_from_group(group, text, info, MPI_ERRORS_RETURN, &comm);
  CHECK(code == MPI_SUCCESS && comm != MPI_COMM_NULL, "a text of %zu bytes: %d", sizeof text - 1, code);
  check_works(comm, 600);
  char value[8] = "";
  int found = 0, width = sizeof value;
  MPI_Comm_get_info(comm, &used);
  MPI_Info_get_string(used, "mpi_assert_no_any_tag", &width, value, &found);
  if (on_margay()) CHECK(found && strcmp(value, "true") == 0, "the hint is '%s'", value);
  MPI_Info_free(&used);
  MPI_Info_free(&info);
  MPI_Comm_free(&comm);
  MPI_Group_free(&group);
}

// Two sessions at once, of which one ends while a message of the other is in transit.
static void check_two(void) {
  MPI_Session first = session_of(MPI_ERRORS_RETURN), second = session_of(MPI_ERRORS_RETURN);
  CHECK(first != second, "two sessions have one handle");
  MPI_Comm one = comm_of(first, "mpi://WORLD", "one"), other = comm_of(second, "mpi://WORLD", "other");
  MPI_Comm self = comm_of(second, "mpi://SELF", "self"), twin = MPI_COMM_NULL;
  int rank = -1, size = 0, got = -1;
  MPI_Comm_rank(one, &rank);
  MPI_Comm_size(one, &size);
  MPI_Request request;
  MPI_Irecv(&got, 1, MPI_INT, (rank + 1) % size, 9, one, &request);
  check_works(other, 200);
  check_works(self, 300);
  MPI_Comm_dup(other, &twin);
  check_works(twin, 400);
  MPI_Comm_free(&twin);
  MPI_Comm_free(&self);
  MPI_Comm_free(&other);
  MPI_Session_finalize(&second);
  CHECK(second == MPI_SESSION_NULL, "the handle is not null");
  MPI_Send(&rank, 1, MPI_INT, (rank + size - 1) % size, 9, one);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  CHECK(got == (rank + 1) % size, "got %d", got);
  MPI_Comm_free(&one);
  MPI_Session_finalize(&first);
}

// A session's end frees the objects that it leaves behind, although the world continues.
static void check_gone(void) {
  MPI_Session session = session_of(MPI_ERRORS_RETURN);
  const MPI_Comm comm = comm_of(session, "mpi://SELF", "gone");
  int rank = -1;
  MPI_Session_finalize(&session);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  const int class = class_of(MPI_Comm_rank(comm, &rank));
  CHECK(class == MPI_ERR_COMM && rank == -1, "a communicator without its session: class %d", class);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

static int deleted = 0;
static int count_deleted(MPI_Comm comm, int keyval, void* value, void* extra) {
  (void)comm;
  (void)keyval;
  (void)value;
  (void)extra;
  ++deleted;
  return MPI_SUCCESS;
}

// A child process does not belong to the job, so its end has no effect on it.
static void child_ends(void) {
  int status = -1;
  fflush(stdout);
  const pid_t child = fork();
  if (child == 0) exit(0);
  waitpid(child, &status, 0);
  CHECK(child > 0 && status == 0, "the child ended with %d", status);
}

// A process without a session and without the world leaves MPI, and may begin it again.
static void check_lives(void) {
  for (int life = 0; life < 3; ++life) {
    MPI_Session session = session_of(MPI_ERRORS_RETURN);
    MPI_Comm comm = comm_of(session, life == 1 ? "mpi://SELF" : "mpi://WORLD", "a life");
    check_works(comm, 1000 * life);
    int key = MPI_KEYVAL_INVALID;
    deleted = 0;
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, count_deleted, &key, NULL);
    MPI_Comm_set_attr(comm, key, NULL);
    MPI_Comm_free_keyval(&key);
    // A message that is never received does not delay the end.
    int nothing = 0;
    MPI_Request request;
    MPI_Irecv(&nothing, 1, MPI_INT, MPI_ANY_SOURCE, 77, comm, &request);
    MPI_Request_free(&request);
    if (life == 2) MPI_Comm_free(&comm);  // otherwise the session's end frees it, and its attributes
    MPI_Session_finalize(&session);
    CHECK(deleted == 1, "life %d: %d attributes were deleted", life, deleted);
    if (life == 1) child_ends();
  }
}

int main(int argc, char** argv) {
  // MPICH 4.0 creates handlers only during a session, and can begin only once.
  const int more = on_margay();
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  if (more) MPI_Session_create_errhandler(&count_call, &handler);
  if (more) {
    check_single();
    // A rejected session leaves no state that would have to end.
    MPI_Session none = MPI_SESSION_NULL;
    const int code = MPI_Session_init((MPI_Info)MPI_COMM_WORLD, MPI_ERRORS_RETURN, &none);
    CHECK(code != MPI_SUCCESS && none == MPI_SESSION_NULL, "a session of no info: %d", code);
  }
  if (more) check_lives();
  // Before the world model.
  MPI_Session session = session_of(more ? handler : MPI_ERRORS_RETURN);
  if (!more) MPI_Session_create_errhandler(&count_call, &handler);
  check_flags(0, 0);
  check_sets(session);
  check_errors(session, handler);
  check_groups(session);
  check_long_text(session);
  if (more) check_no_groups(session);
  check_two();
  check_flags(0, 0);
  // Beside the world model; the session outlives it.
  MPI_Comm comm = comm_of(session, "mpi://WORLD", "margay:sessions");
  MPI_Init(&argc, &argv);
  check_flags(1, 0);
  const int rank = world_rank();
  check_works(MPI_COMM_WORLD, 0);
  check_works(comm, 0);
  check_two();
  if (more) check_gone();
  check_groups(session);
  int equal = MPI_UNEQUAL;
  MPI_Comm_compare(comm, MPI_COMM_WORLD, &equal);
  CHECK(equal == MPI_CONGRUENT, "compared: %d", equal);
  MPI_Finalize();
  check_flags(1, 1);
  check_works(comm, 800);
  MPI_Comm_free(&comm);
  check_groups(session);
  if (!more) MPI_Errhandler_free(&handler);
  comm = comm_of(session, "mpi://WORLD", "last");
  int failures = suite_failures, all = 0;
  MPI_Allreduce(&failures, &all, 1, MPI_INT, MPI_SUM, comm);
  MPI_Comm_free(&comm);
  MPI_Session_finalize(&session);
  if (more) check_lives();
  if (more) MPI_Errhandler_free(&handler);
  all += suite_failures != failures;
  if (rank == 0) printf(all == 0 ? "sessions: no errors\n" : "sessions: %d failed checks\n", all);
  return all != 0;
}
