// Tests of errors at the origin, by their class: accesses outside of the window or of an epoch, epochs that do not
// match, wrong lock types, assertions and flavours, operations and types that are invalid for accumulates.
// ranks: 2
// reference: none, MPICH checks less, and crashes on some
#include "windows.h"

#define FAILS(call, expected)                                                     \
  do {                                                                            \
    int class_ = MPI_SUCCESS;                                                     \
    const int code_ = (call);                                                     \
    if (code_ != MPI_SUCCESS) MPI_Error_class(code_, &class_);                    \
    CHECK(class_ == (expected), #call ": class %d, expected " #expected, class_); \
  } while (0)
#define OK(call) FAILS(call, MPI_SUCCESS)

static void ranges(MPI_Win win) {
  int value[4] = {0};
  MPI_Datatype gap;
  MPI_Type_vector(2, 1, 100, MPI_INT, &gap);
  MPI_Type_commit(&gap);
  OK(MPI_Win_fence(0, win));
  if (world_rank() == 0) OK(MPI_Put(value, 1, MPI_INT, 1, 9, 1, MPI_INT, win));
  FAILS(MPI_Put(value, 1, MPI_INT, 1, 10, 1, MPI_INT, win), MPI_ERR_RMA_RANGE);
  FAILS(MPI_Put(value, 2, MPI_INT, 1, 9, 2, MPI_INT, win), MPI_ERR_RMA_RANGE);
  FAILS(MPI_Get(value, 2, MPI_INT, 1, 0, 1, gap, win), MPI_ERR_RMA_RANGE);
  FAILS(MPI_Put(value, 1, MPI_INT, 1, -1, 1, MPI_INT, win), MPI_ERR_DISP);
  FAILS(MPI_Put(value, 1, MPI_INT, 1, (MPI_Aint)1 << 62, 1, MPI_INT, win), MPI_ERR_RMA_RANGE);
  FAILS(MPI_Put(value, 1, MPI_INT, 2, 0, 1, MPI_INT, win), MPI_ERR_RANK);
  FAILS(MPI_Put(value, -1, MPI_INT, 1, 0, 1, MPI_INT, win), MPI_ERR_COUNT);
  FAILS(MPI_Accumulate(value, 1, MPI_INT, 1, 0, 1, MPI_INT, MPI_OP_NULL, win), MPI_ERR_OP);
  FAILS(MPI_Accumulate(value, 1, MPI_FLOAT, 1, 0, 1, MPI_FLOAT, MPI_BAND, win), MPI_ERR_OP);
  FAILS(MPI_Accumulate(value, 1, MPI_FLOAT, 1, 0, 1, MPI_INT, MPI_SUM, win), MPI_ERR_TYPE);
  FAILS(MPI_Fetch_and_op(value, value + 1, MPI_INT, 1, 10, MPI_SUM, win), MPI_ERR_RMA_RANGE);
  FAILS(MPI_Fetch_and_op(value, value + 1, MPI_LONG, 1, 9, MPI_SUM, win), MPI_ERR_RMA_RANGE);
  FAILS(MPI_Compare_and_swap(value, value, value + 1, MPI_INT, 1, 10, win), MPI_ERR_RMA_RANGE);
  FAILS(MPI_Compare_and_swap(value, value, value + 1, MPI_FLOAT, 1, 0, win), MPI_ERR_TYPE);
  FAILS(MPI_Accumulate(value, 1, MPI_INT, 1, 10, 1, MPI_INT, MPI_REPLACE, win), MPI_ERR_RMA_RANGE);
  FAILS(MPI_Accumulate(value, 1, MPI_INT, 1, 0, 1, MPI_INT, MPI_NO_OP, win), MPI_ERR_OP);
  OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, win));
  FAILS(MPI_Put(value, 1, MPI_INT, 1, 0, 1, MPI_INT, win), MPI_ERR_RMA_SYNC);
  FAILS(MPI_Fetch_and_op(value, value + 1, MPI_INT, 1, 0, MPI_SUM, win), MPI_ERR_RMA_SYNC);
  FAILS(MPI_Compare_and_swap(value, value, value + 1, MPI_INT, 1, 0, win), MPI_ERR_RMA_SYNC);
  FAILS(MPI_Win_flush(1, win), MPI_ERR_RMA_SYNC);
  MPI_Type_free(&gap);
}

// A rejected access does not use the epoch that a fence began: another kind of epoch may begin.
static void refused(MPI_Win win) {
  int value = 0, result = 0;
  OK(MPI_Win_fence(0, win));
  FAILS(MPI_Put(&value, 1, MPI_INT, 1, 10, 1, MPI_INT, win), MPI_ERR_RMA_RANGE);
  FAILS(MPI_Get_accumulate(&value, 1, MPI_INT, &result, 2, MPI_INT, 1, 0, 1, MPI_INT, MPI_SUM, win), MPI_ERR_ARG);
  FAILS(MPI_Fetch_and_op(&value, &result, MPI_INT, 1, 0, MPI_MAXLOC, win), MPI_ERR_OP);
  OK(MPI_Win_start(MPI_GROUP_EMPTY, 0, win));
  OK(MPI_Win_complete(win));
}

static int handler_calls;
static void count_of_window(MPI_Win* win, int* code, ...) {
  (void)win;
  (void)code;
  ++handler_calls;
}
static void count_of_communicator(MPI_Comm* comm, int* code, ...) {
  (void)comm;
  (void)code;
  ++handler_calls;
}

// Errors of null pointers are raised on the window or the communicator, too.
static void handlers(MPI_Win win) {
  int value = 0, result = 0;
  MPI_Win other;
  MPI_Comm comm;
  MPI_Errhandler of_window, of_communicator;
  MPI_Win_create_errhandler(count_of_window, &of_window);
  MPI_Win_set_errhandler(win, of_window);
  OK(MPI_Win_lock_all(0, win));
  FAILS(MPI_Rput(&value, 1, MPI_INT, 1, 0, 1, MPI_INT, win, NULL), MPI_ERR_ARG);
  FAILS(MPI_Raccumulate(&value, 1, MPI_INT, 1, 0, 1, MPI_INT, MPI_SUM, win, NULL), MPI_ERR_ARG);
  FAILS(MPI_Compare_and_swap(&value, NULL, &result, MPI_INT, 1, 0, win), MPI_ERR_BUFFER);
  OK(MPI_Win_unlock_all(win));
  CHECK(handler_calls == 3, "the window's handler was called %d times", handler_calls);
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_create_errhandler(count_of_communicator, &of_communicator);
  MPI_Comm_set_errhandler(comm, of_communicator);
  FAILS(MPI_Win_allocate(8, 1, MPI_INFO_NULL, comm, NULL, &other), MPI_ERR_ARG);
  CHECK(handler_calls == 4, "the communicator's handler was called %d times", handler_calls - 3);
  MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
  MPI_Errhandler_free(&of_window);
  MPI_Errhandler_free(&of_communicator);
  MPI_Comm_free(&comm);
}

static void epochs(MPI_Win win) {
  int value = 0, flag = 0;
  MPI_Request request;
  MPI_Group world, none = MPI_GROUP_EMPTY;
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  FAILS(MPI_Put(&value, 1, MPI_INT, 1, 0, 1, MPI_INT, win), MPI_ERR_RMA_SYNC);
  FAILS(MPI_Win_unlock(1, win), MPI_ERR_RMA_SYNC);
  FAILS(MPI_Win_unlock_all(win), MPI_ERR_RMA_SYNC);
  FAILS(MPI_Win_flush(1, win), MPI_ERR_RMA_SYNC);
  FAILS(MPI_Win_complete(win), MPI_ERR_RMA_SYNC);
  FAILS(MPI_Win_wait(win), MPI_ERR_RMA_SYNC);
  FAILS(MPI_Win_test(win, &flag), MPI_ERR_RMA_SYNC);
  FAILS(MPI_Win_lock(17, 1, 0, win), MPI_ERR_LOCKTYPE);
  FAILS(MPI_Win_lock(MPI_LOCK_SHARED, 1, 1 << 20, win), MPI_ERR_ASSERT);
  FAILS(MPI_Win_fence(1 << 20, win), MPI_ERR_ASSERT);
  OK(MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, win));
  FAILS(MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, win), MPI_ERR_RMA_SYNC);
  FAILS(MPI_Win_lock_all(0, win), MPI_ERR_RMA_SYNC);
  FAILS(MPI_Win_fence(0, win), MPI_ERR_RMA_SYNC);
  FAILS(MPI_Win_start(none, 0, win), MPI_ERR_RMA_SYNC);
  FAILS(MPI_Put(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, win), MPI_ERR_RMA_SYNC);
  FAILS(MPI_Win_free(&win), MPI_ERR_RMA_SYNC);
  OK(MPI_Rput(&value, 1, MPI_INT, 1, world_rank(), 1, MPI_INT, win, &request));
  OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
  OK(MPI_Win_unlock(1, win));
  OK(MPI_Win_lock_all(0, win));
  FAILS(MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, win), MPI_ERR_RMA_SYNC);
  OK(MPI_Win_unlock_all(win));
  OK(MPI_Win_post(none, 0, win));
  FAILS(MPI_Win_post(none, 0, win), MPI_ERR_RMA_SYNC);
  OK(MPI_Win_start(none, 0, win));
  FAILS(MPI_Put(&value, 1, MPI_INT, 1, 0, 1, MPI_INT, win), MPI_ERR_RMA_SYNC);
  OK(MPI_Win_complete(win));
  OK(MPI_Win_wait(win));
  MPI_Group_free(&world);
}

static void flavours(MPI_Win win) {
  int memory[4], *base = NULL, unit = 0;
  MPI_Aint size = 0;
  FAILS(MPI_Win_attach(win, memory, sizeof memory), MPI_ERR_RMA_FLAVOR);
  FAILS(MPI_Win_detach(win, memory), MPI_ERR_RMA_FLAVOR);
  FAILS(MPI_Win_shared_query(win, 0, &size, &unit, &base), MPI_ERR_RMA_FLAVOR);
  MPI_Win dynamic;
  MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &dynamic);
  MPI_Win_set_errhandler(dynamic, MPI_ERRORS_RETURN);
  FAILS(MPI_Win_detach(dynamic, memory), MPI_ERR_RMA_ATTACH);
  OK(MPI_Win_attach(dynamic, memory, sizeof memory));
  FAILS(MPI_Win_attach(dynamic, memory + 1, sizeof memory), MPI_ERR_RMA_ATTACH);
  // Attaching and detaching no bytes is valid at any address.
  OK(MPI_Win_attach(dynamic, memory + 1, 0));
  OK(MPI_Win_detach(dynamic, memory + 1));
  FAILS(MPI_Win_detach(dynamic, memory + 1), MPI_ERR_RMA_ATTACH);
  // The target detects the error: no memory is attached there.
  int value = 5;
  OK(MPI_Win_lock(MPI_LOCK_SHARED, 1 - world_rank(), 0, dynamic));
  OK(MPI_Put(&value, 1, MPI_INT, 1 - world_rank(), 64, 1, MPI_INT, dynamic));
  FAILS(MPI_Win_unlock(1 - world_rank(), dynamic), MPI_ERR_RMA_RANGE);
  OK(MPI_Win_lock(MPI_LOCK_SHARED, 1 - world_rank(), 0, dynamic));
  OK(MPI_Get(&value, 1, MPI_INT, 1 - world_rank(), 64, 1, MPI_INT, dynamic));
  FAILS(MPI_Win_flush(1 - world_rank(), dynamic), MPI_ERR_RMA_RANGE);
  OK(MPI_Win_unlock(1 - world_rank(), dynamic));
  MPI_Barrier(MPI_COMM_WORLD);
  OK(MPI_Win_detach(dynamic, memory));
  MPI_Win_free(&dynamic);
}

int main(int argc, char** argv) {
  suite_begin(&argc, &argv);
  int memory[10];
  MPI_Win win, freed;
  MPI_Win_create(memory, sizeof memory, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  ranges(win);
  MPI_Win allocated;
  int* its_memory = NULL;
  MPI_Win_allocate(sizeof memory, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &its_memory, &allocated);
  MPI_Win_set_errhandler(allocated, MPI_ERRORS_RETURN);
  ranges(allocated);
  MPI_Win_free(&allocated);
  refused(win);
  handlers(win);
  epochs(win);
  flavours(win);
  freed = win;
  MPI_Win_free(&win);
  FAILS(MPI_Win_fence(0, freed), MPI_ERR_WIN);
  FAILS(MPI_Win_fence(0, MPI_WIN_NULL), MPI_ERR_WIN);
  FAILS(MPI_Win_create(memory, -1, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win), MPI_ERR_SIZE);
  FAILS(MPI_Win_create(memory, 8, 0, MPI_INFO_NULL, MPI_COMM_WORLD, &win), MPI_ERR_DISP);
  FAILS(MPI_Win_create(NULL, 8, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win), MPI_ERR_BASE);
  FAILS(MPI_Win_create(memory, 8, 1, MPI_INFO_NULL, MPI_COMM_NULL, &win), MPI_ERR_COMM);
  return suite_end("rma_errors");
}
