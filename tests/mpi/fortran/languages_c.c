// The C part of languages.F90: sets and reads attributes as a C program does, and creates keys with C functions.
#include <mpi.h>
#include <stddef.h>

enum { kComm, kType, kWin };

// The last arguments of a key's functions: the address, and the number there.
static struct {
  MPI_Aint address, word;
  int copies, deletes;
} seen;

static void see(void* value, int integral) {
  seen.address = (MPI_Aint)value;
  seen.word = integral == 0 ? 0 : integral == 1 ? *(int*)value : *(MPI_Aint*)value;
}

// The extra state is the kind of the attribute: 0 an address, 1 an INTEGER, 2 an INTEGER(MPI_ADDRESS_KIND).
static int copy(int handle, int key, void* extra, void* in, void* out, int* flag) {
  (void)handle, (void)key;
  ++seen.copies;
  see(in, *(int*)extra);
  *(void**)out = in;
  *flag = 1;
  return MPI_SUCCESS;
}
static int delete_value(int handle, int key, void* value, void* extra) {
  (void)handle, (void)key;
  ++seen.deletes;
  see(value, *(int*)extra);
  return MPI_SUCCESS;
}

void c_create_key_(MPI_Fint* of, MPI_Fint* key, MPI_Fint* integral);
void c_set_(MPI_Fint* of, MPI_Fint* handle, MPI_Fint* key, MPI_Aint* value);
void c_get_(MPI_Fint* of, MPI_Fint* handle, MPI_Fint* key, MPI_Fint* integral, MPI_Fint* flag, MPI_Aint* value);
void c_seen_(MPI_Fint* copies, MPI_Fint* deletes, MPI_Aint* word);
void c_on_margay_(MPI_Fint* is);

// The address of *integral is the extra state.
void c_create_key_(MPI_Fint* of, MPI_Fint* key, MPI_Fint* integral) {
  if (*of == kComm) MPI_Comm_create_keyval(copy, delete_value, key, integral);
  if (*of == kType) MPI_Type_create_keyval(copy, delete_value, key, integral);
  if (*of == kWin) MPI_Win_create_keyval(copy, delete_value, key, integral);
}

void c_set_(MPI_Fint* of, MPI_Fint* handle, MPI_Fint* key, MPI_Aint* value) {
  if (*of == kComm) MPI_Comm_set_attr(MPI_Comm_f2c(*handle), *key, (void*)*value);
  if (*of == kType) MPI_Type_set_attr(MPI_Type_f2c(*handle), *key, (void*)*value);
  if (*of == kWin) MPI_Win_set_attr(MPI_Win_f2c(*handle), *key, (void*)*value);
}

// The address that C gets; or the number there, as an int (integral 1) or as an MPI_Aint (2).
void c_get_(MPI_Fint* of, MPI_Fint* handle, MPI_Fint* key, MPI_Fint* integral, MPI_Fint* flag, MPI_Aint* value) {
  void* got = NULL;
  if (*of == kComm) MPI_Comm_get_attr(MPI_Comm_f2c(*handle), *key, &got, flag);
  if (*of == kType) MPI_Type_get_attr(MPI_Type_f2c(*handle), *key, &got, flag);
  if (*of == kWin) MPI_Win_get_attr(MPI_Win_f2c(*handle), *key, &got, flag);
  *value = (MPI_Aint)got;
  if (*flag && *integral == 1) *value = *(int*)got;
  if (*flag && *integral == 2) *value = *(MPI_Aint*)got;
}

void c_seen_(MPI_Fint* copies, MPI_Fint* deletes, MPI_Aint* word) {
  *copies = seen.copies;
  *deletes = seen.deletes;
  *word = seen.word;
}

void c_on_margay_(MPI_Fint* is) {
  char text[MPI_MAX_LIBRARY_VERSION_STRING];
  int length = 0;
  MPI_Get_library_version(text, &length);
  *is = 0;
  for (int i = 0; i + 6 <= length; ++i)
    *is |= text[i] == 'm' && text[i + 1] == 'a' && text[i + 2] == 'r' && text[i + 3] == 'g';
}
