// Tests of the tool information interface (MPI_T): lists, strings, sessions and errors; on margay also effects.
// ranks: 2
#include "check.h"

enum { kText = 600 };

#define OK(call) CHECK((call) == MPI_SUCCESS, "%s does not succeed", #call)
#define FAILS(call, error)                                                                 \
  do {                                                                                     \
    const int seen_ = (call);                                                              \
    CHECK(seen_ == (error), "%s gives %d, expected %s (%d)", #call, seen_, #error, error); \
  } while (0)

static void not_initialized(void) {
  int number = 0;
  MPI_T_pvar_session session;
  FAILS(MPI_T_finalize(), MPI_T_ERR_NOT_INITIALIZED);
  FAILS(MPI_T_cvar_get_num(&number), MPI_T_ERR_NOT_INITIALIZED);
  FAILS(MPI_T_pvar_get_num(&number), MPI_T_ERR_NOT_INITIALIZED);
  FAILS(MPI_T_category_get_num(&number), MPI_T_ERR_NOT_INITIALIZED);
  FAILS(MPI_T_pvar_session_create(&session), MPI_T_ERR_NOT_INITIALIZED);
}

// Returns of a string: complete, truncated, or only its length.
static void strings(void) {
  char whole[kText], cut[5] = "....";
  int length = 0, bytes = kText;
  OK(MPI_T_cvar_get_info(0, NULL, &length, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
  CHECK(length > 5, "the first name takes %d bytes", length);
  OK(MPI_T_cvar_get_info(0, whole, &bytes, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
  CHECK((int)strlen(whole) + 1 == length, "the name %s has not %d bytes", whole, length);
  bytes = 0;
  OK(MPI_T_cvar_get_info(0, cut, &bytes, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
  CHECK(bytes == length && strcmp(cut, "....") == 0, "with length 0: %d bytes, %s", bytes, cut);
  bytes = 5;
  OK(MPI_T_cvar_get_info(0, cut, &bytes, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
  CHECK(strncmp(cut, whole, 4) == 0 && cut[4] == 0, "cut to 4: %s", cut);
  // MPICH returns the truncated length; MPI 4.0, section 15.3.3, requires that of the whole string.
  CHECK(bytes == length || !on_margay(), "a cut name says %d bytes, expected %d", bytes, length);
  if (on_margay()) OK(MPI_T_cvar_get_info(0, whole, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
}

static void items_of(MPI_T_enum type) {
  int items = 0, value = 0;
  char name[kText];
  int bytes = kText;
  OK(MPI_T_enum_get_info(type, &items, name, &bytes));
  CHECK(items > 0 && name[0] != 0, "enumeration %s has %d items", name, items);
  for (int i = 0; i < items; ++i) {
    bytes = kText;
    OK(MPI_T_enum_get_item(type, i, &value, name, &bytes));
    CHECK(name[0] != 0, "item %d without a name", i);
  }
  FAILS(MPI_T_enum_get_item(type, items, &value, name, &bytes), MPI_T_ERR_INVALID_ITEM);
}

// Each variable is found by its name, and its value is plausible.
static void control_list(void) {
  int number = 0, index = -1, count = 0, bytes, verbosity, bind, scope;
  char name[kText], value[4096];
  MPI_Datatype type;
  MPI_T_enum items;
  OK(MPI_T_cvar_get_num(&number));
  CHECK(number > 0, "%d control variables", number);
  for (int i = 0; i < number; ++i) {
    MPI_T_cvar_handle handle;
    bytes = kText;
    OK(MPI_T_cvar_get_info(i, name, &bytes, &verbosity, &type, &items, NULL, NULL, &bind, &scope));
    CHECK(verbosity >= MPI_T_VERBOSITY_USER_BASIC && verbosity <= MPI_T_VERBOSITY_MPIDEV_ALL, "%s: verbosity", name);
    CHECK(scope >= MPI_T_SCOPE_CONSTANT && scope <= MPI_T_SCOPE_ALL_EQ, "%s: scope %d", name, scope);
    OK(MPI_T_cvar_get_index(name, &index));
    CHECK(index == i, "%s is %d and found as %d", name, i, index);
    if (bind != MPI_T_BIND_NO_OBJECT) continue;
    OK(MPI_T_cvar_handle_alloc(i, NULL, &handle, &count));
    CHECK(count >= 1 && count <= (int)sizeof value, "%s: %d elements", name, count);
    // MPICH crashes on its own unset texts.
    if (type != MPI_CHAR || on_margay()) OK(MPI_T_cvar_read(handle, value));
    if (type == MPI_INT && items != MPI_T_ENUM_NULL && on_margay()) items_of(items);
    OK(MPI_T_cvar_handle_free(&handle));
    CHECK(handle == MPI_T_CVAR_HANDLE_NULL, "%s: a freed handle is not null", name);
  }
  bytes = kText;
  FAILS(MPI_T_cvar_get_info(number, name, &bytes, NULL, NULL, NULL, NULL, NULL, NULL, NULL), MPI_T_ERR_INVALID_INDEX);
  FAILS(MPI_T_cvar_get_info(-1, name, &bytes, NULL, NULL, NULL, NULL, NULL, NULL, NULL), MPI_T_ERR_INVALID_INDEX);
  FAILS(MPI_T_cvar_get_index("no such variable", &index), MPI_T_ERR_INVALID_NAME);
}

static void performance_list(void) {
  int number = 0, index = -1, bytes, verbosity, class, bind, readonly, continuous, atomic;
  char name[kText];
  MPI_Datatype type;
  MPI_T_enum items;
  OK(MPI_T_pvar_get_num(&number));
  for (int i = 0; i < number; ++i) {
    bytes = kText;
    OK(MPI_T_pvar_get_info(i, name, &bytes, &verbosity, &class, &type, &items, NULL, NULL, &bind, &readonly,
                           &continuous, &atomic));
    CHECK(class >= MPI_T_PVAR_CLASS_STATE && class <= MPI_T_PVAR_CLASS_GENERIC, "%s: class %d", name, class);
    OK(MPI_T_pvar_get_index(name, class, &index));
    CHECK(index == i, "%s is %d and found as %d", name, i, index);
    FAILS(MPI_T_pvar_get_index(name, MPI_T_PVAR_CLASS_GENERIC, &index), MPI_T_ERR_INVALID_NAME);
  }
  if (number == 0) return;  // MPICH without variables crashes on any index
  bytes = kText;
  FAILS(MPI_T_pvar_get_info(number, name, &bytes, &verbosity, &class, &type, &items, NULL, NULL, &bind, &readonly,
                            &continuous, &atomic),
        MPI_T_ERR_INVALID_INDEX);
}

// On margay each variable is in one category, and the first category has all others.
static void category_list(void) {
  int categories = 0, controls = 0, performances = 0, bytes = kText, index = -1, sum_controls = 0;
  int sum_performances = 0, sum_categories = 0, stamp = -1;
  char name[kText];
  OK(MPI_T_category_get_num(&categories));
  OK(MPI_T_cvar_get_num(&controls));
  OK(MPI_T_pvar_get_num(&performances));
  OK(MPI_T_category_changed(&stamp));
  for (int i = 0; i < categories; ++i) {
    int own_controls = 0, own_performances = 0, own_categories = 0, list[512];
    bytes = kText;
    OK(MPI_T_category_get_info(i, name, &bytes, NULL, NULL, &own_controls, &own_performances, &own_categories));
    OK(MPI_T_category_get_index(name, &index));
    CHECK(index == i, "category %s is %d and found as %d", name, i, index);
    OK(MPI_T_category_get_cvars(i, 512, list));
    for (int k = 0; k < own_controls; ++k) CHECK(list[k] >= 0 && list[k] < controls, "%s: cvar %d", name, list[k]);
    OK(MPI_T_category_get_pvars(i, 512, list));
    for (int k = 0; k < own_performances; ++k)
      CHECK(list[k] >= 0 && list[k] < performances, "%s: pvar %d", name, list[k]);
    OK(MPI_T_category_get_categories(i, 512, list));
    // A list is truncated to the caller's array.
    for (int way = 0; way < 3; ++way) {
      list[0] = list[1] = -7;
      OK(way == 0   ? MPI_T_category_get_cvars(i, 1, list)
         : way == 1 ? MPI_T_category_get_pvars(i, 1, list)
                    : MPI_T_category_get_categories(i, 1, list));
      CHECK(list[1] == -7, "%s: list %d of one has two", name, way);
    }
    sum_controls += own_controls;
    sum_performances += own_performances;
    sum_categories += own_categories;
  }
  FAILS(MPI_T_category_get_index("no such category", &index), MPI_T_ERR_INVALID_NAME);
  FAILS(MPI_T_category_get_info(categories, NULL, NULL, NULL, NULL, NULL, NULL, NULL), MPI_T_ERR_INVALID_INDEX);
  if (!on_margay()) return;
  CHECK(sum_controls == controls, "%d of %d control variables are in categories", sum_controls, controls);
  CHECK(sum_performances == performances, "%d of %d performance variables are", sum_performances, performances);
  CHECK(sum_categories == categories - 1, "%d of %d categories are in another", sum_categories, categories - 1);
}

// --- On margay: handles by name ---

static MPI_T_pvar_session the_session;

static MPI_T_pvar_handle watch(const char* name, int class, void* object) {
  MPI_T_pvar_handle handle = MPI_T_PVAR_HANDLE_NULL;
  int index = -1, count = 0;
  OK(MPI_T_pvar_get_index(name, class, &index));
  OK(MPI_T_pvar_handle_alloc(the_session, index, object, &handle, &count));
  CHECK(handle != MPI_T_PVAR_HANDLE_NULL && count >= 1, "no handle for %s", name);
  if (class == MPI_T_PVAR_CLASS_COUNTER || class == MPI_T_PVAR_CLASS_AGGREGATE)
    OK(MPI_T_pvar_start(the_session, handle));
  return handle;
}

static unsigned long long value_of(MPI_T_pvar_handle handle) {
  unsigned long long value = 0;
  OK(MPI_T_pvar_read(the_session, handle, &value));
  return value;
}

#define EXPECT(handle, expected)                                                                               \
  do {                                                                                                         \
    const unsigned long long value_ = value_of(handle);                                                        \
    CHECK(value_ == (expected), "%s is %llu, expected %llu", #handle, value_, (unsigned long long)(expected)); \
  } while (0)

static MPI_T_cvar_handle control(const char* name) {
  MPI_T_cvar_handle handle = MPI_T_CVAR_HANDLE_NULL;
  int index = -1, count = 0;
  OK(MPI_T_cvar_get_index(name, &index));
  OK(MPI_T_cvar_handle_alloc(index, NULL, &handle, &count));
  return handle;
}

static void set_limits(unsigned long long bytes) {
  MPI_T_cvar_handle shm = control("short_limit_shm"), tcp = control("short_limit_tcp");
  unsigned long long read = 0;
  OK(MPI_T_cvar_write(shm, &bytes));
  OK(MPI_T_cvar_write(tcp, &bytes));
  OK(MPI_T_cvar_read(shm, &read));
  CHECK(read == bytes, "the short limit is %llu, %llu was written", read, bytes);
  OK(MPI_T_cvar_handle_free(&shm));
  OK(MPI_T_cvar_handle_free(&tcp));
}

static void set_long_protocol(int value) {
  MPI_T_cvar_handle handle = control("long_protocol");
  OK(MPI_T_cvar_write(handle, &value));
  OK(MPI_T_cvar_handle_free(&handle));
}

// Rank 0 sends after rank 1 has posted its receive.
static void one_message(int bytes) {
  char body[4096];
  if (world_rank() == 0) {
    wait_for(1, 900);
    MPI_Send(body, bytes, MPI_BYTE, 1, 1, MPI_COMM_WORLD);
  } else {
    MPI_Request request;
    MPI_Irecv(body, sizeof body, MPI_BYTE, 0, 1, MPI_COMM_WORLD, &request);
    signal_to(0, 900);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
}

// Three short messages; then writes take effect: a limit of 64 bytes, then rendezvous.
static void protocols(void) {
  const int sender = world_rank() == 0;
  MPI_Comm turned, world = MPI_COMM_WORLD;  // turned: with the ranks in reverse order
  MPI_Comm_split(MPI_COMM_WORLD, 0, -world_rank(), &turned);
  if (!sender) wait_for(0, 899);
  MPI_T_pvar_handle from_turned = watch("messages_from", MPI_T_PVAR_CLASS_COUNTER, &turned);
  if (sender) signal_to(1, 899);  // messages from now on are counted
  MPI_T_pvar_handle sent_short = watch("sent_short", MPI_T_PVAR_CLASS_COUNTER, NULL);
  MPI_T_pvar_handle short_bytes = watch("sent_short_bytes", MPI_T_PVAR_CLASS_AGGREGATE, NULL);
  MPI_T_pvar_handle matched = watch("sent_long_matched", MPI_T_PVAR_CLASS_COUNTER, NULL);
  MPI_T_pvar_handle pulled = watch("sent_long_pulled", MPI_T_PVAR_CLASS_COUNTER, NULL);
  MPI_T_pvar_handle to_each = watch("messages_to", MPI_T_PVAR_CLASS_COUNTER, &world);
  MPI_T_pvar_handle to_turned = watch("messages_to", MPI_T_PVAR_CLASS_COUNTER, &turned);
  unsigned long long each[2] = {99, 99};
  for (int i = 0; i < 3; ++i) one_message(1000);
  EXPECT(sent_short, 3);  // rank 1's messages are the signals
  EXPECT(short_bytes, sender ? 3000 : 0);
  OK(MPI_T_pvar_read(the_session, to_each, each));
  CHECK(each[world_rank()] == 0 && each[1 - world_rank()] == 3, "messages_to: %llu %llu", each[0], each[1]);
  OK(MPI_T_pvar_read(the_session, to_turned, each));
  CHECK(each[1 - world_rank()] == 0 && each[world_rank()] == 3, "turned round: %llu %llu", each[0], each[1]);
  OK(MPI_T_pvar_read(the_session, from_turned, each));
  CHECK(each[1 - world_rank()] == 0 && each[world_rank()] == 3, "messages_from: %llu %llu", each[0], each[1]);
  MPI_Comm_free(&turned);
  // A call on all handles returns the error of those that fail; the others are started or stopped.
  FAILS(MPI_T_pvar_stop(the_session, MPI_T_PVAR_ALL_HANDLES), MPI_T_ERR_INVALID_HANDLE);
  FAILS(MPI_T_pvar_start(the_session, MPI_T_PVAR_ALL_HANDLES), MPI_T_ERR_INVALID_HANDLE);
  OK(MPI_T_pvar_handle_free(the_session, &to_turned));
  OK(MPI_T_pvar_handle_free(the_session, &from_turned));
  set_limits(64);
  one_message(1000);
  EXPECT(sent_short, sender ? 3 : 4);
  EXPECT(matched, sender ? 1 : 0);
  set_long_protocol(1);
  one_message(1000);
  EXPECT(matched, sender ? 1 : 0);
  EXPECT(pulled, sender ? 1 : 0);
  set_long_protocol(0);
  set_limits(2000);
  one_message(2000);
  EXPECT(sent_short, sender ? 4 : 6);
  OK(MPI_T_pvar_stop(the_session, sent_short));
  one_message(10);
  EXPECT(sent_short, sender ? 4 : 6);
  EXPECT(short_bytes, sender ? 5010 : 0);
  OK(MPI_T_pvar_reset(the_session, MPI_T_PVAR_ALL_HANDLES));
  EXPECT(short_bytes, 0);
  OK(MPI_T_pvar_start(the_session, MPI_T_PVAR_ALL_HANDLES));
  one_message(10);
  EXPECT(sent_short, 1);
  // The limit of shared memory applies to messages to the rank itself.
  char own[1000] = "", back[1000];
  MPI_Request request;
  set_limits(64);
  MPI_Irecv(back, sizeof back, MPI_CHAR, world_rank(), 3, MPI_COMM_WORLD, &request);
  MPI_Send(own, sizeof own, MPI_CHAR, world_rank(), 3, MPI_COMM_WORLD);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  EXPECT(sent_short, 1);
  set_limits(2000);
}

// Posted receives and unexpected messages are counted, for all communicators and for one.
static void queues(void) {
  MPI_Comm other;
  char body[100], heap_state[8] = "";
  MPI_Comm_dup(MPI_COMM_WORLD, &other);
  MPI_T_pvar_handle posted = watch("posted_receives", MPI_T_PVAR_CLASS_LEVEL, NULL);
  MPI_T_pvar_handle posted_here = watch("comm_posted_receives", MPI_T_PVAR_CLASS_LEVEL, &other);
  MPI_T_pvar_handle unexpected = watch("unexpected_messages", MPI_T_PVAR_CLASS_LEVEL, NULL);
  MPI_T_pvar_handle unexpected_here = watch("comm_unexpected_messages", MPI_T_PVAR_CLASS_LEVEL, &other);
  MPI_T_pvar_handle used = watch("heap_used", MPI_T_PVAR_CLASS_LEVEL, NULL);
  MPI_T_pvar_handle high = watch("heap_high_water", MPI_T_PVAR_CLASS_HIGHWATERMARK, NULL);
  MPI_T_pvar_handle size = watch("heap_size", MPI_T_PVAR_CLASS_SIZE, NULL);
  MPI_T_pvar_handle share = watch("heap_share", MPI_T_PVAR_CLASS_PERCENTAGE, NULL);
  MPI_T_pvar_handle taken = watch("unexpected_taken", MPI_T_PVAR_CLASS_COUNTER, NULL);
  MPI_T_pvar_handle state = watch("heap_in_use", MPI_T_PVAR_CLASS_STATE, NULL);
  if (world_rank() == 0) {
    for (int i = 0; i < 2; ++i) MPI_Send(body, 100, MPI_BYTE, 1, 5, MPI_COMM_WORLD);
    MPI_Send(body, 100, MPI_BYTE, 1, 5, other);
    signal_to(1, 901);
    MPI_Request requests[2];
    MPI_Status statuses[2];
    MPI_Irecv(body, 50, MPI_BYTE, 1, 6, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(body + 50, 50, MPI_BYTE, 1, 6, other, &requests[1]);
    EXPECT(posted, 2);
    EXPECT(posted_here, 1);
    wait_for(1, 903);  // until then no more messages are in transit
    signal_to(1, 902);
    MPI_Waitall(2, requests, statuses);
    EXPECT(posted, 0);
  } else {
    double part = -1;
    wait_for(0, 901);  // messages of one sender arrive in order
    EXPECT(unexpected, 3);
    EXPECT(unexpected_here, 1);
    CHECK(value_of(used) >= 300 && value_of(used) <= value_of(high), "the heap uses %llu", value_of(used));
    CHECK(value_of(size) >= 65536, "the heap has %llu bytes", value_of(size));
    OK(MPI_T_pvar_read(the_session, share, &part));
    CHECK(part > 0 && part < 0.01, "part of the heap: %g", part);
    const unsigned long long before = value_of(taken);
    for (int i = 0; i < 2; ++i) MPI_Recv(body, 100, MPI_BYTE, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Recv(body, 100, MPI_BYTE, 0, 5, other, MPI_STATUS_IGNORE);
    EXPECT(taken, before + 3);
    EXPECT(unexpected, 0);
    EXPECT(unexpected_here, 0);
    // Messages to the rank itself whose sends are complete count at once.
    MPI_Request requests[7];
    for (int i = 0; i < 7; ++i) MPI_Isend(body, 50, MPI_BYTE, 1, 7, other, &requests[i]);
    MPI_Waitall(7, requests, MPI_STATUSES_IGNORE);
    EXPECT(unexpected_here, 7);
    for (int i = 0; i < 7; ++i) MPI_Recv(body, 50, MPI_BYTE, 1, 7, other, MPI_STATUS_IGNORE);
    signal_to(0, 903);
    wait_for(0, 902);
    MPI_Send(body, 50, MPI_BYTE, 0, 6, MPI_COMM_WORLD);
    MPI_Send(body, 50, MPI_BYTE, 0, 6, other);
  }
  // All handles: those that cannot be started or stopped are skipped.
  OK(MPI_T_pvar_start(the_session, MPI_T_PVAR_ALL_HANDLES));
  OK(MPI_T_pvar_stop(the_session, MPI_T_PVAR_ALL_HANDLES));
  OK(MPI_T_pvar_start(the_session, MPI_T_PVAR_ALL_HANDLES));
  OK(MPI_T_pvar_read(the_session, state, heap_state));
  MPI_Comm gone = other;
  int index = -1, count = 0;
  MPI_Comm_free(&other);
  FAILS(MPI_T_pvar_read(the_session, posted_here, heap_state), MPI_T_ERR_INVALID_HANDLE);
  OK(MPI_T_pvar_get_index("comm_posted_receives", MPI_T_PVAR_CLASS_LEVEL, &index));
  FAILS(MPI_T_pvar_handle_alloc(the_session, index, &gone, &posted_here, &count), MPI_T_ERR_INVALID);
}

// Rank 0 sends four messages of no bytes, and one without a matching receive; rank 1 sends one. Each rank starts its
// counters before it sends. Rank 1 starts them after it has received the first message, so it does not count that one.
static void headers(void) {
  const int sender = world_rank() == 0;
  char body[1000] = "";
  MPI_Barrier(MPI_COMM_WORLD);
  if (!sender) wait_for(0, 902);
  MPI_T_pvar_handle sent = watch("messages_sent", MPI_T_PVAR_CLASS_COUNTER, NULL);
  MPI_T_pvar_handle delivered = watch("messages_delivered", MPI_T_PVAR_CLASS_COUNTER, NULL);
  MPI_T_pvar_handle no_match = watch("dropped_no_match", MPI_T_PVAR_CLASS_COUNTER, NULL);
  MPI_T_pvar_handle no_room = watch("dropped_no_room", MPI_T_PVAR_CLASS_COUNTER, NULL);
  MPI_T_pvar_handle shm = watch("wire_shm_bytes", MPI_T_PVAR_CLASS_AGGREGATE, NULL);
  MPI_T_pvar_handle tcp = watch("wire_tcp_bytes", MPI_T_PVAR_CLASS_AGGREGATE, NULL);
  MPI_T_pvar_handle puts = watch("kernel_puts", MPI_T_PVAR_CLASS_COUNTER, NULL);
  MPI_T_pvar_handle gets = watch("kernel_gets", MPI_T_PVAR_CLASS_COUNTER, NULL);
  if (sender) {
    signal_to(1, 902);
    wait_for(1, 903);
    MPI_Rsend(body, 100, MPI_BYTE, 1, 904, MPI_COMM_WORLD);
    for (int i = 0; i < 3; ++i) signal_to(1, 905);
  } else {
    signal_to(0, 903);
    for (int i = 0; i < 3; ++i) wait_for(0, 905);
  }
  EXPECT(sent, sender ? 5 : 1);
  EXPECT(delivered, sender ? 1 : 3);
  EXPECT(no_match, sender ? 0 : 1);
  EXPECT(no_room, 0);
  const unsigned long long bytes = value_of(shm) + value_of(tcp);
  CHECK(bytes == (sender ? 100 : 0), "%llu bytes on the wires", bytes);
  EXPECT(puts, sender ? 5 : 1);
  EXPECT(gets, 0);
}

// Counts of incomplete requests, and of requests that are not freed.
static void requests(void) {
  MPI_T_pvar_handle open = watch("requests_under_way", MPI_T_PVAR_CLASS_LEVEL, NULL);
  MPI_T_pvar_handle sends = watch("send_requests", MPI_T_PVAR_CLASS_LEVEL, NULL);
  MPI_T_pvar_handle receives = watch("receive_requests", MPI_T_PVAR_CLASS_LEVEL, NULL);
  const unsigned long long before[3] = {value_of(open), value_of(sends), value_of(receives)};
  MPI_Request request[2];
  char in[4], out[4] = "";
  MPI_Irecv(in, 4, MPI_CHAR, world_rank(), 906, MPI_COMM_WORLD, &request[0]);
  EXPECT(open, before[0] + 1);
  EXPECT(sends, before[1]);
  EXPECT(receives, before[2] + 1);
  MPI_Issend(out, 4, MPI_CHAR, world_rank(), 906, MPI_COMM_WORLD, &request[1]);
  EXPECT(sends, before[1] + 1);
  MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
  EXPECT(open, before[0]);
  EXPECT(sends, before[1]);
  EXPECT(receives, before[2]);
}

// A policy of waits that is written applies from the next wait on. "auto" is written only if it was the policy before.
static void waiting(void) {
  MPI_T_cvar_handle handle = control("wait_policy");
  int first = -1, yield = 1, automatic = 2, read = -1;
  OK(MPI_T_cvar_read(handle, &first));
  OK(MPI_T_cvar_write(handle, &yield));
  OK(MPI_T_cvar_read(handle, &read));
  CHECK(read == yield, "the policy is %d", read);
  one_message(10);
  if (first == automatic) {
    OK(MPI_T_cvar_write(handle, &automatic));
    OK(MPI_T_cvar_write(handle, &yield));
  }
  for (int wrong = -3; wrong < 6; ++wrong) {
    if (wrong < 0 || wrong > automatic) FAILS(MPI_T_cvar_write(handle, &wrong), MPI_T_ERR_INVALID);
  }
  OK(MPI_T_cvar_read(handle, &read));
  CHECK(read == yield, "the policy is %d after values that no policy has", read);
  OK(MPI_T_cvar_write(handle, &first));
  OK(MPI_T_cvar_handle_free(&handle));
}

// In a barrier of two, each rank sends or shows at least one piece, whatever the algorithm.
static void collectives(void) {
  MPI_T_pvar_handle sent = watch("sent_collective", MPI_T_PVAR_CLASS_COUNTER, NULL);
  MPI_T_pvar_handle shown = watch("shown_collective", MPI_T_PVAR_CLASS_COUNTER, NULL);
  MPI_Barrier(MPI_COMM_WORLD);
  const unsigned long long each = value_of(sent) + value_of(shown);
  CHECK(each >= 1 && each < 10, "a barrier of two ranks sent or showed %llu", each);
  OK(MPI_T_pvar_handle_free(the_session, &shown));
  OK(MPI_T_pvar_handle_free(the_session, &sent));
}

// A second session has its own counts.
static void sessions(void) {
  MPI_T_pvar_session other;
  MPI_T_pvar_handle mine = watch("sent_short", MPI_T_PVAR_CLASS_COUNTER, NULL), theirs;
  int index = -1, count = 0;
  unsigned long long value = 77;
  OK(MPI_T_pvar_session_create(&other));
  OK(MPI_T_pvar_get_index("sent_short", MPI_T_PVAR_CLASS_COUNTER, &index));
  OK(MPI_T_pvar_handle_alloc(other, index, NULL, &theirs, &count));
  one_message(10);
  EXPECT(mine, 1);
  OK(MPI_T_pvar_read(other, theirs, &value));
  CHECK(value == 0, "a handle that was not started counted %llu", value);
  OK(MPI_T_pvar_start(other, theirs));
  one_message(10);
  OK(MPI_T_pvar_readreset(other, theirs, &value));
  CHECK(value == 1, "read and reset: %llu", value);
  OK(MPI_T_pvar_read(other, theirs, &value));
  CHECK(value == 0, "after it was reset: %llu", value);
  value = 100;
  OK(MPI_T_pvar_write(other, theirs, &value));
  one_message(10);
  OK(MPI_T_pvar_read(other, theirs, &value));
  CHECK(value == 101, "100 was written, one was sent: %llu", value);
  EXPECT(mine, 3);
  FAILS(MPI_T_pvar_read(the_session, theirs, &value), MPI_T_ERR_INVALID_HANDLE);
  OK(MPI_T_pvar_session_free(&other));
  CHECK(other == MPI_T_PVAR_SESSION_NULL, "a freed session is not null");
  OK(MPI_T_pvar_handle_free(the_session, &mine));
}

static void refusals(void) {
  MPI_T_pvar_handle level = watch("posted_receives", MPI_T_PVAR_CLASS_LEVEL, NULL), freed;
  MPI_T_pvar_session none = MPI_T_PVAR_SESSION_NULL;
  MPI_T_cvar_handle constant = control("heap_bytes"), limit = control("short_limit_shm");
  unsigned long long value = 0;
  int number = -1, count = 0;
  FAILS(MPI_T_pvar_start(the_session, level), MPI_T_ERR_PVAR_NO_STARTSTOP);
  FAILS(MPI_T_pvar_stop(the_session, level), MPI_T_ERR_PVAR_NO_STARTSTOP);
  FAILS(MPI_T_pvar_write(the_session, level, &value), MPI_T_ERR_PVAR_NO_WRITE);
  FAILS(MPI_T_pvar_reset(the_session, level), MPI_T_ERR_PVAR_NO_WRITE);
  FAILS(MPI_T_pvar_readreset(the_session, level, &value), MPI_T_ERR_PVAR_NO_ATOMIC);
  FAILS(MPI_T_pvar_read(the_session, MPI_T_PVAR_ALL_HANDLES, &value), MPI_T_ERR_INVALID_HANDLE);
  FAILS(MPI_T_pvar_read(none, level, &value), MPI_T_ERR_INVALID_SESSION);
  FAILS(MPI_T_pvar_read(the_session, level, NULL), MPI_T_ERR_INVALID);
  freed = level;
  OK(MPI_T_pvar_handle_free(the_session, &level));
  FAILS(MPI_T_pvar_read(the_session, freed, &value), MPI_T_ERR_INVALID_HANDLE);
  FAILS(MPI_T_pvar_handle_free(the_session, &level), MPI_T_ERR_INVALID_HANDLE);
  FAILS(MPI_T_pvar_handle_alloc(the_session, 99999, NULL, &level, &count), MPI_T_ERR_INVALID_INDEX);
  FAILS(MPI_T_pvar_handle_alloc(the_session, 0, NULL, NULL, &count), MPI_T_ERR_INVALID);
  FAILS(MPI_T_pvar_session_create(NULL), MPI_T_ERR_INVALID);
  FAILS(MPI_T_cvar_write(constant, &value), MPI_T_ERR_CVAR_SET_NEVER);
  value = 1ULL << 40;
  FAILS(MPI_T_cvar_write(limit, &value), MPI_T_ERR_INVALID);
  FAILS(MPI_T_cvar_write(limit, NULL), MPI_T_ERR_INVALID);
  FAILS(MPI_T_cvar_read(MPI_T_CVAR_HANDLE_NULL, &value), MPI_T_ERR_INVALID_HANDLE);
  FAILS(MPI_T_cvar_get_num(NULL), MPI_T_ERR_INVALID);
  FAILS(MPI_T_cvar_get_index(NULL, &number), MPI_T_ERR_INVALID);
  FAILS(MPI_T_enum_get_info(MPI_T_ENUM_NULL, &number, NULL, NULL), MPI_T_ERR_INVALID_HANDLE);
  MPI_T_cvar_handle gone = constant;
  OK(MPI_T_cvar_handle_free(&constant));
  FAILS(MPI_T_cvar_handle_free(&gone), MPI_T_ERR_INVALID_HANDLE);
  FAILS(MPI_T_init_thread(MPI_THREAD_MULTIPLE + 1, &number), MPI_T_ERR_INVALID);
  FAILS(MPI_T_init_thread(MPI_THREAD_SINGLE - 1, &number), MPI_T_ERR_INVALID);
  OK(MPI_T_cvar_handle_free(&limit));
}

// There are no events: every index, registration and instance is invalid.
static void no_events(void) {
  MPI_T_event_registration registration = NULL;
  const MPI_T_cb_safety safety = MPI_T_CB_REQUIRE_NONE;
  MPI_Info info = MPI_INFO_NULL;
  MPI_Count time = -1;
  char place[8];
  int number = -1;
  OK(MPI_T_event_get_num(&number));
  CHECK(number == 0, "%d event types", number);
  FAILS(MPI_T_event_get_num(NULL), MPI_T_ERR_INVALID);
  FAILS(MPI_T_event_get_index("none", &number), MPI_T_ERR_INVALID_NAME);
  FAILS(MPI_T_event_get_index(NULL, &number), MPI_T_ERR_INVALID);
  for (int i = -1; i < 2; ++i) {
    FAILS(MPI_T_event_get_info(i, NULL, NULL, NULL, NULL, NULL, &number, NULL, NULL, NULL, NULL, NULL),
          MPI_T_ERR_INVALID_INDEX);
    FAILS(MPI_T_event_handle_alloc(i, NULL, MPI_INFO_NULL, &registration), MPI_T_ERR_INVALID_INDEX);
  }
  FAILS(MPI_T_event_register_callback(registration, safety, MPI_INFO_NULL, NULL, NULL), MPI_T_ERR_INVALID_HANDLE);
  FAILS(MPI_T_event_callback_get_info(registration, safety, &info), MPI_T_ERR_INVALID_HANDLE);
  FAILS(MPI_T_event_callback_set_info(registration, safety, info), MPI_T_ERR_INVALID_HANDLE);
  FAILS(MPI_T_event_handle_get_info(registration, &info), MPI_T_ERR_INVALID_HANDLE);
  FAILS(MPI_T_event_handle_set_info(registration, info), MPI_T_ERR_INVALID_HANDLE);
  FAILS(MPI_T_event_set_dropped_handler(registration, NULL), MPI_T_ERR_INVALID_HANDLE);
  FAILS(MPI_T_event_handle_free(registration, NULL, NULL), MPI_T_ERR_INVALID_HANDLE);
  FAILS(MPI_T_event_read(NULL, 0, place), MPI_T_ERR_INVALID_HANDLE);
  FAILS(MPI_T_event_copy(NULL, place), MPI_T_ERR_INVALID_HANDLE);
  FAILS(MPI_T_event_get_timestamp(NULL, &time), MPI_T_ERR_INVALID_HANDLE);
  FAILS(MPI_T_event_get_source(NULL, &number), MPI_T_ERR_INVALID_HANDLE);
  CHECK(info == MPI_INFO_NULL && time == -1 && number == 0, "a refused call changed something");
}

// The clock of events is that of MPI_Wtime.
static void source(void) {
  int sources = 0;
  MPI_Count before = 0, after = 0, ticks = 0;
  OK(MPI_T_source_get_num(&sources));
  CHECK(sources == 1, "%d sources", sources);
  OK(MPI_T_source_get_info(0, NULL, NULL, NULL, NULL, NULL, &ticks, NULL, NULL));
  OK(MPI_T_source_get_timestamp(0, &before));
  usleep(2000);
  OK(MPI_T_source_get_timestamp(0, &after));
  CHECK((double)(after - before) / (double)ticks >= 0.0019, "2 ms of sleep are %lld of %lld ticks",
        (long long)(after - before), (long long)ticks);
  CHECK(MPI_Wtime() - (double)after / (double)ticks < 60, "another clock than MPI_Wtime's");
  FAILS(MPI_T_source_get_timestamp(1, &after), MPI_T_ERR_INVALID_INDEX);
}

int main(int argc, char** argv) {
  int provided = -1;
  const int margay = on_margay();
  MPI_T_pvar_handle since_before = MPI_T_PVAR_HANDLE_NULL;
  not_initialized();
  OK(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided));
  CHECK(provided == MPI_THREAD_SINGLE, "thread level %d", provided);
  strings();
  control_list();
  OK(MPI_T_pvar_session_create(&the_session));
  if (margay) {
    set_limits(500);  // MPI_Init uses them
    since_before = watch("messages_sent", MPI_T_PVAR_CLASS_COUNTER, NULL);
    EXPECT(since_before, 0);
  }
  suite_begin(&argc, &argv);
  OK(MPI_T_init_thread(MPI_THREAD_MULTIPLE, &provided));
  // MPI_Init provided one thread.
  if (margay) CHECK(provided == MPI_THREAD_FUNNELED, "thread level %d", provided);
  control_list();
  performance_list();
  category_list();
  if (margay) {
    unsigned long long limit = 0;
    MPI_T_cvar_handle handle = control("short_limit_tcp");
    OK(MPI_T_cvar_read(handle, &limit));
    CHECK(limit == 500, "a limit written before MPI_Init is %llu", limit);
    set_limits(4096);
    protocols();
    queues();
    headers();
    requests();
    waiting();
    collectives();
    sessions();
    refusals();
    no_events();
    source();
  }
  OK(MPI_T_finalize());
  const int failed = suite_end("tool_interface");
  if (margay) {
    MPI_T_cvar_handle handle = control("long_protocol");
    int value = 0;
    CHECK(value_of(since_before) > 0, "after MPI_Finalize nothing was ever sent");
    OK(MPI_T_cvar_write(handle, &value));
  }
  OK(MPI_T_finalize());
  if (margay) FAILS(MPI_T_pvar_read(the_session, since_before, &provided), MPI_T_ERR_NOT_INITIALIZED);
  return failed || suite_failures != 0;
}
