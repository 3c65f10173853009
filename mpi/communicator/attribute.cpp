// Attributes of communicators (MPI 4.0, 7.7.2; the predefined ones: 9.1.2 and 11.10; in several languages: 19.3.7).
#include "mpi/call/binding.hpp"
#include "mpi/call/call.hpp"
#include "mpi/communicator/attribute_arguments.hpp"
#include "mpi_adi/rank/object_tables.hpp"

using namespace margay::mpi;

namespace {

int set(Call& call, MPI_Comm comm, int keyval, AttributeValue value) {
  return set_attribute_of(call, call.communicator(comm), ObjectType::communicator, keyval, value);
}

int get(Call& call, MPI_Comm comm, int keyval, void* value, int* flag, AttributeKind reader) {
  Communicator* communicator = call.communicator(comm);
  call.not_null(value, "attribute_val");
  call.not_null(flag, "flag");
  if (!call.ok()) return call.failed();
  MpiRank& rank = call.rank();
  // Predefined attributes are the same on every communicator.
  if (is_builtin(keyval) && keyval_owner(keyval) == ObjectType::communicator) {
    // MPI_LASTUSEDCODE grows with the program's error codes, so each inquiry passes its value.
    int* const number = rank.tables().inquiries.find(predefined_keyval(keyval), rank.errors().last_used_code());
    return give_number(call, number, reader, value, flag);
  }
  return get_attribute_of(call, communicator, ObjectType::communicator, keyval, value, flag, reader);
}

int remove(Call& call, MPI_Comm comm, int keyval) {
  return delete_attribute_of(call, call.communicator(comm), ObjectType::communicator, keyval);
}

}  // namespace

extern "C" int PMPI_Comm_set_attr(MPI_Comm comm, int comm_keyval, void* attribute_val) {
  Call call(call_name<"MPI_Comm_set_attr">);
  return set(call, comm, comm_keyval, {attribute_val, AttributeKind::address});
}
MARGAY_ALIAS(Comm_set_attr)

extern "C" int PMPI_Attr_put(MPI_Comm comm, int keyval, void* attribute_val) {
  Call call(call_name<"MPI_Attr_put">);
  return set(call, comm, keyval, {attribute_val, AttributeKind::address});
}
MARGAY_ALIAS(Attr_put)

extern "C" int PMPI_Comm_get_attr(MPI_Comm comm, int comm_keyval, void* attribute_val, int* flag) {
  Call call(call_name<"MPI_Comm_get_attr">);
  return get(call, comm, comm_keyval, attribute_val, flag, AttributeKind::address);
}
MARGAY_ALIAS(Comm_get_attr)

// For MPICH's Fortran library. `kind`: the kind of the values of Fortran's MPI_Attr_put and MPI_Attr_get, or of its
// MPI_Comm_set_attr and MPI_Comm_get_attr.
MARGAY_EXPORT int MPII_Comm_set_attr(MPI_Comm comm, int keyval, void* value, AttributeKind kind) {
  Call call(call_name<"MPI_Comm_set_attr">);
  return set(call, comm, keyval, {value, kind});
}

MARGAY_EXPORT int MPII_Comm_get_attr(MPI_Comm comm, int keyval, void* value, int* flag, AttributeKind kind) {
  Call call(call_name<"MPI_Comm_get_attr">);
  return get(call, comm, keyval, value, flag, kind);
}

extern "C" int PMPI_Attr_get(MPI_Comm comm, int keyval, void* attribute_val, int* flag) {
  Call call(call_name<"MPI_Attr_get">);
  return get(call, comm, keyval, attribute_val, flag, AttributeKind::address);
}
MARGAY_ALIAS(Attr_get)

extern "C" int PMPI_Comm_delete_attr(MPI_Comm comm, int comm_keyval) {
  Call call(call_name<"MPI_Comm_delete_attr">);
  return remove(call, comm, comm_keyval);
}
MARGAY_ALIAS(Comm_delete_attr)

extern "C" int PMPI_Attr_delete(MPI_Comm comm, int keyval) {
  Call call(call_name<"MPI_Attr_delete">);
  return remove(call, comm, keyval);
}
MARGAY_ALIAS(Attr_delete)
