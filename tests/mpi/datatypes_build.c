// Tests of every datatype constructor: sizes, bounds, true bounds, envelope and contents, names, types by size, and
// invalid arguments. The program prints the numbers, so every MPI must compute the same ones.
// ranks: 1
#include "check.h"

static void print_type(const char* what, MPI_Datatype type) {
  MPI_Aint lower, extent, true_lower, true_extent, old_lower, old_upper, old_extent;
  MPI_Count lower_x, extent_x, size_x;
  int size, integers, addresses, types, combiner;
  MPI_Type_size(type, &size);
  MPI_Type_size_x(type, &size_x);
  MPI_Type_get_extent(type, &lower, &extent);
  MPI_Type_get_true_extent(type, &true_lower, &true_extent);
  MPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner);
  printf("%s: %d bytes, from %ld, extent %ld, truly from %ld, %ld; combiner %d of %d %d %d\n", what, size, (long)lower,
         (long)extent, (long)true_lower, (long)true_extent, combiner, integers, addresses, types);
  CHECK(size_x == size, "%s: size_x %lld", what, (long long)size_x);
  MPI_Type_get_extent_x(type, &lower_x, &extent_x);
  CHECK(lower_x == lower && extent_x == extent, "%s: extent_x", what);
  MPI_Type_get_true_extent_x(type, &lower_x, &extent_x);
  CHECK(lower_x == true_lower && extent_x == true_extent, "%s: true_extent_x", what);
  MPI_Type_lb(type, &old_lower);
  MPI_Type_ub(type, &old_upper);
  MPI_Type_extent(type, &old_extent);
  CHECK(old_lower == lower && old_upper == lower + extent && old_extent == extent, "%s: the bounds of MPI-1", what);
  if (combiner == MPI_COMBINER_NAMED) return;
  int numbers[64];
  MPI_Aint places[64];
  MPI_Datatype parts[64];
  MPI_Type_get_contents(type, 64, 64, 64, numbers, places, parts);
  printf(" ");
  for (int i = 0; i < integers; ++i) printf(" %d", numbers[i]);
  for (int i = 0; i < addresses; ++i) printf(" @%ld", (long)places[i]);
  for (int i = 0; i < types; ++i) {
    int part_integers, part_addresses, part_types, part_combiner, part_size;
    MPI_Type_get_envelope(parts[i], &part_integers, &part_addresses, &part_types, &part_combiner);
    MPI_Type_size(parts[i], &part_size);
    printf(" type(%d, %d)", part_combiner, part_size);
    if (part_combiner != MPI_COMBINER_NAMED) MPI_Type_free(&parts[i]);
  }
  printf("\n");
}

static MPI_Datatype printed(const char* what, MPI_Datatype type) {
  print_type(what, type);
  return type;
}

static void constructors(void) {
  MPI_Datatype made[32];
  int n = 0;
  const int lengths[3] = {2, 0, 1}, places[3] = {4, 100, -3}, ones[3] = {1, 1, 1};
  const MPI_Aint bytes[3] = {16, -400, -24};
  MPI_Type_contiguous(5, MPI_SHORT, &made[n]), printed("contiguous", made[n++]);
  MPI_Type_vector(3, 2, -5, MPI_INT, &made[n]), printed("vector backwards", made[n++]);
  MPI_Type_vector(0, 2, 5, MPI_INT, &made[n]), printed("no vector", made[n++]);
  MPI_Type_create_hvector(3, 2, 7, MPI_INT, &made[n]), printed("hvector", made[n++]);
  MPI_Type_hvector(3, 2, 21, MPI_CHAR, &made[n]), printed("hvector of MPI-1", made[n++]);
  MPI_Type_indexed(3, lengths, places, MPI_DOUBLE, &made[n]), printed("indexed", made[n++]);
  MPI_Type_create_hindexed(3, lengths, bytes, MPI_DOUBLE, &made[n]), printed("hindexed", made[n++]);
  MPI_Type_hindexed(3, (int*)lengths, (MPI_Aint*)bytes, MPI_INT, &made[n]), printed("hindexed of MPI-1", made[n++]);
  MPI_Type_create_indexed_block(3, 2, places, made[1], &made[n]), printed("indexed block", made[n++]);
  MPI_Type_create_hindexed_block(3, 2, bytes, MPI_FLOAT, &made[n]), printed("hindexed block", made[n++]);
  {
    const MPI_Datatype types[3] = {MPI_INT, MPI_DOUBLE, MPI_CHAR};
    const MPI_Aint at[3] = {0, 64, 9};
    MPI_Type_create_struct(3, lengths, at, types, &made[n]), printed("struct", made[n++]);
    MPI_Type_create_struct(3, ones, at, types, &made[n]), printed("padded struct", made[n++]);
    MPI_Type_struct(2, (int*)ones, (MPI_Aint*)at, (MPI_Datatype*)types, &made[n]),
        printed("struct of MPI-1", made[n++]);
  }
  MPI_Type_create_resized(made[1], -8, 100, &made[n]), printed("resized", made[n++]);
  MPI_Type_contiguous(3, made[n - 1], &made[n]), printed("contiguous of resized", made[n]), ++n;
  MPI_Type_dup(made[n - 2], &made[n]), printed("dup", made[n]), ++n;
  {
    const int sizes[3] = {4, 6, 5}, parts[3] = {2, 3, 5}, starts[3] = {1, 2, 0};
    MPI_Type_create_subarray(3, sizes, parts, starts, MPI_ORDER_C, MPI_INT, &made[n]), printed("subarray", made[n++]);
    MPI_Type_create_subarray(3, sizes, parts, starts, MPI_ORDER_FORTRAN, MPI_INT, &made[n]);
    printed("subarray of Fortran", made[n++]);
  }
  {
    const int sizes[2] = {7, 5}, ways[2] = {MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_BLOCK};
    const int arguments[2] = {2, MPI_DISTRIBUTE_DFLT_DARG}, grid[2] = {2, 3};
    for (int rank = 0; rank < 6; rank += 5) {
      MPI_Type_create_darray(6, rank, 2, sizes, ways, arguments, grid, MPI_ORDER_C, MPI_INT, &made[n]);
      printed("darray", made[n++]);
    }
  }
  // A component may be freed before the type built from it.
  for (int i = 0; i < n - 1; ++i) MPI_Type_free(&made[i]);
  print_type("the last one", made[n - 1]);
  MPI_Type_free(&made[n - 1]);
  print_type("MPI_DOUBLE", MPI_DOUBLE);
  print_type("MPI_DOUBLE_INT", MPI_DOUBLE_INT);
  print_type("MPI_2INT", MPI_2INT);
}

// A subarray without elements is a type of size 0 with the array's extent.
static void empty_part(void) {
  const int sizes[] = {4, 4}, parts[] = {0, 2}, starts[] = {4, 0};
  int bytes = -1, before = 7;
  MPI_Datatype type;
  MPI_Status status;
  MPI_Type_create_subarray(2, sizes, parts, starts, MPI_ORDER_C, MPI_INT, &type);
  print_type("an empty part", type);
  MPI_Type_commit(&type);
  MPI_Sendrecv(&before, 1, type, 0, 0, &bytes, 1, type, 0, 0, MPI_COMM_SELF, &status);
  CHECK(bytes == -1, "an empty part brought something");
  MPI_Type_free(&type);
}

static void names(void) {
  MPI_Datatype type;
  char name[MPI_MAX_OBJECT_NAME];
  int length = -1;
  const MPI_Datatype some[5] = {MPI_INT, MPI_LONG_LONG, MPI_C_COMPLEX, MPI_SHORT_INT, MPI_PACKED};
  for (int i = 0; i < 5; ++i) {
    MPI_Type_get_name(some[i], name, &length);
    printf("%s %d\n", name, length);
  }
  // MPICH rejects the null handle, which the standard gives a name.
  if (on_margay()) MPI_Type_get_name(MPI_DATATYPE_NULL, name, &length);
  CHECK(!on_margay() || strcmp(name, "MPI_DATATYPE_NULL") == 0, "the null handle is called %s", name);
  MPI_Type_contiguous(2, MPI_INT, &type);
  MPI_Type_get_name(type, name, &length);
  CHECK(length == 0 && name[0] == 0, "a new type is called %s", name);
  MPI_Type_set_name(type, "two ints");
  MPI_Type_get_name(type, name, &length);
  CHECK(length == 8 && strcmp(name, "two ints") == 0, "the name is %s, %d", name, length);
  char long_name[2 * MPI_MAX_OBJECT_NAME];
  memset(long_name, 'n', sizeof long_name);
  long_name[sizeof long_name - 1] = 0;
  MPI_Type_set_name(type, long_name);
  MPI_Type_get_name(type, name, &length);
  CHECK(length == MPI_MAX_OBJECT_NAME - 1 && strlen(name) == (size_t)length, "a long name has %d", length);
  int number = -1;
  MPI_Aint place;
  MPI_Datatype part = MPI_DATATYPE_NULL;
  MPI_Type_get_contents(type, 1, 0, 1, &number, &place, &part);
  CHECK(part == MPI_INT, "a predefined part has the handle %x", (unsigned)part);
  // MPI_Pack_size is valid before the type is committed; MPICH rejects it.
  int bytes = -1;
  if (on_margay()) MPI_Pack_size(3, type, MPI_COMM_WORLD, &bytes);
  CHECK(bytes == 3 * 2 * (int)sizeof(int) || !on_margay(), "three take %d bytes", bytes);
  // Values that an int cannot hold (MPI 4.0, section 5.2); MPICH wraps around.
  MPI_Datatype huge;
  MPI_Type_contiguous(1 << 30, MPI_INT, &huge);
  if (on_margay()) MPI_Pack_size(1, huge, MPI_COMM_WORLD, &bytes);
  CHECK(bytes == MPI_UNDEFINED || !on_margay(), "4 GiB take %d bytes", bytes);
  MPI_Type_free(&huge);
  MPI_Type_free(&type);
}

static void by_size(void) {
  const int classes[3] = {MPI_TYPECLASS_REAL, MPI_TYPECLASS_INTEGER, MPI_TYPECLASS_COMPLEX};
  const int sizes[3] = {4, 2, 16};
  MPI_Datatype type, again;
  for (int i = 0; i < 3; ++i) {
    MPI_Type_match_size(classes[i], sizes[i], &type);
    printf("class %d of %d bytes: %08x\n", classes[i], sizes[i], (unsigned)type);
  }
  MPI_Type_create_f90_real(6, 30, &type), print_type("real of 6 digits", type);
  MPI_Type_create_f90_real(6, 30, &again);
  CHECK(type == again, "two handles for one kind");
  MPI_Type_create_f90_real(14, MPI_UNDEFINED, &type), print_type("real of 14 digits", type);
  MPI_Type_create_f90_complex(14, 100, &type), print_type("complex", type);
  MPI_Type_create_f90_integer(15, &type), print_type("integer", type);
}

// Types for Fortran's kinds have no name: the error names the call that created them.
static void free_kinds(void) {
  MPI_Datatype type;
  char text[MPI_MAX_ERROR_STRING], handle[20];
  int length = 0;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Type_create_f90_complex(14, 100, &type);
  snprintf(handle, sizeof handle, "0x%08x", (unsigned)type);
  const int code = MPI_Type_free(&type);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
  CHECK(class_of(code) == MPI_ERR_TYPE, "a type for a Fortran kind is freed: class %d", class_of(code));
  MPI_Error_string(code, text, &length);
  if (on_margay())
    CHECK(strstr(text, "MPI_Type_create_f90_complex") != NULL && strstr(text, handle) != NULL, "\"%s\"", text);
}

static void refused(void) {
  MPI_Datatype type = MPI_INT, none = MPI_DATATYPE_NULL;
  const int minus = -1, one = 1, two = 2, zero = 0;
  const MPI_Aint at = 0;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
#define REFUSED(call, class)                                               \
  do {                                                                     \
    const int code = call;                                                 \
    CHECK(class_of(code) == class, "%s: class %d", #call, class_of(code)); \
  } while (0)
  REFUSED(MPI_Type_contiguous(-1, MPI_INT, &type), MPI_ERR_COUNT);
  REFUSED(MPI_Type_contiguous(1, none, &type), MPI_ERR_TYPE);
  REFUSED(MPI_Type_vector(1, 1, 1, none, &type), MPI_ERR_TYPE);
  REFUSED(MPI_Type_create_hindexed(1, &minus, &at, MPI_INT, &type), MPI_ERR_COUNT);
  REFUSED(MPI_Type_create_struct(1, &one, &at, &none, &type), MPI_ERR_TYPE);
  const int seven = 7, three = 3, by_blocks = MPI_DISTRIBUTE_BLOCK, not_dealt = MPI_DISTRIBUTE_NONE;
  const int usual = MPI_DISTRIBUTE_DFLT_DARG;
  REFUSED(MPI_Type_create_darray(2, 0, 1, &seven, &by_blocks, &three, &two, MPI_ORDER_C, MPI_INT, &type), MPI_ERR_ARG);
  // MPICH creates these.
  if (on_margay()) {
    REFUSED(MPI_Type_create_darray(2, 0, 1, &seven, &not_dealt, &usual, &two, MPI_ORDER_C, MPI_INT, &type),
            MPI_ERR_ARG);
    REFUSED(MPI_Type_create_f90_real(MPI_UNDEFINED, MPI_UNDEFINED, &type), MPI_ERR_ARG);
    MPI_Datatype kind = MPI_DATATYPE_NULL;
    MPI_Type_create_f90_integer(5, &kind);
    REFUSED(MPI_Type_free(&kind), MPI_ERR_TYPE);  // the library's own
    REFUSED(MPI_Type_create_subarray(1, &one, &two, &zero, MPI_ORDER_C, MPI_INT, &type), MPI_ERR_ARG);
    REFUSED(MPI_Type_create_subarray(1, &two, &one, &two, MPI_ORDER_C, MPI_INT, &type), MPI_ERR_ARG);
  }
  REFUSED(MPI_Type_create_subarray(1, &two, &one, &zero, 5, MPI_INT, &type), MPI_ERR_ARG);
  REFUSED(MPI_Type_match_size(MPI_TYPECLASS_INTEGER, 3, &type), MPI_ERR_ARG);
  REFUSED(MPI_Type_free(&none), MPI_ERR_TYPE);
  // MPICH leaves the null handle unchanged.
  CHECK(type == MPI_INT || !on_margay(), "a refused call made a type");
  type = MPI_INT;
  REFUSED(MPI_Type_free(&type), MPI_ERR_TYPE);
  MPI_Type_contiguous(2, MPI_INT, &type);
  int number;
  MPI_Datatype part;
  MPI_Aint place;
  // MPICH does not check a message to MPI_PROC_NULL, and returns another class for too little room.
  if (on_margay()) {
    REFUSED(MPI_Send(NULL, 0, type, MPI_PROC_NULL, 0, MPI_COMM_WORLD), MPI_ERR_TYPE);
    REFUSED(MPI_Type_get_contents(type, 0, 0, 1, &number, &place, &part), MPI_ERR_ARG);
  }
  REFUSED(MPI_Type_get_contents(MPI_INT, 1, 1, 1, &number, &place, &part), MPI_ERR_TYPE);
  MPI_Type_free(&type);
}

int main(int argc, char** argv) {
  suite_begin(&argc, &argv);
  constructors();
  empty_part();
  names();
  by_size();
  if (on_margay()) free_kinds();  // MPICH 4.0.2 frees them, and asserts at the end
  refused();
  MPI_Aint here = 0, there = 0;
  int pair[2];
  MPI_Get_address(&pair[0], &here);
  MPI_Address(&pair[1], &there);
  CHECK(MPI_Aint_diff(there, here) == sizeof(int), "addresses %ld apart", (long)MPI_Aint_diff(there, here));
  CHECK(MPI_Aint_add(here, sizeof(int)) == there, "the sum of an address");
  return suite_end("datatypes_build");
}
