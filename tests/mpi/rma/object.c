// Tests of a window as an object: group, name, hints, attributes, error handler.
// ranks: 2 3
// reference: none, MPICH 4.0.2 returns another MPI_WIN_BASE of allocated windows on ranks but the first
#include "windows.h"

static int copies, deletions, handled;
static MPI_Win handled_window;

static int copy(MPI_Win win, int key, void* state, void* in, void* out, int* flag) {
  (void)win, (void)key, (void)state, (void)in, (void)out;
  ++copies;
  *flag = 0;
  return MPI_SUCCESS;
}
static int delete_value(MPI_Win win, int key, void* value, void* state) {
  (void)win, (void)key;
  CHECK(value == &deletions && state == &copies, "a deletion's value or state is another");
  ++deletions;
  return MPI_SUCCESS;
}
static void handler(MPI_Win* win, int* code, ...) {
  handled_window = *win;
  ++handled;
  (void)code;
}

static void predefined(MPI_Win win, const void* memory, int flavor) {
  void* base = NULL;
  MPI_Aint* size = NULL;
  int *unit = NULL, *made = NULL, *model = NULL, flag = 0;
  MPI_Win_get_attr(win, MPI_WIN_BASE, &base, &flag);
  CHECK(flag && base == memory, "MPI_WIN_BASE is another");
  MPI_Win_get_attr(win, MPI_WIN_SIZE, &size, &flag);
  CHECK(flag && *size == 40, "MPI_WIN_SIZE");
  MPI_Win_get_attr(win, MPI_WIN_DISP_UNIT, &unit, &flag);
  CHECK(flag && *unit == sizeof(int), "MPI_WIN_DISP_UNIT");
  MPI_Win_get_attr(win, MPI_WIN_CREATE_FLAVOR, &made, &flag);
  CHECK(flag && *made == flavor, "MPI_WIN_CREATE_FLAVOR is %d", *made);
  MPI_Win_get_attr(win, MPI_WIN_MODEL, &model, &flag);
  CHECK(flag && *model == MPI_WIN_UNIFIED, "MPI_WIN_MODEL is %d", *model);
}

static void aligned(const char* bytes) {
  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, "mpi_minimum_memory_alignment", bytes);
  int* memory = NULL;
  MPI_Win win;
  MPI_Win_allocate(40, sizeof(int), info, MPI_COMM_WORLD, &memory, &win);
  MPI_Info_free(&info);
  CHECK((unsigned long)memory % strtoul(bytes, NULL, 10) == 0, "%p is not aligned to %s bytes", (void*)memory, bytes);
  char value[64] = "";
  int flag = 0;
  MPI_Win_get_info(win, &info);
  MPI_Info_get(info, "mpi_minimum_memory_alignment", 60, value, &flag);
  CHECK(flag && strcmp(value, bytes) == 0, "the hint is %s, not %s", value, bytes);
  MPI_Info_free(&info);
  const int mine = world_rank(), to = (world_rank() + 1) % world_size();
  MPI_Win_fence(0, win);
  MPI_Put(&mine, 1, MPI_INT, to, 9, 1, MPI_INT, win);
  MPI_Win_fence(0, win);
  CHECK(memory[9] == (mine + world_size() - 1) % world_size(), "%d was put", memory[9]);
  MPI_Win_free(&win);
}

int main(int argc, char** argv) {
  suite_begin(&argc, &argv);
  aligned("256");
  aligned("65536");
  struct test_window window = open_window(kCreated, 10, MPI_COMM_WORLD);
  const MPI_Win win = window.win;
  predefined(win, window.memory, MPI_WIN_FLAVOR_CREATE);
  MPI_Group group, world;
  int result = -1, length = -1, key = MPI_KEYVAL_INVALID, flag = -1;
  MPI_Win_get_group(win, &group);
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  MPI_Group_compare(group, world, &result);
  CHECK(result == MPI_IDENT, "the group is another than the communicator's");
  MPI_Group_free(&group);
  MPI_Group_free(&world);
  char name[MPI_MAX_OBJECT_NAME] = "";
  MPI_Win_set_name(win, "halo");
  MPI_Win_get_name(win, name, &length);
  CHECK(strcmp(name, "halo") == 0 && length == 4, "the name is %s", name);
  MPI_Info info;
  char value[64] = "";
  MPI_Win_get_info(win, &info);
  MPI_Info_get(info, "no_locks", 60, value, &flag);
  CHECK(flag && strcmp(value, "false") == 0, "no_locks is %s", value);
  MPI_Info_free(&info);
  MPI_Win_create_keyval(copy, delete_value, &key, &copies);
  MPI_Win_set_attr(win, key, &deletions);
  void* found = NULL;
  MPI_Win_get_attr(win, key, &found, &flag);
  CHECK(flag && found == &deletions, "the attribute is another");
  MPI_Win_delete_attr(win, key);
  MPI_Win_get_attr(win, key, &found, &flag);
  CHECK(!flag && deletions == 1, "deleted %d times", deletions);
  MPI_Win_set_attr(win, key, &deletions);
  MPI_Win_free_keyval(&key);
  MPI_Errhandler made, returned;
  MPI_Win_create_errhandler(handler, &made);
  MPI_Win_set_errhandler(win, made);
  MPI_Win_get_errhandler(win, &returned);
  MPI_Win_call_errhandler(win, MPI_ERR_RMA_RANGE);
  MPI_Win_unlock(0, win);
  CHECK(handled == 2 && handled_window == win, "handled %d errors, of window 0x%x", handled, (unsigned)handled_window);
  MPI_Errhandler_free(&made);
  MPI_Errhandler_free(&returned);
  close_window(&window);
  CHECK(deletions == 2 && copies == 0, "%d deletions, %d copies", deletions, copies);
  struct test_window other = open_window(kAllocated, 10, MPI_COMM_WORLD);
  predefined(other.win, other.memory, MPI_WIN_FLAVOR_ALLOCATE);
  close_window(&other);
  return suite_end("rma_object");
}
