// Tests of attributes of communicators and datatypes: keys and their functions, copies at dup, deletion at free and in
// MPI_Finalize, errors of the functions, MPI calls inside them, and the predefined attributes.
// ranks: 1 2
// reference: 1 2
#include "check.h"

// The calls of a key's functions: their number, the last arguments, and the results that they are to return.
typedef struct {
  int copies, deletes, fail_copy, fail_delete, decline;
  void* last_value;
  int last_keyval;
  MPI_Comm last_comm;
} Seen;

static int copy(MPI_Comm comm, int keyval, void* extra, void* in, void* out, int* flag) {
  Seen* seen = extra;
  ++seen->copies;
  seen->last_keyval = keyval;
  seen->last_comm = comm;
  seen->last_value = in;
  if (seen->fail_copy) return seen->fail_copy;
  *flag = !seen->decline;
  if (*flag) *(void**)out = (char*)in + 1;
  return MPI_SUCCESS;
}

static int delete (MPI_Comm comm, int keyval, void* value, void* extra) {
  Seen* seen = extra;
  ++seen->deletes;
  seen->last_keyval = keyval;
  seen->last_comm = comm;
  seen->last_value = value;
  return seen->fail_delete;
}

static int copy_type(MPI_Datatype type, int keyval, void* extra, void* in, void* out, int* flag) {
  return copy(type, keyval, extra, in, out, flag);
}
static int delete_type(MPI_Datatype type, int keyval, void* value, void* extra) {
  return delete (type, keyval, value, extra);
}

static void* value_of(MPI_Comm comm, int key) {
  void* value = NULL;
  int flag = -1;
  MPI_Comm_get_attr(comm, key, &value, &flag);
  return flag ? value : NULL;
}

static void communicators(void) {
  Seen seen = {0}, other = {0};
  int key, second, plain, none, flag = 7;
  char room[4];
  MPI_Comm comm, made;
  void* value = NULL;
  MPI_Comm_create_keyval(copy, delete, &key, &seen);
  MPI_Comm_create_keyval(copy, delete, &second, &other);
  MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, &plain, NULL);
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &none, NULL);
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_get_attr(comm, key, &value, &flag);
  CHECK(flag == 0, "an attribute is there before it was set");
  MPI_Comm_set_attr(comm, key, &room[0]);
  MPI_Comm_set_attr(comm, plain, &room[1]);
  MPI_Comm_set_attr(comm, none, &room[2]);
  CHECK(value_of(comm, key) == &room[0] && value_of(comm, plain) == &room[1], "values are not what was set");
  MPI_Comm_set_attr(comm, key, &room[1]);
  CHECK(seen.deletes == 1 && seen.last_value == &room[0], "setting anew deleted %d", seen.deletes);
  MPI_Comm_dup(comm, &made);
  CHECK(seen.copies == 1 && seen.last_comm == comm && seen.last_keyval == key, "dup copied %d", seen.copies);
  CHECK(value_of(made, key) == &room[2], "the copy's value is not what the function gave");
  CHECK(value_of(made, plain) == &room[1] && value_of(made, none) == NULL, "MPI_COMM_DUP_FN, MPI_COMM_NULL_COPY_FN");
  MPI_Comm_free(&made);
  CHECK(seen.deletes == 2 && seen.last_value == &room[2], "free deleted %d", seen.deletes - 1);
  seen.decline = 1;
  MPI_Comm_dup(comm, &made);
  CHECK(value_of(made, key) == NULL, "flag 0 copied all the same");
  MPI_Comm_free(&made);
  MPI_Comm_split(comm, 0, 0, &made);
  CHECK(seen.copies == 2 && value_of(made, plain) == NULL, "split copied attributes");
  MPI_Comm_free(&made);
  MPI_Comm_delete_attr(comm, key);
  CHECK(seen.deletes == 3 && value_of(comm, key) == NULL, "delete");
  MPI_Comm_free(&comm);
  MPI_Comm_free_keyval(&key);
  CHECK(key == MPI_KEYVAL_INVALID, "a freed key is %x", (unsigned)key);
  MPI_Comm_free_keyval(&second);
  MPI_Comm_free_keyval(&plain);
  MPI_Comm_free_keyval(&none);
  CHECK(other.copies == 0 && other.deletes == 0, "an unused key's functions were called");
}

static void freed_key(void) {
  Seen seen = {0};
  int key, kept;
  char room;
  MPI_Comm comm, made;
  MPI_Comm_create_keyval(copy, delete, &key, &seen);
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_attr(comm, key, &room);
  kept = key;
  MPI_Comm_free_keyval(&key);
  // Its attributes are copied and deleted as before (MPI 4.0, 7.7.2).
  MPI_Comm_dup(comm, &made);
  CHECK(seen.copies == 1 && value_of(made, kept) == &room + 1, "a freed key's attribute was not copied");
  MPI_Comm_delete_attr(made, kept);
  CHECK(seen.deletes == 1, "a freed key's attribute was not deleted");
  MPI_Comm_free(&made);
  MPI_Comm_free(&comm);
  CHECK(seen.deletes == 2, "a freed key's attribute outlived the communicator");
}

// A delete function that frees its key. The test frees the key again after the last attribute is deleted: a copy of the
// handle may be freed again, as in MPICH.
static int frees_its_key(MPI_Comm comm, int key, void* value, void* state) {
  (void)comm, (void)value;
  const int code = MPI_Comm_free_keyval(&key);
  CHECK(code == MPI_SUCCESS && key == MPI_KEYVAL_INVALID, "freed in its delete function: class %d", class_of(code));
  ++*(int*)state;
  return MPI_SUCCESS;
}

static void freed_again(void) {
  int key, deletes = 0;
  MPI_Comm first, second;
  MPI_Comm_create_keyval(MPI_COMM_DUP_FN, frees_its_key, &key, &deletes);
  MPI_Comm_dup(MPI_COMM_WORLD, &first);
  MPI_Comm_set_attr(first, key, NULL);
  MPI_Comm_dup(first, &second);
  MPI_Comm_free(&first);
  int copy = key;
  CHECK(MPI_Comm_free_keyval(&copy) == MPI_SUCCESS && copy == MPI_KEYVAL_INVALID, "freed beside an attribute");
  MPI_Comm_free(&second);
  CHECK(deletes == 2, "%d deletes", deletes);
  copy = key;
  CHECK(MPI_Comm_free_keyval(&copy) == MPI_SUCCESS && copy == MPI_KEYVAL_INVALID, "freed after its attributes");
  if (on_margay())  // MPICH 4.0.2 does not check
    CHECK(class_of(MPI_Type_free_keyval(&key)) == MPI_ERR_KEYVAL, "a communicator's freed key as a type's");
}

// MPI_Comm_idup copies attributes before it returns (MPI 4.0, 7.4.2), and also the topology and the error handler.
static void copied_meanwhile(void) {
  const int size = world_size(), open = 0;
  int key, kind = -1;
  char room;
  MPI_Comm comm, made;
  MPI_Request request;
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, &key, NULL);
  MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &open, 0, &comm);
  MPI_Comm_set_attr(comm, key, &room);
  MPI_Comm_idup(comm, &made, &request);
  MPI_Comm_delete_attr(comm, key);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  CHECK(value_of(made, key) == &room, "idup did not copy an attribute");
  MPI_Topo_test(made, &kind);
  CHECK(kind == MPI_CART, "idup of a grid made %d", kind);
  MPI_Comm_get_errhandler(made, &handler);
  CHECK(handler == MPI_ERRORS_RETURN, "idup's error handler is %x", (unsigned)handler);
  MPI_Comm_free(&made);
  MPI_Comm_free(&comm);
  MPI_Comm_free_keyval(&key);
}

// A freed key accepts no new attribute, although it remains valid while an object has one. MPICH 4.0.2 does not check.
static void freed_key_is_not_set(void) {
  int key, of_types, kept;
  char room;
  MPI_Comm comm;
  MPI_Datatype type;
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &key, NULL);
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_attr(comm, key, &room);
  kept = key;
  MPI_Comm_free_keyval(&key);
  CHECK(class_of(MPI_Comm_set_attr(comm, kept, NULL)) == MPI_ERR_KEYVAL, "set under a freed key");
  CHECK(value_of(comm, kept) == &room, "a refused call changed the attribute");
  MPI_Comm_free(&comm);
  MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, MPI_TYPE_NULL_DELETE_FN, &of_types, NULL);
  MPI_Type_contiguous(2, MPI_INT, &type);
  MPI_Type_set_attr(type, of_types, &room);
  kept = of_types;
  MPI_Type_free_keyval(&of_types);
  CHECK(class_of(MPI_Type_set_attr(type, kept, NULL)) == MPI_ERR_KEYVAL, "set under a type's freed key");
  MPI_Type_free(&type);
}

// A delete function that frees the object that is being freed: the outer call fails.
static int delete_object(MPI_Comm comm, int keyval, void* value, void* extra) {
  int* const depth = extra;
  (void)keyval;
  (void)value;
  if (++*depth == 1) MPI_Comm_free(&comm);
  return MPI_SUCCESS;
}
static int delete_type_object(MPI_Datatype type, int keyval, void* value, void* extra) {
  int* const depth = extra;
  (void)keyval;
  (void)value;
  if (++*depth == 1) MPI_Type_free(&type);
  return MPI_SUCCESS;
}

static void freed_inside(void) {
  int key, of_types, depth = 0;
  MPI_Comm comm;
  MPI_Datatype type;
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, delete_object, &key, &depth);
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_attr(comm, key, NULL);
  CHECK(class_of(MPI_Comm_free(&comm)) == MPI_ERR_COMM && depth == 2, "freed inside, %d calls", depth);
  MPI_Comm_free_keyval(&key);
  depth = 0;
  MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, delete_type_object, &of_types, &depth);
  MPI_Type_contiguous(2, MPI_INT, &type);
  MPI_Type_set_attr(type, of_types, NULL);
  CHECK(class_of(MPI_Type_free(&type)) == MPI_ERR_TYPE && depth == 2, "a type freed inside, %d calls", depth);
  MPI_Type_free_keyval(&of_types);
}

static void failing_functions(void) {
  Seen seen = {0}, first = {0};
  int key, before, class, code;
  char room;
  MPI_Comm comm, made = MPI_COMM_WORLD;
  MPI_Comm_create_keyval(copy, delete, &before, &first);
  MPI_Comm_create_keyval(copy, delete, &key, &seen);
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_attr(comm, before, &room);
  MPI_Comm_set_attr(comm, key, &room);
  seen.fail_copy = MPI_ERR_ARG;
  CHECK(class_of(MPI_Comm_dup(comm, &made)) == MPI_ERR_ARG, "dup hides the copy function's error");
  CHECK(made == MPI_COMM_NULL, "a failed dup gave %x", (unsigned)made);
  if (on_margay()) CHECK(first.deletes == first.copies, "what a failed dup had copied is left");
  // A code of the program is returned unchanged.
  MPI_Add_error_class(&class);
  MPI_Add_error_code(class, &code);
  seen.fail_copy = code;
  CHECK(MPI_Comm_dup(comm, &made) == code, "a code of the program comes back as another");
  seen.fail_delete = MPI_ERR_BUFFER;
  CHECK(class_of(MPI_Comm_delete_attr(comm, key)) == MPI_ERR_BUFFER, "delete hides the error");
  CHECK(value_of(comm, key) == &room, "an attribute is gone that could not be deleted");
  CHECK(class_of(MPI_Comm_set_attr(comm, key, NULL)) == MPI_ERR_BUFFER, "set hides the error");
  CHECK(value_of(comm, key) == &room, "a value that could not be deleted was replaced");
  // This attribute is set last, so it is deleted first: MPICH loses an error unless it is the last attribute's.
  MPI_Comm_delete_attr(comm, before);
  MPI_Comm_set_attr(comm, before, &room);
  CHECK(class_of(MPI_Comm_free(&comm)) == MPI_ERR_BUFFER, "free hides the error");
  CHECK(comm != MPI_COMM_NULL, "a communicator is gone that could not be freed");
  seen.fail_delete = 0;
  MPI_Comm_free(&comm);
  MPI_Comm_free_keyval(&key);
  MPI_Comm_free_keyval(&before);
}

static void datatypes(void) {
  Seen seen = {0};
  int key, flag = 0;
  char room;
  void* value = NULL;
  MPI_Datatype type, made;
  MPI_Type_create_keyval(copy_type, delete_type, &key, &seen);
  MPI_Type_contiguous(3, MPI_INT, &type);
  MPI_Type_set_attr(type, key, &room);
  MPI_Type_dup(type, &made);
  MPI_Type_get_attr(made, key, &value, &flag);
  CHECK(flag && value == &room + 1 && seen.last_comm == type, "the duplicate's attribute");
  MPI_Type_free(&made);
  CHECK(seen.deletes == 1 && seen.last_value == &room + 1, "free of a type deleted %d", seen.deletes);
  MPI_Type_delete_attr(type, key);
  MPI_Type_get_attr(type, key, &value, &flag);
  CHECK(!flag && seen.deletes == 2, "delete of a type's attribute");
  MPI_Type_free(&type);
  MPI_Type_set_attr(MPI_INT, key, &room);
  MPI_Type_get_attr(MPI_INT, key, &value, &flag);
  CHECK(flag && value == &room, "an attribute of MPI_INT");
  MPI_Type_delete_attr(MPI_INT, key);
  MPI_Type_free_keyval(&key);
}

static void predefined(void) {
  const int keys[] = {MPI_TAG_UB, MPI_HOST, MPI_IO, MPI_WTIME_IS_GLOBAL, MPI_LASTUSEDCODE};
  for (unsigned i = 0; i < sizeof keys / sizeof *keys; ++i) {
    int *value = NULL, *again = NULL, flag = 0;
    MPI_Comm_get_attr(MPI_COMM_WORLD, keys[i], &value, &flag);
    CHECK(flag && value != NULL, "predefined attribute %u is not set", i);
    MPI_Attr_get(MPI_COMM_WORLD, keys[i], &again, &flag);
    CHECK(flag && *again == *value, "MPI_Attr_get of predefined attribute %u", i);
  }
  int *upper, *host, *io, *global, flag;
  MPI_Attr_get(MPI_COMM_WORLD, MPI_TAG_UB, &upper, &flag);
  MPI_Attr_get(MPI_COMM_WORLD, MPI_HOST, &host, &flag);
  MPI_Attr_get(MPI_COMM_WORLD, MPI_IO, &io, &flag);
  MPI_Attr_get(MPI_COMM_WORLD, MPI_WTIME_IS_GLOBAL, &global, &flag);
  CHECK(*upper >= 32767 && *host == MPI_PROC_NULL && *io == MPI_ANY_SOURCE, "%d %d %d", *upper, *host, *io);
  // All ranks are on one host, so their clock is global; MPICH does not report it.
  CHECK(*global == (on_margay() ? 1 : 0), "MPI_WTIME_IS_GLOBAL is %d", *global);
  // The highest tag is valid.
  int sent = 5, got = 0;
  MPI_Sendrecv(&sent, 1, MPI_INT, 0, *upper, &got, 1, MPI_INT, 0, *upper, MPI_COMM_SELF, MPI_STATUS_IGNORE);
  CHECK(got == 5, "a message with the highest tag");
}

static void wrong_keys(void) {
  int key = MPI_TAG_UB, flag, for_types;
  void* value;
  MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, MPI_TYPE_NULL_DELETE_FN, &for_types, NULL);
  CHECK(class_of(MPI_Comm_set_attr(MPI_COMM_WORLD, MPI_TAG_UB, NULL)) == MPI_ERR_KEYVAL, "TAG_UB was set");
  CHECK(class_of(MPI_Comm_delete_attr(MPI_COMM_WORLD, MPI_TAG_UB)) == MPI_ERR_KEYVAL, "TAG_UB was deleted");
  CHECK(class_of(MPI_Comm_free_keyval(&key)) == MPI_ERR_KEYVAL && key == MPI_TAG_UB, "TAG_UB was freed");
  CHECK(class_of(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_KEYVAL_INVALID, &value, &flag)) == MPI_ERR_KEYVAL, "invalid");
  CHECK(class_of(MPI_Comm_set_attr(MPI_COMM_WORLD, for_types, NULL)) == MPI_ERR_KEYVAL, "a type's key");
  CHECK(class_of(MPI_Comm_set_attr(MPI_COMM_NULL, for_types, NULL)) == MPI_ERR_COMM, "no communicator");
  MPI_Type_free_keyval(&for_types);
}

// Two ranks exchange messages inside the functions: the library holds no lock during these calls.
static int copy_talking(MPI_Comm comm, int keyval, void* extra, void* in, void* out, int* flag) {
  int one = 1, sum = 0;
  (void)keyval;
  MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
  *(int*)extra += sum;
  *(void**)out = in;
  *flag = 1;
  return MPI_SUCCESS;
}
static int delete_talking(MPI_Comm comm, int keyval, void* value, void* extra) {
  (void)keyval;
  (void)value;
  MPI_Barrier(comm);
  *(int*)extra += 100;
  return MPI_SUCCESS;
}

static void talking(void) {
  int key, said = 0;
  MPI_Comm comm, made;
  MPI_Keyval_create(copy_talking, delete_talking, &key, &said);
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Attr_put(comm, key, NULL);
  MPI_Comm_dup(comm, &made);
  MPI_Comm_free(&made);
  MPI_Attr_delete(comm, key);
  CHECK(said == 200 + world_size(), "functions that call MPI: %d", said);
  MPI_Comm_free(&comm);
  MPI_Keyval_free(&key);
}

// MPI_Finalize deletes MPI_COMM_SELF's attributes in reverse order of their creation, while MPI still works. It
// continues after a function that fails.
static int in_finalize(MPI_Comm comm, int keyval, void* value, void* extra) {
  int finalized = -1, size = 0;
  (void)keyval;
  (void)extra;
  MPI_Finalized(&finalized);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Barrier(MPI_COMM_WORLD);
  if (world_rank() == 0)
    printf("attribute %ld of %s, finalized %d, %d ranks\n", (long)value, comm == MPI_COMM_SELF ? "self" : "another",
           finalized, size);
  return value == (void*)2 ? MPI_ERR_OTHER : MPI_SUCCESS;  // the other attributes are deleted nevertheless
}

int main(int argc, char** argv) {
  suite_begin(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  communicators();
  copied_meanwhile();
  freed_key();
  freed_again();
  if (on_margay()) freed_key_is_not_set();
  if (on_margay()) freed_inside();
  failing_functions();
  datatypes();
  predefined();
  wrong_keys();
  talking();
  for (long i = 1; i <= 3; ++i) {
    int key;
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, in_finalize, &key, NULL);
    MPI_Comm_set_attr(MPI_COMM_SELF, key, (void*)i);
    MPI_Comm_free_keyval(&key);
  }
  return suite_end("attributes");
}
