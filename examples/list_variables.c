/* Lists the variables of an MPI library (MPI_T): each control variable with its value, each performance variable with
   its class, and their descriptions. Plain MPI. With a name as argument, only variables whose name contains it.

       mpicc -o list_variables examples/list_variables.c
       ./list_variables heap                                                                                          */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kNameBytes = 256, kTextBytes = 1024 };

static const char* class_name(int class) {
  switch (class) {
    case MPI_T_PVAR_CLASS_STATE:
      return "state";
    case MPI_T_PVAR_CLASS_LEVEL:
      return "level";
    case MPI_T_PVAR_CLASS_SIZE:
      return "size";
    case MPI_T_PVAR_CLASS_PERCENTAGE:
      return "percentage";
    case MPI_T_PVAR_CLASS_HIGHWATERMARK:
      return "high watermark";
    case MPI_T_PVAR_CLASS_LOWWATERMARK:
      return "low watermark";
    case MPI_T_PVAR_CLASS_COUNTER:
      return "counter";
    case MPI_T_PVAR_CLASS_AGGREGATE:
      return "aggregate";
    case MPI_T_PVAR_CLASS_TIMER:
      return "timer";
    default:
      return "generic";
  }
}

/* The name of an enumeration's value. */
static void enum_text(MPI_T_enum type, int value, char* out, int bytes) {
  int items = 0, kind_bytes = 0;
  MPI_T_enum_get_info(type, &items, NULL, &kind_bytes);
  for (int i = 0; i < items; ++i) {
    int this_value = 0, name_bytes = bytes;
    MPI_T_enum_get_item(type, i, &this_value, out, &name_bytes);
    if (this_value == value) return;
  }
  snprintf(out, (size_t)bytes, "%d", value);
}

/* A control variable's value as text: its first element, or the whole string. */
static void value_text(int index, MPI_Datatype type, MPI_T_enum items, char* out, int bytes) {
  MPI_T_cvar_handle handle;
  int count = 0;
  out[0] = '\0';
  if (MPI_T_cvar_handle_alloc(index, NULL, &handle, &count) != MPI_SUCCESS) return;
  void* value = calloc((size_t)count + 1, sizeof(double));
  if (value != NULL && MPI_T_cvar_read(handle, value) == MPI_SUCCESS) {
    if (type == MPI_CHAR) snprintf(out, (size_t)bytes, "\"%.*s\"", count, (char*)value);
    if (type == MPI_DOUBLE) snprintf(out, (size_t)bytes, "%g", *(double*)value);
    if (type == MPI_UNSIGNED_LONG_LONG) snprintf(out, (size_t)bytes, "%llu", *(unsigned long long*)value);
    if (type == MPI_INT && items == MPI_T_ENUM_NULL) snprintf(out, (size_t)bytes, "%d", *(int*)value);
    if (type == MPI_INT && items != MPI_T_ENUM_NULL) enum_text(items, *(int*)value, out, bytes);
  }
  free(value);
  MPI_T_cvar_handle_free(&handle);
}

static void list_controls(const char* wanted) {
  int number = 0;
  MPI_T_cvar_get_num(&number);
  for (int i = 0; i < number; ++i) {
    char name[kNameBytes], text[kTextBytes], value[kNameBytes];
    int name_bytes = kNameBytes, text_bytes = kTextBytes, verbosity, bind, scope;
    MPI_Datatype type;
    MPI_T_enum items;
    if (MPI_T_cvar_get_info(i, name, &name_bytes, &verbosity, &type, &items, text, &text_bytes, &bind, &scope) !=
        MPI_SUCCESS)
      continue;
    if (strstr(name, wanted) == NULL) continue;
    value_text(i, type, items, value, kNameBytes);
    printf("control      %-34s %-15s %s  %s\n", name, value, scope <= MPI_T_SCOPE_READONLY ? "constant" : "writable",
           text);
  }
}

static void list_performances(const char* wanted) {
  int number = 0;
  MPI_T_pvar_get_num(&number);
  for (int i = 0; i < number; ++i) {
    char name[kNameBytes], text[kTextBytes];
    int name_bytes = kNameBytes, text_bytes = kTextBytes, verbosity, class, bind, readonly, continuous, atomic;
    MPI_Datatype type;
    MPI_T_enum items;
    if (MPI_T_pvar_get_info(i, name, &name_bytes, &verbosity, &class, &type, &items, text, &text_bytes, &bind,
                            &readonly, &continuous, &atomic) != MPI_SUCCESS)
      continue;
    if (strstr(name, wanted) == NULL) continue;
    printf("performance  %-34s %-15s %s  %s\n", name, class_name(class),
           bind == MPI_T_BIND_MPI_COMM ? "of a communicator" : "of the process", text);
  }
}

int main(int argc, char** argv) {
  const char* wanted = argc > 1 ? argv[1] : "";
  int provided = 0;
  MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
  MPI_Init(&argc, &argv);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) {
    list_controls(wanted);
    list_performances(wanted);
  }
  MPI_Finalize();
  MPI_T_finalize();
  return 0;
}
