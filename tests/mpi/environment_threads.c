// Tests with MPI_THREAD_MULTIPLE: error handlers and codes, attributes, info objects, inquiries, conversions and the
// tool interface. Four threads of a rank call each class's functions at once.
// ranks: 2
// reference: none, MPICH counts a key's deletions wrong if its threads meet on a busy machine
// timeout: 60
#include "class_threads.h"

enum { kRounds = 40 };

// The handler runs in the thread whose call failed.
static _Thread_local int errors_seen;

static void note_error(MPI_Comm* comm, int* code, ...) {
  char text[MPI_MAX_ERROR_STRING];
  int length = 0;
  (void)comm;
  MPI_Error_string(*code, text, &length);  // a call inside the handler
  if (class_of(*code) == MPI_ERR_RANK && length > 0) ++errors_seen;
}

static void error_handlers(const struct user* me) {
  errors_seen = 0;
  for (int round = 0; round < kRounds; ++round) {
    MPI_Errhandler handler, now;
    MPI_Comm_create_errhandler(note_error, &handler);
    MPI_Comm_set_errhandler(me->own, handler);
    MPI_Send(&round, 1, MPI_INT, 17 + me->self, 0, me->own);
    MPI_Comm_call_errhandler(me->own, MPI_ERR_RANK);
    MPI_Comm_get_errhandler(me->own, &now);
    EXPECT(now == handler, "another handler");
    MPI_Errhandler_free(&now);
    MPI_Errhandler_free(&handler);
    MPI_Comm_set_errhandler(me->own, MPI_ERRORS_RETURN);
    const int code = MPI_Send(&round, 1, MPI_INT, 17 + me->self, 0, me->own);
    EXPECT(class_of(code) == MPI_ERR_RANK, "class %d", class_of(code));
  }
  EXPECT(errors_seen == 2 * kRounds, "thread %d: the handler saw %d errors", me->self, errors_seen);
}

// Each round adds a class. Half of the rounds, because MPICH 4.0.2 has room for 127 classes.
static void error_codes(const struct user* me) {
  char mine[MPI_MAX_ERROR_STRING], text[MPI_MAX_ERROR_STRING];
  for (int round = 0; round < kRounds / 2; ++round) {
    int class = -1, code = -1, length = 0;
    MPI_Add_error_class(&class);
    MPI_Add_error_code(class, &code);
    snprintf(mine, sizeof mine, "thread %d, round %d", me->self, round);
    MPI_Add_error_string(code, mine);
    MPI_Error_string(code, text, &length);
    EXPECT(strcmp(text, mine) == 0 && class_of(code) == class, "\"%s\" for \"%s\"", text, mine);
    MPI_Error_string(MPI_ERR_TRUNCATE, text, &length);
    EXPECT(length > 0, "no text");
  }
}

static _Thread_local int copied, deleted;

static int copy_value(MPI_Comm comm, int key, void* extra, void* in, void* out, int* flag) {
  (void)comm, (void)key, (void)extra;
  ++copied;
  *(void**)out = in;
  *flag = 1;
  return MPI_SUCCESS;
}
static int delete_value(MPI_Comm comm, int key, void* value, void* extra) {
  (void)comm, (void)key, (void)value, (void)extra;
  ++deleted;
  return MPI_SUCCESS;
}

// On a communicator that all threads use, each thread has its own key; each thread duplicates its own communicator.
static void attributes(const struct user* me) {
  copied = deleted = 0;
  for (int round = 0; round < kRounds; ++round) {
    int key = MPI_KEYVAL_INVALID, type_key = MPI_KEYVAL_INVALID, flag = 0, value = round, *found = NULL;
    MPI_Comm twin;
    MPI_Datatype type;
    MPI_Comm_create_keyval(copy_value, delete_value, &key, NULL);
    MPI_Comm_set_attr(me->shared, key, &value);
    MPI_Comm_set_attr(me->own, key, &value);
    MPI_Comm_get_attr(me->shared, key, &found, &flag);
    EXPECT(flag && found == &value, "no value, or another's");
    MPI_Comm_get_attr(me->shared, MPI_TAG_UB, &found, &flag);
    EXPECT(flag && *found >= 32767, "MPI_TAG_UB");
    MPI_Comm_dup(me->own, &twin);
    MPI_Comm_get_attr(twin, key, &found, &flag);
    EXPECT(flag && found == &value, "no copy");
    MPI_Comm_free(&twin);
    MPI_Comm_delete_attr(me->shared, key);
    MPI_Comm_delete_attr(me->own, key);
    MPI_Comm_free_keyval(&key);
    MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, MPI_TYPE_NULL_DELETE_FN, &type_key, NULL);
    MPI_Type_dup(MPI_DOUBLE, &type);
    MPI_Type_set_attr(type, type_key, &value);
    MPI_Type_get_attr(type, type_key, &found, &flag);
    EXPECT(flag && found == &value, "no value at the type");
    MPI_Type_free(&type);
    MPI_Type_free_keyval(&type_key);
  }
  EXPECT(copied == kRounds && deleted == 3 * kRounds, "thread %d: %d copied, %d deleted", me->self, copied, deleted);
}

static MPI_Info common_info;

static void infos(const struct user* me) {
  char key[MPI_MAX_INFO_KEY + 1], value[64];
  for (int round = 0; round < kRounds; ++round) {
    MPI_Info info, twin, used;
    int keys = -1, flag = 0, length = sizeof value;
    MPI_Info_create(&info);
    snprintf(value, sizeof value, "%d of %d", round, me->self);
    MPI_Info_set(info, "one", value);
    MPI_Info_set(info, "two", "2");
    MPI_Info_dup(info, &twin);
    MPI_Info_delete(info, "two");
    MPI_Info_get_nkeys(info, &keys);
    MPI_Info_get_nthkey(twin, 1, key);
    EXPECT(keys == 1 && strcmp(key, "two") == 0, "%d keys; the second is %s", keys, key);
    char found[64] = "";
    MPI_Info_get(twin, "one", sizeof found - 1, found, &flag);
    EXPECT(flag && strcmp(found, value) == 0, "\"%s\", expected \"%s\"", found, value);
    MPI_Info_get_string(common_info, "common", &length, found, &flag);
    EXPECT(flag && strcmp(found, "to all") == 0, "\"%s\"", found);
    MPI_Info_get(MPI_INFO_ENV, "maxprocs", sizeof found - 1, found, &flag);
    MPI_Comm_set_info(me->own, info);
    MPI_Comm_get_info(me->own, &used);
    MPI_Info_free(&used);
    MPI_Comm_get_info(me->shared, &used);
    MPI_Info_free(&used);
    MPI_Info_free(&twin);
    MPI_Info_free(&info);
  }
}

static void inquiries(const struct user* me) {
  char text[MPI_MAX_LIBRARY_VERSION_STRING];
  for (int round = 0; round < kRounds; ++round) {
    int length = 0, version = 0, subversion = 0, level = -1, is_main = 1, flag = 0;
    void* memory = NULL;
    MPI_Get_processor_name(text, &length);
    EXPECT(length > 0, "no processor name");
    MPI_Get_library_version(text, &length);
    MPI_Get_version(&version, &subversion);
    EXPECT(length > 0 && version >= 3, "version %d.%d", version, subversion);
    MPI_Query_thread(&level);
    MPI_Is_thread_main(&is_main);
    EXPECT(level == MPI_THREAD_MULTIPLE && !is_main, "level %d, thread %d main %d", level, me->self, is_main);
    MPI_Initialized(&flag);
    EXPECT(flag, "not initialized");
    MPI_Finalized(&flag);
    EXPECT(!flag, "finalized");
    const double begin = MPI_Wtime();
    EXPECT(MPI_Wtime() >= begin && MPI_Wtick() > 0, "time goes back");
    MPI_Alloc_mem(1000 + 100 * me->self, MPI_INFO_NULL, &memory);
    memset(memory, me->self, 1000);
    MPI_Free_mem(memory);
    MPI_Pcontrol(round % 3);
  }
}

static void conversions(const struct user* me) {
  for (int round = 0; round < kRounds; ++round) {
    MPI_Status status, back;
    MPI_Fint words[MPI_F_STATUS_SIZE];
    int elements = -1, cancelled = -1;
    memset(&status, 0, sizeof status);
    EXPECT(MPI_Comm_f2c(MPI_Comm_c2f(me->own)) == me->own, "communicator");
    EXPECT(MPI_Type_f2c(MPI_Type_c2f(MPI_INT)) == MPI_INT, "type");
    EXPECT(MPI_Info_f2c(MPI_Info_c2f(common_info)) == common_info, "info");
    EXPECT(MPI_Op_f2c(MPI_Op_c2f(MPI_SUM)) == MPI_SUM, "operation");
    status.MPI_SOURCE = me->self;
    MPI_Status_set_elements(&status, MPI_INT, round);
    MPI_Status_set_cancelled(&status, round % 2);
    MPI_Status_c2f(&status, words);
    MPI_Status_f2c(words, &back);
    MPI_Get_elements(&back, MPI_INT, &elements);
    MPI_Test_cancelled(&back, &cancelled);
    EXPECT(back.MPI_SOURCE == me->self && elements == round && cancelled == round % 2, "source %d, %d elements",
           back.MPI_SOURCE, elements);
  }
}

// Each thread reads all counters in its own session while messages are exchanged.
static void tools(const struct user* me) {
  enum { kHandles = 64 };
  MPI_T_pvar_session session;
  MPI_T_pvar_handle handles[kHandles];
  char name[128], text[4096];
  int provided = -1, number = 0, used = 0, controls = 0, categories = 0;
  MPI_T_init_thread(MPI_THREAD_MULTIPLE, &provided);
  MPI_T_pvar_get_num(&number);
  MPI_T_cvar_get_num(&controls);
  MPI_T_category_get_num(&categories);
  MPI_T_pvar_session_create(&session);
  for (int i = 0; i < number && used < kHandles; ++i) {
    int length = sizeof name, more = sizeof text, class, bind, count, verbosity, readonly, continuous, atomic;
    MPI_Datatype type;
    MPI_T_enum items;
    MPI_T_pvar_get_info(i, name, &length, &verbosity, &class, &type, &items, text, &more, &bind, &readonly, &continuous,
                        &atomic);
    if (bind != MPI_T_BIND_NO_OBJECT || type != MPI_UNSIGNED_LONG_LONG) continue;
    MPI_T_pvar_handle_alloc(session, i, NULL, &handles[used], &count);
    if (!continuous) MPI_T_pvar_start(session, handles[used]);
    ++used;
  }
  for (int round = 0; round < kRounds / 2; ++round) {
    int out = round, in = -1;
    MPI_Sendrecv(&out, 1, MPI_INT, me->other, me->self, &in, 1, MPI_INT, me->other, me->self, me->shared,
                 MPI_STATUS_IGNORE);
    for (int i = 0; i < used; ++i) {
      unsigned long long value = 0;
      EXPECT(MPI_T_pvar_read(session, handles[i], &value) == MPI_SUCCESS, "counter %d cannot be read", i);
    }
    if (controls > 0) {
      MPI_T_cvar_handle control;
      int count = 0;
      MPI_T_cvar_handle_alloc((round + me->self) % controls, NULL, &control, &count);
      MPI_T_cvar_read(control, text);
      MPI_T_cvar_handle_free(&control);
    }
    for (int i = 0; i < categories; ++i) {
      int length = sizeof name, more = sizeof text, c = 0, p = 0, inner = 0;
      MPI_T_category_get_info(i, name, &length, text, &more, &c, &p, &inner);
    }
  }
  MPI_T_pvar_session_free(&session);
  MPI_T_finalize();
}

static void make_common(void) {
  MPI_Info_create(&common_info);
  MPI_Info_set(common_info, "common", "to all");
  // MPICH 4.0.2 fails if several threads make the first call at once.
  int provided = -1;
  MPI_T_init_thread(MPI_THREAD_MULTIPLE, &provided);
}
static void free_common(void) {
  MPI_Info_free(&common_info);
  MPI_T_finalize();
}

int main(int argc, char** argv) {
  static const struct function_class kClasses[] = {
      {"error_handlers", error_handlers}, {"error_codes", error_codes}, {"attributes", attributes}, {"infos", infos},
      {"inquiries", inquiries},           {"conversions", conversions}, {"tools", tools},
  };
  return class_main(argc, argv, "environment_threads", kClasses, sizeof kClasses / sizeof kClasses[0], make_common,
                    free_common);
}
