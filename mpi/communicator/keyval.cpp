// Creation and release of attribute keys (MPI 4.0, 7.7.2 to 7.7.4, and 16.1 for MPI-1's names).
#include "mpi/call/binding.hpp"
#include "mpi/call/call.hpp"
#include "mpi/communicator/attribute_arguments.hpp"
#include "mpi_adi/object/attribute.hpp"
#include "mpi_adi/rank/object_tables.hpp"

using namespace margay::mpi;

namespace {

// Keys for communicators, datatypes and windows have functions of one type, because the handles of all these objects
// are ints. Null functions are valid: MPI_COMM_NULL_COPY_FN and its like are null pointers.
int create(Call& call, ObjectType owner, MPI_Comm_copy_attr_function* copy, MPI_Comm_delete_attr_function* delete_value,
           int* keyval, void* extra_state) {
  if (!call.ok()) return call.failed();
  const KeyvalPtr made = call.rank().tables().keyvals.add(
      Keyval{.owner = owner, .copy = copy, .delete_value = delete_value, .extra_state = extra_state});
  if (made == nullptr) {
    call.error(MPI_ERR_OTHER, "too many attribute keys are alive (2^18); free some first");
  } else {
    call.rank().handles().record_origin(made->handle);
    *keyval = made->handle;
  }
  return call.done();
}

// Frees a key. Freeing it again by another copy of its handle is no error, as in MPICH: some libraries free a key that
// one of its own functions, or the deletion of another attribute, has freed.
int free_key(Call& call, ObjectType owner, int* keyval) {
  if (!call.ok()) return call.failed();
  KeyvalTable& keyvals = call.rank().tables().keyvals;
  // Nothing is left to free: only the program's variable changes.
  if (keyvals.was_freed(*keyval) && keyval_owner(*keyval) == owner) {
    *keyval = MPI_KEYVAL_INVALID;
    return call.done();
  }
  // Refuses predefined keys, keys of other types of objects, and handles that were never made.
  const KeyvalPtr found = find_keyval(call, *keyval, owner);
  if (!call.ok()) return call.failed();
  // Objects with a value of the key keep it, and its delete function is still called for them.
  keyvals.free_keyval(*found);
  *keyval = MPI_KEYVAL_INVALID;
  return call.done();
}

}  // namespace

extern "C" int PMPI_Comm_create_keyval(MPI_Comm_copy_attr_function* comm_copy_attr_fn,
                                       MPI_Comm_delete_attr_function* comm_delete_attr_fn, int* comm_keyval,
                                       void* extra_state) {
  Call call(call_name<"MPI_Comm_create_keyval">);
  call.not_null(comm_keyval, "comm_keyval");
  return create(call, ObjectType::communicator, comm_copy_attr_fn, comm_delete_attr_fn, comm_keyval, extra_state);
}
MARGAY_ALIAS(Comm_create_keyval)

extern "C" int PMPI_Keyval_create(MPI_Copy_function* copy_fn, MPI_Delete_function* delete_fn, int* keyval,
                                  void* extra_state) {
  Call call(call_name<"MPI_Keyval_create">);
  call.not_null(keyval, "keyval");
  return create(call, ObjectType::communicator, copy_fn, delete_fn, keyval, extra_state);
}
MARGAY_ALIAS(Keyval_create)

extern "C" int PMPI_Type_create_keyval(MPI_Type_copy_attr_function* type_copy_attr_fn,
                                       MPI_Type_delete_attr_function* type_delete_attr_fn, int* type_keyval,
                                       void* extra_state) {
  Call call(call_name<"MPI_Type_create_keyval">);
  call.not_null(type_keyval, "type_keyval");
  return create(call, ObjectType::datatype, type_copy_attr_fn, type_delete_attr_fn, type_keyval, extra_state);
}
MARGAY_ALIAS(Type_create_keyval)

extern "C" int PMPI_Win_create_keyval(MPI_Win_copy_attr_function* win_copy_attr_fn,
                                      MPI_Win_delete_attr_function* win_delete_attr_fn, int* win_keyval,
                                      void* extra_state) {
  Call call(call_name<"MPI_Win_create_keyval">);
  call.not_null(win_keyval, "win_keyval");
  return create(call, ObjectType::window, win_copy_attr_fn, win_delete_attr_fn, win_keyval, extra_state);
}
MARGAY_ALIAS(Win_create_keyval)

extern "C" int PMPI_Comm_free_keyval(int* comm_keyval) {
  Call call(call_name<"MPI_Comm_free_keyval">);
  call.not_null(comm_keyval, "comm_keyval");
  return free_key(call, ObjectType::communicator, comm_keyval);
}
MARGAY_ALIAS(Comm_free_keyval)

extern "C" int PMPI_Keyval_free(int* keyval) {
  Call call(call_name<"MPI_Keyval_free">);
  call.not_null(keyval, "keyval");
  return free_key(call, ObjectType::communicator, keyval);
}
MARGAY_ALIAS(Keyval_free)

extern "C" int PMPI_Type_free_keyval(int* type_keyval) {
  Call call(call_name<"MPI_Type_free_keyval">);
  call.not_null(type_keyval, "type_keyval");
  return free_key(call, ObjectType::datatype, type_keyval);
}
MARGAY_ALIAS(Type_free_keyval)

extern "C" int PMPI_Win_free_keyval(int* win_keyval) {
  Call call(call_name<"MPI_Win_free_keyval">);
  call.not_null(win_keyval, "win_keyval");
  return free_key(call, ObjectType::window, win_keyval);
}
MARGAY_ALIAS(Win_free_keyval)
