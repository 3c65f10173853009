// The windows of this folder's programs. Part of calls.h, behind the objects from which they are created.
#pragma once

enum { kWindowInts = 64 };
// `win` is in an epoch of MPI_Win_lock_all, and `posted_win` is posted; the others are in no epoch.
static MPI_Win win, posted_win, idle_win, dynamic_win, shared_win, freed_win, never_win = (MPI_Win)0xa0000fff;
static MPI_Errhandler win_handler;
static int window_memory[kWindowInts];

static void win_nothing(MPI_Win* where, int* code, ...) {
  (void)where;
  (void)code;
}

static MPI_Win make_window(void) {
  MPI_Win made;
  MPI_Win_create(window_memory, sizeof window_memory, sizeof(int), MPI_INFO_NULL, comm, &made);
  if (!is_fatal) MPI_Win_set_errhandler(made, MPI_ERRORS_RETURN);
  return made;
}

static void make_windows(void) {
  void* memory;
  for (int i = 0; i < kWindowInts; ++i) window_memory[i] = i + 1;
  MPI_Win_create_errhandler(win_nothing, &win_handler);
  win = make_window();
  posted_win = make_window();
  idle_win = make_window();
  MPI_Win_create_dynamic(MPI_INFO_NULL, comm, &dynamic_win);
  MPI_Win_allocate_shared(64, 4, MPI_INFO_NULL, comm, &memory, &shared_win);
  if (!is_fatal) {
    MPI_Win_set_errhandler(dynamic_win, MPI_ERRORS_RETURN);
    MPI_Win_set_errhandler(shared_win, MPI_ERRORS_RETURN);
  }
  MPI_Win other = make_window();
  freed_win = other;
  MPI_Win_free(&other);
  MPI_Win_lock_all(0, win);
  MPI_Win_post(group, 0, posted_win);
  MPI_Win_set_name(win, "window");
  MPI_Win_set_attr(win, win_key, window_memory);
}

// Their observable state: four numbers, of which the first is 0 initially.
static void look_at_windows(int* seen) {
  char name[MPI_MAX_OBJECT_NAME];
  void* value;
  MPI_Info hints;
  for (int i = 0; i < kWindowInts; ++i) seen[0] = seen[0] * 31 + window_memory[i];
  MPI_Win_get_name(win, name, &seen[1]);
  MPI_Win_get_attr(win, win_key, &value, &seen[2]);
  MPI_Win_get_info(win, &hints);
  MPI_Info_get_nkeys(hints, &seen[3]);
  MPI_Info_free(&hints);
}
