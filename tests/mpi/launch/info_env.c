// A program that prints MPI_INFO_ENV and MPI_APPNUM, one line for each rank, with the pairs in a fixed order.
// MPI_Info_create_env gives the same before MPI_Init, between, and after MPI_Finalize ("foreign": under another
// launcher, where maxprocs is unknown before).
#include <mpi.h>
#include <stdio.h>
#include <string.h>

enum { kTextMax = 6 * (MPI_MAX_INFO_VAL + 20) };

// " key=value" for each existing key, except `without`.
static void list_pairs(MPI_Info info, const char* without, char* text) {
  const char* const keys[] = {"command", "argv", "maxprocs", "wdir", "soft", "file"};
  text[0] = '\0';
  for (size_t i = 0; i < sizeof keys / sizeof keys[0]; ++i) {
    char value[MPI_MAX_INFO_VAL + 1];
    int flag = 0;
    if (strcmp(keys[i], without) != 0) MPI_Info_get(info, keys[i], MPI_MAX_INFO_VAL, value, &flag);
    if (flag) sprintf(text + strlen(text), " %s=%s", keys[i], value);
  }
}

static void list_created(int argc, char** argv, const char* without, char* text) {
  MPI_Info info;
  MPI_Info_create_env(argc, argv, &info);
  list_pairs(info, without, text);
  MPI_Info_free(&info);
}

int main(int argc, char** argv) {
  static char before[kTextMax], during[kTextMax], after[kTextMax], global[kTextMax];
  const char* const without = argc > 1 && strcmp(argv[1], "foreign") == 0 ? "maxprocs" : "";
  int rank = -1, flag = 0, *program = NULL;
  list_created(argc, argv, without, before);
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_APPNUM, &program, &flag);
  list_pairs(MPI_INFO_ENV, "", global);
  list_created(argc, argv, without, during);
  printf("rank %d program %d%s\n", rank, flag ? *program : -1, global);
  MPI_Finalize();
  list_created(argc, argv, without, after);
  if (strcmp(before, during) != 0 || strcmp(during, after) != 0)
    printf("rank %d:%s, then%s, then%s\n", rank, before, during, after);
  return 0;
}
